"""What an elementwise loop computes again in outer loops, and may compute once in a loop of its own.

    %y[c, i] = %x[c, i] - log(%s[i])    ->    %t[i] = log(%s[i]);  %y[c, i] = %x[c, i] - %t[i]

1. The op is a `linalg.generic` on tensors of known sizes, each dim of them read or written at the number of a loop, or at 0.
2. What is taken out is arithmetic on numbers that are inputs, and differs in the innermost loop of several iterations: what does
   not, LLVM takes out of that loop.
3. It is the same in other loops, which have at least 8 iterations together.
4. It is worth it: each value takes more than 4 operations, an elementary function or a division counting as 10, and enough
   operations are saved, but for two that each value is stored and loaded by.
5. It takes no more memory: for each value there is an input of its element type that ends with the op, as nothing else reads it.
   These inputs are read at the same place, whole, in the loops that the values differ in: each value overwrites one of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import defining_op, dialect_of, is_constant, users
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import DEAR, GENERIC, Generic, is_dear, loops_read, read_generic
from hotdesk.models.tensor import WHOLE_VIEWS, has_contents_of_its_own

_REPEATED = 8
_LITTLE = 4
_STORED_AND_LOADED = 2

Place = tuple[int | None, ...]
"""The loop over each dim of a tensor, None for one that is read at 0."""
_Differing = Mapping[ir.Value, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Invariants:
    """Values of the payload of an op that are worth a loop of their own.

    Attributes:
        values: the values.
        operations: those of the payload that compute them, in order.
        place: where each is in the tensor that it is put in, in the loops of the op.
        shape: of these tensors.
    """

    values: tuple[ir.Value, ...]
    operations: tuple[ir.Operation, ...]
    place: Place
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """What the tensors take."""
        return prod(self.shape) * sum(element_bytes(str(value.type)) for value in self.values)


def find_invariants(op: ir.Operation, least: int) -> Invariants | None:
    """What an op computes again; None where nothing is worth a loop. `least`: the operations that have to be saved."""
    generic = read_generic(op) if op.name == GENERIC else None
    loops = None if generic is None else _loops(generic)
    if generic is None or loops is None:
        return None
    long = [loop for loop in sorted(loops.sizes) if loops.sizes[loop] != 1]
    differing = _differing(generic, loops)
    computed = [each.operation for each in op.regions[0].blocks[0].operations]
    computed = [each for each in computed if len(each.results) and each.results[0] in differing]
    for own in sorted({differing[each.results[0]] for each in computed}, key=sorted):
        times = prod(loops.sizes[loop] for loop in long if loop not in own)
        if not own or long[-1] not in own or times < _REPEATED:
            continue
        inside = [each for each in computed if differing[each.results[0]] <= own]
        here = OpSet(inside)
        read_outside = (each.results[0] for each in inside if not here.issuperset(users(each.results[0])))
        values = [value for value in read_outside if _cost(_slice([value], inside), differing, long[-1]) > _LITTLE]
        operations = _slice(values, inside)
        saved = _cost(operations, differing, long[-1]) - _STORED_AND_LOADED * len(values)
        if values and saved * prod(loops.sizes.values()) // times * (times - 1) >= least:
            place = _overwritten(generic, loops, own, values, operations)
            shape = None if place is None else tuple(1 if loop is None else loops.sizes[loop] for loop in place)
            return None if place is None or shape is None else Invariants(tuple(values), operations, place, shape)
    return None


@dataclass(frozen=True, slots=True)
class _Loops:
    """How many iterations each loop has, and where each operand is read or written in them."""

    sizes: dict[int, int]
    places: list[Place]

    def differing(self, operand: int) -> frozenset[int]:
        """The loops in which an operand differs."""
        return frozenset(each for each in self.places[operand] if each is not None and self.sizes[each] != 1)


def _loops(generic: Generic) -> _Loops | None:
    """The loops of an op by rule 1; None for others, and for one of no iteration."""
    sizes, places = dict[int, int](), list[Place]()
    for value, affine_map in zip(generic.op.operands, generic.maps, strict=True):
        place = loops_read(affine_map)
        shape = shape_of(value.type) if is_tensor(value.type) else (None,)
        if place is None or None in shape:
            return None
        sizes.update({loop: cast(int, size) for loop, size in zip(place, shape, strict=True) if loop is not None})
        places.append(place)
    return _Loops(sizes, places) if len(sizes) == len(generic.parallel) and all(sizes.values()) else None


def _differing(generic: Generic, loops: _Loops) -> _Differing:
    """The loops in which each value differs, of those that rule 2 lets be taken out."""
    block = generic.op.regions[0].blocks[0]
    operations = [each.operation for each in block.operations]
    inside = {*block.arguments, *(result for each in operations for result in each.results)}
    found = dict[ir.Value, frozenset[int]]((block.arguments[i], loops.differing(i)) for i in range(generic.inputs))
    for each in operations:
        plain = dialect_of(each.name) in SCALAR_DIALECTS and len(each.results) == 1 and not len(each.regions)
        number = plain and isinstance(each.results[0].type, (ir.FloatType, ir.IntegerType))
        operands = [value for value in each.operands if value in inside]
        if number and all(value in found for value in operands):
            found[each.results[0]] = frozenset[int]().union(*(found[value] for value in operands))
    return found


def _slice(values: Iterable[ir.Value], operations: Sequence[ir.Operation]) -> tuple[ir.Operation, ...]:
    """The operations that values are computed by."""
    needed, found = set(values), list[ir.Operation]()
    for each in reversed(operations):
        if each.results[0] in needed:
            needed.update(each.operands)
            found.append(each)
    return tuple(reversed(found))


def _cost(operations: Iterable[ir.Operation], differing: _Differing, innermost: int) -> int:
    """How many operations an iteration of the innermost loop takes."""
    repeated = (each for each in operations if innermost in differing[each.results[0]] and not is_constant(each))
    return sum(DEAR if is_dear(each) else 1 for each in repeated)


def _overwritten(
    generic: Generic,
    loops: _Loops,
    own: frozenset[int],
    values: Sequence[ir.Value],
    operations: Sequence[ir.Operation],
) -> Place | None:
    """The place of inputs that values can overwrite, by rule 5."""
    gone = OpSet()
    for each in reversed(operations):
        if each.results[0] in values or gone.issuperset(users(each.results[0])):
            gone.add(each)
    there: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    for i, element in enumerate(list(generic.op.regions[0].blocks[0].arguments)[: generic.inputs]):
        value, place = generic.op.operands[i], loops.places[i]
        read = [loop for loop in place if loop is not None]
        whole = [1 if loop is None else loops.sizes[loop] for loop in place] == list(shape_of(value.type))
        if whole and len(set(read)) == len(read) and loops.differing(i) == own and gone.issuperset(users(element)):
            there[place][element_of(value.type)] += _ends(value)
    wanted = Counter(str(value.type) for value in values)
    return next((place for place, kinds in there.items() if wanted <= kinds), None)


def _ends(value: ir.Value) -> bool:
    """Whether the memory of a value ends with the one op that reads it."""
    maker = defining_op(value)
    if maker is None or len(users(value)) != 1:
        return False
    return _ends(maker.operands[0]) if maker.name in WHOLE_VIEWS else has_contents_of_its_own(maker.name)
