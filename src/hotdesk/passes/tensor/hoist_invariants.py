"""What an elementwise loop computes again for elements that differ in outer loops alone is computed once, in a loop of its own.

    %y[c, i] = %x[c, i] - log(%s[i])    ->    %t[i] = log(%s[i]);  %y[c, i] = %x[c, i] - %t[i]

What is the same in the innermost loop LLVM takes out of it; what differs there, and is the same in a loop around, as a logarithm
of a sum over channels, or weights of pixels for all channels, it computes each time. Fusion puts such computations into the loops
that read them, wherever they have one reader.

Done iff

1. the op is a `linalg.generic` on tensors of known sizes, each dim of them read or written at the number of a loop, or at 0;
2. what is taken out is arithmetic (`arith`, `math`) on inputs alone, and differs in the innermost loop of several iterations;
3. it is the same in others that have at least 8 iterations together;
4. it is worth it: it has more operations than it leaves loads, an elementary function or a division counting as ten, and enough
   of them are saved;
5. its results take no more bytes than inputs that nobody reads any more, and an eighth of what the op writes.

A result has the shape of an input that is read at the same loops, if there is one, so that it can overwrite that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.explain import Decision
from hotdesk.ir.building import clone_with, create, structured
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, is_constant, nested_ops, users
from hotdesk.models.generics import GENERIC, is_dear
from hotdesk.models.linalg import inputs_of
from hotdesk.passes.base import FunctionPass

_REPEATED = 8
_DEAR = 10
_LITTLE = 4
"""Operations that are not worth a load."""


@dataclass(frozen=True, slots=True)
class HoistInvariants(FunctionPass):
    """Computes once what a loop would compute for each iteration of loops around (rules in the module docstring).

    Options:
        least_saved: operations that are worth a loop of their own.
    """

    name: ClassVar[str] = "hotdesk-hoist-invariants"

    least_saved: int = 1 << 16

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in [op for op in nested_ops(function) if op.name == GENERIC]:
            loops = _read(op)
            found = None if loops is None else _invariants(op, loops, self.least_saved)
            if loops is not None and found is not None:
                _hoist(op, loops, *found)
        return ()


class _Loops(NamedTuple):
    """How long each loop is, and the loop of each dim of each operand, None for a dim that is read at 0."""

    sizes: dict[int, int]
    places: list[list[int | None]]

    def differing(self, operand: int) -> frozenset[int]:
        """The loops that an operand differs in."""
        return frozenset(each for each in self.places[operand] if each is not None and self.sizes[each] != 1)


def _read(op: ir.Operation) -> _Loops | None:
    """Rule 1."""
    if not all(is_tensor(value.type) and None not in shape_of(value.type) for value in op.operands):
        return None
    sizes, places = dict[int, int](), list[list[int | None]]()
    for value, map_ in zip(op.operands, cast("list[ir.AffineMap]", indexing_maps(op)), strict=True):
        place = list[int | None]()
        for size, each in zip(shape_of(value.type), cast(Any, map_.results), strict=True):
            if isinstance(each, ir.AffineDimExpr):
                sizes[each.position] = cast(int, size)
                place.append(each.position)
            elif isinstance(each, ir.AffineConstantExpr) and each.value == 0:
                place.append(None)
            else:
                return None
        places.append(place)
    count = cast("list[ir.AffineMap]", indexing_maps(op))[0].n_dims
    return _Loops(sizes, places) if len(sizes) == count and all(sizes.values()) else None


def _invariants(op: ir.Operation, loops: _Loops, least: int) -> tuple[frozenset[int], list[ir.Value]] | None:
    """Values of the payload that are worth a loop of their own, and the loops that they differ in."""
    long = [loop for loop in sorted(loops.sizes) if loops.sizes[loop] != 1]
    differing, body = _differing(op, loops), [each.operation for each in op.regions[0].blocks[0].operations]
    outer = {differing[each.results[0]] for each in body if each.results and each.results[0] in differing}
    for others in sorted(outer, key=sorted):
        times = prod(loops.sizes[loop] for loop in long if loop not in others)
        if not others or long[-1] not in others or times < _REPEATED:
            continue
        inside = [each for each in body if each.results and differing.get(each.results[0], frozenset(long)) <= others]
        within = {*inside}
        values: list[ir.Value] = [
            each.results[0] for each in inside if any(user not in within for user in users(each.results[0]))
        ]
        values = [value for value in values if _operations_of([value], inside, differing, long[-1])[0] > _LITTLE]
        saved, _ = _operations_of(values, inside, differing, long[-1])
        all_saved = (saved - 2 * len(values)) * (prod(loops.sizes.values()) // times) * (times - 1)
        if values and all_saved >= least and _is_small(op, loops, others, values, inside):
            return others, values
    return None


def _differing(op: ir.Operation, loops: _Loops) -> dict[ir.Value, frozenset[int]]:
    """The loops that each value of the payload differs in, of those that rule 2 lets be taken out."""
    block = op.regions[0].blocks[0]
    found = dict[ir.Value, frozenset[int]]((block.arguments[i], loops.differing(i)) for i in range(inputs_of(op)))
    written = set[ir.Value](list(block.arguments)[inputs_of(op) :])
    for each in (one.operation for one in block.operations):
        plain = each.name.partition(".")[0] in ("arith", "math") and len(each.results) == 1 and not len(each.regions)
        inner = [value for value in each.operands if _is_in(value, block)]
        if not plain or not all(value in found for value in inner) or not written.isdisjoint(inner):
            continue
        if isinstance(each.results[0].type, (ir.FloatType, ir.IntegerType)):
            found[each.results[0]] = frozenset[int]().union(*(found[value] for value in inner))
    return found


def _is_in(value: ir.Value, block: ir.Block) -> bool:
    owner = cast(Any, value).owner
    return (owner if isinstance(owner, ir.Block) else owner.operation.block) == block


def _operations_of(
    values: Sequence[ir.Value],
    inside: Sequence[ir.Operation],
    differing: dict[ir.Value, frozenset[int]],
    innermost: int,
) -> tuple[int, set[ir.Value]]:
    """How many operations compute values in each iteration of the innermost loop, and all that these are computed from."""
    needed, count = set[ir.Value](values), 0
    for each in reversed(inside):
        if each.results[0] in needed:
            needed.update(each.operands)
            if not is_constant(each) and innermost in differing[each.results[0]]:
                count += _DEAR if is_dear(each) else 1
    return count, needed


def _is_small(
    op: ir.Operation,
    loops: _Loops,
    others: frozenset[int],
    values: Sequence[ir.Value],
    inside: Sequence[ir.Operation],
) -> bool:
    """Rule 5."""
    made = prod(loops.sizes[loop] for loop in others) * sum(element_bytes(str(value.type)) for value in values)
    written = sum(_bytes(value) for value in list(op.operands)[inputs_of(op) :])
    arguments = list(op.regions[0].blocks[0].arguments)[: inputs_of(op)]
    computed = {*inside}
    needed = _operations_of(values, inside, dict.fromkeys((each.results[0] for each in inside), frozenset()), -1)[1]
    gone = [
        op.operands[i]
        for i, argument in enumerate(arguments)
        if argument in needed and all(user in computed for user in users(argument))
    ]
    return made <= sum(_bytes(value) for value in gone if len(users(value)) == 1) + written // 8


def _bytes(value: ir.Value) -> int:
    return prod(cast("list[int]", shape_of(value.type))) * element_bytes(element_of(value.type))


def _hoist(op: ir.Operation, loops: _Loops, others: frozenset[int], values: Sequence[ir.Value]) -> None:
    """Computes values in a loop of their own in front of an op, and reads them in that."""
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    needed = set[ir.Value](values)
    for each in reversed(body):
        if any(result in needed for result in each.results):
            needed.update(each.operands)
    read = [i for i in range(inputs_of(op)) if block.arguments[i] in needed]
    place = next((loops.places[i] for i in read if loops.differing(i) == others), [*sorted(others)])
    number = {loop: dim for dim, loop in enumerate(place) if loop is not None}
    zero = ir.AffineExpr.get_constant(0)
    maps = [
        ir.AffineMap.get(
            len(place), 0, [ir.AffineExpr.get_dim(number[each]) if each in number else zero for each in at]
        )
        for at in (loops.places[i] for i in read)
    ]
    shape = [1 if loop is None else loops.sizes[loop] for loop in place]
    kinds = [ir.RankedTensorType.get(shape, value.type) for value in values]
    inits = [create("tensor.empty", [], [kind], before=op).results[0] for kind in kinds]
    maps += [ir.AffineMap.get_identity(len(place))] * len(values)
    made, end = structured([op.operands[i] for i in read], inits, op, maps)
    arguments = list(made.regions[0].blocks[0].arguments)
    mapping = dict[ir.Value, ir.Value](zip((block.arguments[i] for i in read), arguments, strict=False))
    for each in body:
        if each.results and each.results[0] in needed:
            clone_with(each, mapping, ir.InsertionPoint(end))
    for i, value in enumerate(values):
        end.operands[i] = mapping[value]
    _read_instead(op, loops, values, list(made.results), place)


def _read_instead(
    op: ir.Operation, loops: _Loops, values: Sequence[ir.Value], made: Sequence[ir.Value], place: Sequence[int | None]
) -> None:
    """Puts an op in the place of another one that reads `made` instead of computing values, and no input for these alone."""
    old, count = op.regions[0].blocks[0], len(loops.sizes)
    location = op.location
    new = [old.add_argument(value.type, location) for value in values]
    for value, argument in zip(values, new, strict=True):
        value.replace_all_uses_with(argument)
    for each in reversed([each.operation for each in old.operations]):
        if len(each.results) == 1 and each.name.partition(".")[0] in ("arith", "math") and not users(each.results[0]):
            each.erase()
    inputs, outputs = list[int](), range(inputs_of(op), len(op.operands))
    covered = {None, *place, *(loop for i in outputs for loop in loops.places[i])}
    for i in range(inputs_of(op)):
        is_length = not covered.issuperset(loops.places[i])  # of a loop that no other operand has
        if is_length or users(old.arguments[i]):
            inputs.append(i)
            covered.update(loops.places[i])
    zero = ir.AffineExpr.get_constant(0)
    own = ir.AffineMap.get(count, 0, [zero if loop is None else ir.AffineExpr.get_dim(loop) for loop in place])
    maps = list(cast(Any, op.attributes["indexing_maps"]))
    attributes = attributes_of(op)
    at = [*(maps[i] for i in inputs), *[ir.AffineMapAttr.get(own)] * len(made), *(maps[i] for i in outputs)]
    attributes["indexing_maps"] = ir.ArrayAttr.get(at)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(inputs) + len(made), len(outputs)])
    operands = [*(op.operands[i] for i in inputs), *made, *(op.operands[i] for i in outputs)]
    other = create(GENERIC, operands, [each.type for each in op.results], attributes, regions=1, before=op)
    given = [*(old.arguments[i] for i in inputs), *new, *(old.arguments[i] for i in outputs)]
    kinds = [each.type for each in given]
    block = other.regions[0].blocks.append(*kinds, arg_locs=[location] * len(kinds))
    for before, after in zip(given, block.arguments, strict=True):
        before.replace_all_uses_with(after)
    for each in [each.operation for each in old.operations]:
        block.append(each)
    for before, after in zip(op.results, other.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
