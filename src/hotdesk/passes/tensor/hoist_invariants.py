"""What an elementwise loop computes again in outer loops is computed once, in a loop of its own.

    %y[c, i] = %x[c, i] - log(%s[i])    ->    %t[i] = log(%s[i]);  %y[c, i] = %x[c, i] - %t[i]

Fusion puts what has one reader into the loop that reads it, such as the logarithm of a sum over channels into the subtraction
from all channels, where it is computed for each.

Done iff rules 1 to 5 of `analysis.fusion.invariants` hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.invariants import Invariants, Place, find_invariants
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, create, structured
from hotdesk.ir.generic_inputs import with_inputs
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.walking import dialect_of, top_level_ops, users
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import Generic, are_sized, loops_read, read_generic
from hotdesk.passes.base import FunctionPass


@dataclass(frozen=True, slots=True)
class HoistInvariants(FunctionPass):
    """Computes once what a loop would compute for each iteration of loops around it.

    Options:
        least_saved: operations that are worth a loop of their own.
    """

    name: ClassVar[str] = "hotdesk-hoist-invariants"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.COMPUTED_ONCE,)

    least_saved: int = 1 << 16

    def run_on(self, function: ir.Operation) -> list[Decision]:
        decisions: list[Decision] = []
        for op in top_level_ops(function):
            found = find_invariants(op, self.least_saved)
            if found is not None:
                subject, because = f"values that {op.name} repeats", (source_in_model(op),)
                decisions.append(Decision(subject, Outcome.ALLOCATED, Reason.COMPUTED_ONCE, because, found.bytes))
                _hoist(cast(Generic, read_generic(op)), found)
        return decisions


def _hoist(generic: Generic, found: Invariants) -> None:
    """Computes values in a loop in front of an op, and reads them there."""
    op, elements = generic.op, generic.op.regions[0].blocks[0].arguments
    needed = {value for each in found.operations for value in each.operands}
    read = [i for i in range(generic.inputs) if elements[i] in needed]
    rank = len(found.place)
    maps = [_map_within(found.place, cast(Place, loops_read(generic.maps[i]))) for i in read]
    maps += [ir.AffineMap.get_identity(rank)] * len(found.values)
    kinds = [ir.RankedTensorType.get(found.shape, value.type) for value in found.values]
    inits = [create("tensor.empty", [], [kind], before=op).results[0] for kind in kinds]
    made, end = structured([op.operands[i] for i in read], inits, op, maps)
    arguments = made.regions[0].blocks[0].arguments
    mapping: dict[ir.Value, ir.Value] = {elements[i]: arguments[number] for number, i in enumerate(read)}
    for each in found.operations:
        clone_with(each, mapping, ir.InsertionPoint(end))
    for number, value in enumerate(found.values):
        end.operands[number] = mapping[value]
    at = ir.AffineMap.get(len(generic.parallel), 0, [_expression(loop) for loop in found.place])
    new, loaded = with_inputs(op, range(generic.inputs), [(result, at) for result in made.results])
    for value, element in zip(found.values, loaded, strict=True):
        value.replace_all_uses_with(element)
    _erase_unused(new)


def _map_within(place: Place, read: Place) -> ir.AffineMap:
    """Where an operand that is `read` in the loops of an op is read in loops over the dims of `place`, which has all of these."""
    if read == place:
        return ir.AffineMap.get_identity(len(place))
    dims = {loop: dim for dim, loop in enumerate(place) if loop is not None}
    return ir.AffineMap.get(len(place), 0, [_expression(None if loop is None else dims.get(loop)) for loop in read])


def _expression(dim: int | None) -> ir.AffineExpr:
    return ir.AffineExpr.get_constant(0) if dim is None else ir.AffineExpr.get_dim(dim)


def _erase_unused(op: ir.Operation) -> None:
    """Erases what nothing in a payload reads, and inputs of that kind, but for those that alone say how long a loop is."""
    for each in reversed([each.operation for each in op.regions[0].blocks[0].operations]):
        if dialect_of(each.name) in SCALAR_DIALECTS and not any(users(result) for result in each.results):
            each.erase()
    generic = cast(Generic, read_generic(op))
    kept = {*range(len(generic.maps))}
    for i in range(generic.inputs):
        others = [generic.maps[other] for other in kept - {i}]
        if not generic.reads(i) and are_sized(others, len(generic.parallel)):
            kept.remove(i)
    with_inputs(op, kept)
