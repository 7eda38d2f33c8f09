"""Buffers, memrefs as views of them, and arenas in which buffers take turns.

A buffer is what one allocation made. It has bytes of its own at an address that no other buffer ever has, and one more byte for
each that says whether somebody has written it: 0 or 255, so that the shadow of an element is all ones or not. `written` is
None when all bytes are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from hotdesk.checker.report import BufferRecord
from hotdesk.checker.values import Array
from hotdesk.explain import Source

_SHADOWS = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@dataclass(eq=False, slots=True)
class CheckedArena:
    """Memory in which buffers lie by a plan; `owner` has the number of the buffer that wrote each byte last, 0 for none.

    `ground` is a buffer that stands for all of it, without bytes of its own.
    """

    name: str
    owner: Array
    tenants: dict[int, CheckedBuffer] = field(default_factory=dict[int, "CheckedBuffer"])
    ground: CheckedBuffer = field(init=False)

    def __post_init__(self) -> None:
        self.ground = CheckedBuffer(0, np.empty(0, np.uint8), None, "arena", self.name, Source("arena"), 0)


@dataclass(eq=False, slots=True)
class CheckedBuffer:
    """Memory from one allocation.

    Attributes:
        data: its bytes.
        written: which of them somebody has written, or None for all.
        kind: heap, stack, argument, result or global.
        name: its type, or which argument it is.
        made, freed: the op that allocated it, and the one that freed it.
        address: where the program would find it; differs from all others and is aligned as was asked for.
        writable: whether the program may write it.
        home: the arena and the offset in it where a plan has put the buffer.
        whole: the buffer it was carved out of, which it dies with.
        carved: the arena that views of this buffer lie in, if each `memref.view` of it is a buffer of its own.
        written_at, read_at: when the program last wrote and last read it, by the clock of the run; 0 for never.
    """

    number: int
    data: Array
    written: Array | None
    kind: str
    name: str
    made: Source
    address: int
    writable: bool = True
    freed: Source | None = None
    home: tuple[CheckedArena, int] | None = None
    whole: CheckedBuffer | None = None
    carved: CheckedArena | None = None
    written_at: int = 0
    read_at: int = 0

    @property
    def size(self) -> int:
        return len(self.data)

    def death(self) -> Source | None:
        """The op that freed it, or None while it lives."""
        if self.freed is None and self.whole is not None:
            return self.whole.death()
        return self.freed

    def record(self) -> BufferRecord:
        return BufferRecord(self.name, self.kind, self.size, self.made, self.death())

    def shadowed(self) -> Array:
        """`written`, as an array."""
        if self.written is None:
            self.written = np.full(self.size, 255, np.uint8)
        return self.written


class MemRef:
    """A memref: a buffer, the byte in it where it is aligned, and offset, sizes and strides in elements.

    `dtype` is what lies in memory; `conversion` makes of it what a load gives, if that is something else (`arith.index_cast`).
    """

    __slots__ = (
        "_array",
        "_extent",
        "_inside",
        "_shadow",
        "_shadow_of",
        "buffer",
        "conversion",
        "dtype",
        "offset",
        "sizes",
        "start",
        "strides",
    )

    def __init__(
        self,
        buffer: CheckedBuffer,
        start: int,
        offset: int,
        sizes: Sequence[int],
        strides: Sequence[int],
        dtype: np.dtype[Any],
        conversion: Callable[[Array], Array] | None = None,
    ) -> None:
        self.buffer = buffer
        self.conversion = conversion
        self.start = start
        self.offset = offset
        self.sizes = tuple(sizes)
        self.strides = tuple(strides)
        self.dtype = dtype
        self._array: Array | None = None
        self._shadow: Array | None = None
        self._shadow_of: Array | None = None
        self._extent: tuple[int, int] | None = None
        self._inside: bool | None = None

    @staticmethod
    def of(buffer: CheckedBuffer, sizes: Sequence[int], dtype: np.dtype[Any]) -> MemRef:
        """The whole of a buffer, row by row."""
        return MemRef(buffer, 0, 0, sizes, row_major(sizes), dtype)

    def at(self, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> MemRef:
        """Another view of the same elements."""
        return MemRef(self.buffer, self.start, offset, sizes, strides, self.dtype, self.conversion)

    @property
    def elements(self) -> int:
        return math.prod(self.sizes)

    @property
    def first_byte(self) -> int:
        """Where the element at the origin lies in the buffer."""
        return self.start + self.offset * self.dtype.itemsize

    @property
    def extent(self) -> tuple[int, int]:
        """First byte of any element and the byte behind the last one of all, counted from the buffer; equal if there is none."""
        if self._extent is None:
            self._extent = self._measure()
        return self._extent

    def _measure(self) -> tuple[int, int]:
        low = high = self.offset
        for size, stride in zip(self.sizes, self.strides, strict=True):
            if size == 0:
                return self.start, self.start
            reach = (size - 1) * stride
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        item = self.dtype.itemsize
        return self.start + low * item, self.start + (high + 1) * item

    @property
    def inside(self) -> bool:
        """Whether every element lies in the buffer."""
        if self._inside is None:
            low, high = self.extent
            self._inside = low == high or (low >= 0 and high <= self.buffer.size)
        return self._inside

    @property
    def array(self) -> Array:
        """The elements, where they lie. Only for a view that is inside its buffer."""
        if self._array is None:
            self._array = self._over(self.buffer.data, self.dtype)
        return self._array

    @property
    def shadow(self) -> Array:
        """Which bits of the elements were written. Only for a view inside its buffer."""
        written = self.buffer.shadowed()
        if self._shadow is None or self._shadow_of is not written:
            kind = _SHADOWS.get(self.dtype.itemsize) or np.dtype(f"V{self.dtype.itemsize}")
            self._shadow, self._shadow_of = self._over(written, kind), written
        return self._shadow

    def bytewise(self, marks: Array, offset: int = 0) -> Array:
        """Numbers that are kept for each byte, seen from the elements of the view; an element's bytes are the last dimension.
        The buffer begins at byte `offset` of them."""
        item, wide = self.dtype.itemsize, marks.itemsize
        if not self.elements:
            return np.empty((*self.sizes, item), marks.dtype)
        steps = tuple(wide * stride * item for stride in self.strides)
        return np.ndarray((*self.sizes, item), marks.dtype, marks, wide * (offset + self.first_byte), (*steps, wide))

    def covers(self) -> bool:
        """Whether it is the whole of its buffer, row by row."""
        steps = zip(self.sizes, self.strides, row_major(self.sizes), strict=True)
        rows = all(size == 1 or stride == row for size, stride, row in steps)
        return rows and self.extent == (0, self.buffer.size)

    def _over(self, memory: Array, dtype: np.dtype[Any]) -> Array:
        if not self.elements:
            return np.empty(self.sizes, dtype)
        steps = tuple(stride * self.dtype.itemsize for stride in self.strides)
        return np.ndarray(self.sizes, dtype, memory, self.first_byte, steps)


def row_major(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides of contiguous rows, in elements."""
    strides: list[int] = []
    running = 1
    for size in reversed(sizes):
        strides.append(running)
        running *= size
    return tuple(reversed(strides))


@cache
def complete(dtype: np.dtype[Any]) -> Any:
    """The shadow of an element of which every bit was written."""
    kind = _SHADOWS.get(dtype.itemsize)
    return np.void(b"\xff" * dtype.itemsize) if kind is None else kind.type(np.iinfo(kind).max)
