"""Kernels of `hotdesk.move`: copies between parts of one buffer that may overlap, as C's `memmove` makes them.

Both places have the same sizes and, in one buffer, the same strides, the greatest first: every element moves by one distance.
Where that is downwards, the first elements go first, else the last ones: none is overwritten before it is read. Neighbours in
memory go together, in vectors that are read before they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from hotdesk.ir.types import element_bytes
from hotdesk.kernels.text import Index, KernelBuilder, KernelText, View

_BYTES = 64  # of a vector
_IN_VECTORS = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")


@dataclass(frozen=True, slots=True)
class MoveSpec:
    """The target's elements become those of the source; both have the same sizes, and they may overlap."""

    source: View
    target: View


def move(spec: MoveSpec) -> KernelText:
    """The kernel of `spec`; operands source, target.

    Raises:
        ValueError: the sizes or elements differ, or a stride is not greater than what the dims behind it span.
    """
    _require_alike(spec.source, spec.target)
    for view in (spec.source, spec.target):
        _require_order(view)
    views = [replace(view, element="i8") if view.element == "i1" else view for view in (spec.source, spec.target)]
    k = KernelBuilder(views, (False, False))
    addresses = [k.address(each, 0, 1) for each in k.operands]
    goes_down = k.value(f"arith.cmpi ule, {addresses[1]}, {addresses[0]} : i64")
    run = _MovedRows(k, _outer_dims(*views))
    k.branch(goes_down, run.first_to_last, run.last_to_first)
    return k.finish()


def _require_alike(source: View, target: View) -> None:
    """Refuses sizes that are known to differ, and elements that do."""
    sizes = [(a, b) for a, b in zip(source.sizes, target.sizes, strict=False) if a is not None and b is not None]
    if len(source.sizes) != len(target.sizes) or any(a != b for a, b in sizes) or source.element != target.element:
        expected, got = ((*view.sizes, view.element) for view in (target, source))
        raise ValueError(f"a move expects a source of {expected}, got {got}")


def _require_order(view: View) -> None:
    """Refuses strides that are known not to be in row-major order."""
    spanned = 0
    for size, stride in zip(reversed(view.sizes), reversed(view.strides), strict=True):
        if size == 1 or stride is None:
            continue
        if stride <= spanned:
            raise ValueError(f"a move expects the greatest stride first, got {view.strides}")
        spanned += 0 if size is None else stride * max(size - 1, 0)


def _outer_dims(source: View, target: View) -> int:
    """How many dims there are around those that are one row of neighbours in both views."""
    expected: int | None = 1
    for dim in range(len(source.sizes) - 1, -1, -1):
        if expected is None or any(view.strides[dim] != expected for view in (source, target)):
            return dim + 1
        size = source.sizes[dim]
        expected = None if size is None else expected * size
    return 0


class _MovedRows:
    """The kernel being written: rows of neighbours, and the dims around them."""

    def __init__(self, k: KernelBuilder, outer: int) -> None:
        self._k, self._outer = k, outer
        self._source, self._target = k.operands
        self._length = reduce(k.mul, self._source.sizes[outer:], 1)
        element = self._source.element
        self._lanes = _BYTES // element_bytes(element) if element in _IN_VECTORS else 1
        self._kind = f"vector<{self._lanes}x{element}>"

    def first_to_last(self) -> None:
        k = self._k
        with k.loops(self._source.sizes[: self._outer]) as positions:
            whole = self._whole()
            if whole != 0:
                with k.loop(0, whole, self._lanes) as at:
                    self._move(positions, at, vector=True)
            with k.loop(whole, self._length) as at:
                self._move(positions, at)

    def last_to_first(self) -> None:
        k = self._k
        sizes = self._source.sizes[: self._outer]
        with k.loops(sizes) as turned:
            positions = [k.sub(k.sub(size, 1), each) for size, each in zip(sizes, turned, strict=True)]
            whole = self._whole()
            with k.loop(0, k.sub(self._length, whole)) as turn:
                self._move(positions, k.sub(k.sub(self._length, 1), turn))
            if whole != 0:
                with k.loop(0, whole, self._lanes) as turn:
                    self._move(positions, k.sub(k.sub(whole, self._lanes), turn), vector=True)

    def _whole(self) -> Index:
        """The elements of a row that go in vectors; none of those that no vector has, such as complex numbers."""
        k = self._k
        return 0 if self._lanes == 1 else k.mul(k.floordiv(self._length, self._lanes), self._lanes)

    def _move(self, positions: Sequence[Index], at: Index, *, vector: bool = False) -> None:
        k, element = self._k, self._source.element
        source, target = (
            k.index(k.add(k.dot(positions, each.strides[: self._outer]), at)) for each in (self._source, self._target)
        )
        if vector:
            value = k.value(f"vector.load {self._source.flat}[{source}] : memref<?x{element}>, {self._kind}")
            k.line(f"vector.store {value}, {self._target.flat}[{target}] : memref<?x{element}>, {self._kind}")
        else:
            k.store(k.load(self._source, source), self._target, target)
