"""Assertions in the region of a structured op that becomes loops: each stores its code in the status word when it fails.

Loads behind an assertion are guarded by it, so that a failed one neither ends the process nor reads out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable

from hotdesk._bindings import ir
from hotdesk.ir.building import constant, create
from hotdesk.ir.walking import nested_ops


def has_checks(op: ir.Operation) -> bool:
    """Whether there are assertions in the regions of an op."""
    return any(nested.name == "cf.assert" for nested in nested_ops(op))


def replace_checks(op: ir.Operation, status: ir.Value, assertion_code: Callable[[ir.Operation], int]) -> None:
    """Replaces the `cf.assert` in the regions of an op, and guards the loads behind each."""
    for region in op.regions:
        for block in region.blocks:
            _replace_in(block, None, status, assertion_code)


def _replace_in(
    block: ir.Block, holds: ir.Value | None, status: ir.Value, assertion_code: Callable[[ir.Operation], int]
) -> None:
    """Those of a block, whose loads are guarded by `holds` as well; what one branch has asserted guards no other."""
    for each in list(block.operations):
        nested = each.operation
        if nested.name == "cf.assert":
            condition = nested.operands[0]
            _store_unless(condition, status, assertion_code(nested), nested)
            holds = (
                condition
                if holds is None
                else create("arith.andi", [holds, condition], [condition.type], before=nested).results[0]
            )
            nested.erase()
        elif nested.name == "memref.load" and holds is not None:
            _guard(nested, holds)
        else:
            for region in nested.regions:
                for inner in region.blocks:
                    _replace_in(inner, holds, status, assertion_code)


def _store_unless(condition: ir.Value, status: ir.Value, code: int, before: ir.Operation) -> None:
    i1, i32 = condition.type, ir.IntegerType.get_signless(32)
    true = constant(1, i1, before)
    fails = create("arith.xori", [condition, true], [i1], before=before).results[0]
    branch = create("scf.if", [fails], [], regions=2, before=before)
    block = branch.regions[0].blocks.append()
    with ir.InsertionPoint(block), before.location:
        number = ir.Operation.create(
            "arith.constant", results=[i32], attributes={"value": ir.IntegerAttr.get(i32, code)}
        )
        ir.Operation.create("memref.store", operands=[number.results[0], status])
        ir.Operation.create("scf.yield")


def _guard(load: ir.Operation, holds: ir.Value) -> None:
    element = load.results[0].type
    branch = create("scf.if", [holds], [element], regions=2, before=load)
    load.results[0].replace_all_uses_with(branch.results[0])
    then = branch.regions[0].blocks.append()
    with ir.InsertionPoint(then), load.location:
        ir.Operation.create("scf.yield", operands=[load.results[0]])
    load.move_before(then.operations[0].operation)
    otherwise = branch.regions[1].blocks.append()
    with ir.InsertionPoint(otherwise), load.location:
        number = _zero(element)
        ir.Operation.create("scf.yield", operands=[number.results[0]])


def _zero(element: ir.Type) -> ir.Operation:
    """The constant 0 at the insertion point."""
    if isinstance(element, ir.ComplexType):
        part = ir.FloatAttr.get(element.element_type, 0.0)
        return ir.Operation.create(
            "complex.constant", results=[element], attributes={"value": ir.ArrayAttr.get([part, part])}
        ).operation
    zero = ir.FloatAttr.get(element, 0.0) if _is_float(element) else ir.IntegerAttr.get(element, 0)
    return ir.Operation.create("arith.constant", results=[element], attributes={"value": zero}).operation


def _is_float(element: ir.Type) -> bool:
    return str(element).startswith(("f", "bf"))
