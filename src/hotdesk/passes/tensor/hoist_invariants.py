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
5. it takes no more memory: for each result there is an input of its size and element type, read at the same loops, that only
   results are computed from and that ends with the op. The result has the shape of that input, and can overwrite it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, create, structured
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, is_constant, top_level_ops, users
from hotdesk.models.generics import GENERIC, is_dear
from hotdesk.models.linalg import inputs_of
from hotdesk.models.tensor import WHOLE_VIEWS, has_contents_of_its_own
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
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.COMPUTED_ONCE,)

    least_saved: int = 1 << 16

    def run_on(self, function: ir.Operation) -> list[Decision]:
        ops = [op for op in top_level_ops(function) if op.name == GENERIC]
        found = [each for op in ops if (each := _find(op, self.least_saved)) is not None]
        fitting = [each for each in found if _fits(each)]
        decisions = [_decision(each) for each in fitting]
        for each in fitting:
            _hoist(each.op, each.loops, each.others, each.values)
        return decisions


class _Loops(NamedTuple):
    """How long each loop is, and the loop of each dim of each operand, None for a dim that is read at 0."""

    sizes: dict[int, int]
    places: list[list[int | None]]

    def differing(self, operand: int) -> frozenset[int]:
        """The loops that an operand differs in."""
        return frozenset(each for each in self.places[operand] if each is not None and self.sizes[each] != 1)


def _read(op: ir.Operation) -> _Loops | None:
    """Rule 1."""
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    if not maps or not all(is_tensor(value.type) and None not in shape_of(value.type) for value in op.operands):
        return None
    sizes, places = dict[int, int](), list[list[int | None]]()
    for value, map_ in zip(op.operands, maps, strict=True):
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
    return _Loops(sizes, places) if len(sizes) == maps[0].n_dims and all(sizes.values()) else None


@dataclass(frozen=True, slots=True)
class _Invariants:
    """Values of an op's payload that are worth a loop of their own.

    Attributes:
        op, loops: the op, and how it is read.
        others: the loops that the values differ in.
        values: they.
        gone: the inputs that only they are computed from.
    """

    op: ir.Operation
    loops: _Loops
    others: frozenset[int]
    values: tuple[ir.Value, ...]
    gone: tuple[int, ...]

    @property
    def kinds(self) -> Counter[str]:
        """How many values there are of each element type."""
        return Counter(str(value.type) for value in self.values)

    def bytes_of(self, kind: str) -> int:
        """What all that a value of an element type is for takes."""
        return prod(self.loops.sizes[loop] for loop in self.others) * element_bytes(kind)

    @property
    def bytes(self) -> int:
        return sum(self.bytes_of(kind) * count for kind, count in self.kinds.items())


def _find(op: ir.Operation, least: int) -> _Invariants | None:
    """What is to be computed once of an op, by rules 1 to 4."""
    loops = _read(op)
    if loops is None:
        return None
    long = [loop for loop in sorted(loops.sizes) if loops.sizes[loop] != 1]
    block = op.regions[0].blocks[0]
    differing, body = _differing(op, loops), [each.operation for each in block.operations]
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
        saved, needed = _operations_of(values, inside, differing, long[-1])
        all_saved = (saved - 2 * len(values)) * (prod(loops.sizes.values()) // times) * (times - 1)
        if values and all_saved >= least:
            arguments = list(block.arguments)[: inputs_of(op)]
            gone = (
                i
                for i, each in enumerate(arguments)
                if each in needed and all(user in within and user.results[0] in needed for user in users(each))
            )
            return _Invariants(op, loops, others, tuple(values), tuple(gone))
    return None


def _fits(found: _Invariants) -> bool:
    """Rule 5."""
    ending = [i for i in found.gone if _ends(found.op.operands[i])]
    kinds = {i: element_of(found.op.operands[i].type) for i in ending if found.loops.differing(i) == found.others}
    # One that is read on its diagonal or at 0 alone has more elements than are read.
    alike = Counter(kind for i, kind in kinds.items() if _bytes(found.op.operands[i]) == found.bytes_of(kind))
    return found.kinds <= alike


def _ends(value: ir.Value) -> bool:
    """Whether memory ends with the one op that reads a value."""
    maker = defining_op(value)
    if maker is None or len(users(value)) != 1:
        return False
    return _ends(maker.operands[0]) if maker.name in WHOLE_VIEWS else has_contents_of_its_own(maker.name)


def _decision(found: _Invariants) -> Decision:
    subject = f"values that {found.op.name} repeats"
    return Decision(subject, Outcome.ALLOCATED, Reason.COMPUTED_ONCE, (source_in_model(found.op),), found.bytes)


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
    alike = (loops.places[i] for i in read if loops.differing(i) == others)
    place = next((each for each in alike if _has_a_dim_for_each(each)), [*sorted(others)])
    number = {loop: dim for dim, loop in enumerate(place) if loop is not None}
    zero = ir.AffineExpr.get_constant(0)
    maps = [
        ir.AffineMap.get_identity(len(place))
        if at == place
        else ir.AffineMap.get(
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


def _has_a_dim_for_each(place: Sequence[int | None]) -> bool:
    """Whether no two dims are read at the number of the same loop, as those of a diagonal are."""
    read = [loop for loop in place if loop is not None]
    return len({*read}) == len(read)


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
