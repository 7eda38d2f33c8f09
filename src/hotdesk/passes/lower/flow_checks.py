"""Checks in functions with control flow: where one fails, its code goes to the status word, and the function is left.

    cf.assert %holds, "…"    ->    cf.cond_br %holds, ^rest, ^failed
                                   ^failed: memref.store %code, %status; return zeros

Behind a call that may have failed, an assertion that the status word is still 0 does the same without a code of its own. Where
something was kept, all ways out behind it meet in one block that copies it back (`hotdesk-roll-back-writes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, constant, create
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import nested_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.func import CALL

_TOLD = "hotdesk.told"
"""Marks an assertion whose failure the status word tells already."""
UNDO = "hotdesk.undo"
"""Marks a call that is to be made on ways out alone, and the assertions behind it, whose ways out these are."""


def leave_where_failed(status: ir.Value, before: ir.Operation) -> None:
    """Asserts that no check has failed yet."""
    i32 = ir.IntegerType.get_signless(32)
    found = create("memref.load", [status], [i32], before=before).results[0]
    holds = compared("eq", found, constant(0, i32, before), before)
    told: dict[str, ir.Attribute] = {"msg": ir.StringAttr.get(""), _TOLD: ir.UnitAttr.get()}
    create(ASSERT, [holds], [], told, before=before)


def mark_undone(function: ir.Operation) -> None:
    """Marks the assertions behind the calls that are to be made where one fails; these stand in the first block."""
    first, *others = function.regions[0].blocks
    behind = False
    for op in [view.operation for view in first.operations]:
        if UNDO in op.attributes:
            behind = True
        elif behind:
            _mark(op)
    for op in [view.operation for block in others for view in block.operations] if behind else ():
        _mark(op)


def _mark(op: ir.Operation) -> None:
    for each in (op, *nested_ops(op)):
        if each.name == ASSERT:
            each.attributes[UNDO] = ir.UnitAttr.get()


def settle_assertions(function: ir.Operation, status: ir.Value, code_of: Callable[[ir.Operation], int]) -> None:
    """Has the assertions of a function, which has no structured control flow any more, leave it where they fail."""
    undo = [each for each in nested_ops(function) if each.name == CALL and UNDO in each.attributes]
    blocks = list(function.regions[0].blocks)
    undone = _leaving(function, function.location, undo) if undo else None
    for block in blocks:
        _settle(function, block, status, code_of, undone)
    for each in undo:
        each.erase()


def _settle(
    function: ir.Operation,
    block: ir.Block,
    status: ir.Value,
    code_of: Callable[[ir.Operation], int],
    undone: ir.Block | None,
) -> None:
    rest: list[ir.Operation] = []
    for op in reversed([op.operation for op in block.operations]):
        if op.name != ASSERT:
            rest.append(op)
            continue
        code = None if _TOLD in op.attributes else code_of(op)
        goes_to = undone if UNDO in op.attributes else None
        holds = block.create_after()
        failed = _failing(function, op.location, status, code, goes_to)
        for each in reversed(rest):
            holds.append(each)
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0])}
        branch = create("cf.cond_br", list(op.operands), [], segments, before=op, successors=[holds, failed])
        op.erase()
        rest = [branch]


def _failing(
    function: ir.Operation, location: ir.Location, status: ir.Value, code: int | None, undone: ir.Block | None
) -> ir.Block:
    """A block for an assertion that fails: it stores the code, if there is one, and goes to `undone`, or leaves the function."""
    if code is None and undone is not None:
        return undone
    block = _leaving(function, location) if undone is None else function.regions[0].blocks.append()
    if undone is not None:
        with ir.InsertionPoint(block), location:
            ir.Operation.create("cf.br", successors=[undone])
    if code is not None:
        with ir.InsertionPoint.at_block_begin(block), location:
            number = _constant(ir.IntegerType.get_signless(32), code)
            ir.Operation.create("memref.store", operands=[number, status])
    return block


def _leaving(function: ir.Operation, location: ir.Location, undo: Sequence[ir.Operation] = ()) -> ir.Block:
    """A block that makes the calls that undo, and returns what nobody reads."""
    block = function.regions[0].blocks.append()
    with ir.InsertionPoint(block), location:
        for each in undo:
            callee = {"callee": each.attributes["callee"]}
            ir.Operation.create(CALL, operands=list(each.operands), attributes=callee)
        ir.Operation.create("func.return", operands=list(map(_constant, signature(function).outputs)))
    return block


def _constant(kind: ir.Type, value: int = 0) -> ir.Value:
    """A number of a type, at the insertion point."""
    is_float = not isinstance(kind, (ir.IndexType, ir.IntegerType))
    attribute = ir.FloatAttr.get(kind, float(value)) if is_float else ir.IntegerAttr.get(kind, value)
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": attribute}).results[0]
