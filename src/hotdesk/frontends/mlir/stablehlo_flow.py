"""Loops and branches of StableHLO as those of `scf`, behind the passes that lower what is in them.

    stablehlo.while(%a = %x) cond { return %p } do { return %b }   ->   scf.while (%a = %x) { scf.condition(%p[]) %a } do { … }
    stablehlo.if(%p) { … } { … }                                   ->   scf.if %p[] { … } else { … }
    stablehlo.case(%i) { … } { … } { … }                           ->   scf.index_switch %i[] case 0 { … } … default { … }

An index of no branch means the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hotdesk._bindings import ir
from hotdesk.ir.building import create, index_cast, replace
from hotdesk.ir.walking import nested_ops


def lower_control_flow(module: ir.Module) -> None:
    """Rewrites all loops and branches, those in others too."""
    for op in [op for op in nested_ops(module.operation) if op.name in _REWRITES]:
        replace(op, _REWRITES[op.name](op))


def _while(op: ir.Operation) -> ir.Operation:
    made = create("scf.while", list(op.operands), [each.type for each in op.results], regions=2, before=op)
    condition, body = (_moved(old, new) for old, new in zip(op.regions, made.regions, strict=True))
    carried = list(made.regions[0].blocks[0].arguments)
    goes_on = _number(condition.operands[0], condition)
    create("scf.condition", [goes_on, *carried], [], before=condition)
    condition.erase()
    _yield(body)
    return made


def _if(op: ir.Operation) -> ir.Operation:
    made = create("scf.if", [_number(op.operands[0], op)], _types(op), regions=2, before=op)
    _move_branches(op.regions, made.regions)
    return made


def _case(op: ir.Operation) -> ir.Operation:
    number, count = index_cast(_number(op.operands[0], op), ir.IndexType.get(), op), len(op.regions)
    cases = {"cases": ir.DenseI64ArrayAttr.get(list(range(count - 1)))}
    made = create("scf.index_switch", [number], _types(op), cases, regions=count, before=op)
    *branches, last = op.regions
    _move_branches([last, *branches], made.regions)  # the default is the first region
    return made


_REWRITES: Mapping[str, Callable[[ir.Operation], ir.Operation]] = {
    "stablehlo.while": _while,
    "stablehlo.if": _if,
    "stablehlo.case": _case,
}


def _types(op: ir.Operation) -> list[ir.Type]:
    return [result.type for result in op.results]


def _move_branches(old: Sequence[ir.Region], new: Sequence[ir.Region]) -> None:
    for before, after in zip(old, new, strict=True):
        _yield(_moved(before, after))


def _moved(old: ir.Region, new: ir.Region) -> ir.Operation:
    """The end of the one block of a region that is moved to another one."""
    old.blocks[0].append_to(new)
    return list(new.blocks[0].operations)[-1].operation


def _yield(end: ir.Operation) -> None:
    create("scf.yield", list(end.operands), [], before=end)
    end.erase()


def _number(tensor: ir.Value, before: ir.Operation) -> ir.Value:
    """The one element of a tensor without dims."""
    element = ir.RankedTensorType(tensor.type).element_type
    return create("tensor.extract", [tensor], [element], before=before).results[0]
