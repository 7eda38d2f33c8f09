"""Kernels for sorting along one dimension (`tm_tensor.sort`), stable and in place: values, each with its place as it was.

A line whose places increase, as they do in front of a sort, has one order alone in which equal values keep theirs: by values,
then by places. So it is sorted by a heap (Williams, *Algorithm 232: Heapsort*, 1964), which wants no memory and takes much the
same steps for all lines of a length. Other lines, and short ones, are sorted by insertion.

Where the first few elements alone are wanted, as of a `topk`, a heap of so many has the best of those seen so far, the last of
them on top: most elements of a line are compared with that one and stay where they are. The rest of the line is in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

from hotdesk._bindings import ir
from hotdesk.ir.types import element_of
from hotdesk.ir.walking import integer_of
from hotdesk.kernels.parts import shared_loops
from hotdesk.kernels.text import Condition, Index, KernelBuilder, KernelText, View
from hotdesk.passes.lower.scalar import is_float

_SHORT = 16  # elements of a line that insertion sorts faster
_GRAIN = 1 << 11  # elements that are worth a thread: ten microseconds or more
_FLOATS = {3: "oge", 5: "ole", 10: "uge", 12: "ule"}
_INTEGERS = {3: "sle", 5: "sge", 7: "ule", 9: "uge"}
"""Comparisons that hold for equal values, by their numbers."""


@dataclass(frozen=True, slots=True)
class SortSpec:
    """Values and places are sorted along a dimension so that `comparison` holds between neighbouring values.

    `swapped` says that it holds between the second and the first; `noalias` says of both operands whether they overlap nothing.
    `first` is how many elements of a line are wanted in order, in front of all others; None: all.
    """

    values: View
    places: View
    dimension: int
    comparison: str
    swapped: bool
    noalias: tuple[bool, ...]
    first: int | None = None


def sort_order(op: ir.Operation) -> tuple[str, bool] | None:
    """The comparison of a `tm_tensor.sort` of values with their places, and whether it is swapped; None for any other op."""
    if op.name != "tm_tensor.sort" or len(op.operands) != 2 or not element_of(op.operands[1].type).startswith("i"):
        return None
    block = op.regions[0].blocks[0]
    first, *rest = (each.operation for each in block.operations)
    known = {"arith.cmpf": _FLOATS, "arith.cmpi": _INTEGERS}.get(first.name, {})
    values = list(block.arguments)[:2]
    if len(rest) != 1 or list(rest[0].operands) != list(first.results):
        return None
    given = list(first.operands)
    comparison = known.get(integer_of(first, "predicate"))
    return None if comparison is None or given not in (values, values[::-1]) else (comparison, given != values)


def sort(spec: SortSpec) -> KernelText:
    """The kernel of `spec`; operands values, places."""

    def outer(k: KernelBuilder) -> tuple[Sequence[Index], Index]:
        sizes = k.operands[0].sizes
        lengths = [size for dim, size in enumerate(sizes) if dim != spec.dimension]
        return lengths, k.floordiv(reduce(k.mul, sizes, 1), _GRAIN)

    def inner(k: KernelBuilder, positions: Sequence[Index]) -> None:
        line = _SortedLine(k, spec, positions)

        def in_order() -> None:
            if spec.first is None:
                line.heap(line.size)
            else:
                k.branch(
                    k.at_least(line.size, spec.first + 1),
                    partial(line.select, spec.first),
                    lambda: line.heap(line.size),
                )

        k.branch(k.at_least(_SHORT, line.size), line.insert, lambda: k.branch(line.increases(), in_order, line.insert))

    return shared_loops(lambda: KernelBuilder((spec.values, spec.places), spec.noalias), outer, inner)


@dataclass(frozen=True, slots=True)
class _SortedElement:
    value: str
    place: str


class _SortedLine:
    """The kernel being written: one line along the dimension."""

    def __init__(self, k: KernelBuilder, spec: SortSpec, positions: Sequence[Index]) -> None:
        """`positions` are the places in all other dimensions."""
        self.k, self.spec, dim = k, spec, spec.dimension
        self.size = k.operands[0].sizes[dim]
        self._steps = [each.strides[dim] for each in k.operands]
        self._begins = [
            k.dot(positions, [stride for d, stride in enumerate(each.strides) if d != dim]) for each in k.operands
        ]

    def increases(self) -> Condition:
        """Whether each place is more than the one in front of it."""
        k = self.k

        def step(i: Index, running: str) -> str:
            before, here = (self._load(at).place for at in (k.sub(i, 1), i))
            more = k.value(f"arith.cmpi slt, {before}, {here} : {self.spec.places.element}")
            return k.value(f"arith.andi {running}, {more} : i1")

        return k.reduce(1, self.size, 1, k.constant("true", "i1"), "i1", step)

    def insert(self) -> None:
        """Sorts element by element: each moves in front of those that may not stay there."""
        k = self.k
        with k.loop(1, self.size) as i:
            held = self._load(i)

            def step(at: Index) -> tuple[Condition, Index]:
                first = k.equal(at, 0)
                below = k.select(first, 0, k.sub(at, 1))
                other = self._load(below)
                stays = k.either(first, self._may_precede(other.value, held.value))
                k.branch(stays, lambda: None, lambda: self._store(other, at))
                return k.negation(stays), below

            self._store(held, k.follow(i, step))

    def heap(self, size: Index) -> None:
        """Sorts the first elements of the line, so many: takes the first out of a heap of them until none is left."""
        self._make_heap(size)
        self._empty_heap(size)

    def select(self, count: int) -> None:
        """Puts the first elements in order, so many, in front of all others; those are in any order."""
        k = self.k
        self._make_heap(count)

        def exchange(at: Index, held: _SortedElement, last: _SortedElement) -> None:
            self._store(last, at)
            self._sift(held, 0, count)

        with k.loop(count, self.size) as i:
            held, last = self._load(i), self._load(0)
            k.branch(self._precedes(held, last), partial(exchange, i, held, last))
        self._empty_heap(count)

    def _make_heap(self, size: Index) -> None:
        """Makes a heap of the first elements, whose first is the last in order."""
        k = self.k
        half = k.floordiv(size, 2)
        with k.loop(0, half) as i:
            root = k.sub(k.sub(half, 1), i)
            self._sift(self._load(root), root, size)

    def _empty_heap(self, size: Index) -> None:
        k = self.k
        with k.loop(1, size) as i:
            end = k.sub(size, i)
            first, held = self._load(0), self._load(end)
            self._store(first, end)
            self._sift(held, 0, end)

    def _sift(self, held: _SortedElement, root: Index, end: Index) -> None:
        """Puts an element into the heap in front of `end` that has none at `root`."""
        k = self.k

        def step(at: Index) -> tuple[Condition, Index]:
            child = k.add(k.mul(at, 2), 1)
            exists, both = (k.at_least(k.sub(end, 1), each) for each in (child, k.add(child, 1)))
            left, right = k.select(exists, child, at), k.select(both, k.add(child, 1), at)
            one, other = self._load(left), self._load(right)
            is_right = k.both(both, self._precedes(one, other))
            found = _SortedElement(
                *(
                    k.value(f"arith.select {is_right}, {b}, {a} : {view.element}")
                    for a, b, view in (
                        (one.value, other.value, self.spec.values),
                        (one.place, other.place, self.spec.places),
                    )
                )
            )
            later = k.both(exists, self._precedes(held, found))
            k.branch(later, lambda: self._store(found, at))
            return later, k.select(is_right, right, left)

        self._store(held, k.follow(root, step))

    def _precedes(self, one: _SortedElement, other: _SortedElement) -> Condition:
        """Whether an element comes in front of another: by their values, else by their places."""
        k = self.k
        earlier = k.value(f"arith.cmpi slt, {one.place}, {other.place} : {self.spec.places.element}")
        equal = self._may_precede(other.value, one.value)
        return k.both(self._may_precede(one.value, other.value), k.either(k.negation(equal), earlier))

    def _may_precede(self, one: str, other: str) -> str:
        kind = self.spec.values.element
        first, second = (other, one) if self.spec.swapped else (one, other)
        return self.k.value(
            f"arith.cmp{'f' if is_float(kind) else 'i'} {self.spec.comparison}, {first}, {second} : {kind}"
        )

    def _load(self, at: Index) -> _SortedElement:
        return _SortedElement(
            *(self.k.load(each, self._offset(number, at)) for number, each in enumerate(self.k.operands))
        )

    def _store(self, element: _SortedElement, at: Index) -> None:
        for number, value in enumerate((element.value, element.place)):
            self.k.store(value, self.k.operands[number], self._offset(number, at))

    def _offset(self, number: int, at: Index) -> Index:
        return self.k.add(self._begins[number], self.k.mul(at, self._steps[number]))
