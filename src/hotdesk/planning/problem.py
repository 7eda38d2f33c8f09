"""What the arena planner is asked: buffers with live ranges and sizes, and memory that may be borrowed.

Time is the schedule: an integer step per operation, live ranges half open. Memory is counted in bytes. A buffer
occupies its *footprint*, its size rounded up to its alignment, so that neighbours of mixed alignment cost what the
lower bound says they cost. A buffer of size zero occupies nothing and shares its offset with anyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BufferId = int | str
PoolId = int | str

LARGEST_TOTAL = 1 << 60
"""Footprints, together, stay below this many bytes: offsets fit a signed 64-bit integer with room for rounding."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """`size` bytes needed at every step of the half-open live range `[lower, upper)`.

    `alignment` is a power of two and holds for the offset; `fixed_offset`, in bytes, pins the buffer in the arena.
    Raises ValueError for an empty live range, a negative size, an alignment that is not a power of two, and a fixed
    offset that is negative or misaligned.
    """

    id: BufferId
    lower: int
    upper: int
    size: int
    alignment: int = 64
    fixed_offset: int | None = None

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(f"buffer {self.id!r}: expected lower < upper, got [{self.lower}, {self.upper})")
        if self.size < 0:
            raise ValueError(f"buffer {self.id!r}: expected a size of 0 bytes or more, got {self.size}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"buffer {self.id!r}: expected an alignment that is a power of two, got {self.alignment}")
        if self.fixed_offset is None:
            return
        if self.fixed_offset < 0 or self.fixed_offset % self.alignment:
            raise ValueError(
                f"buffer {self.id!r}: expected a fixed offset that is a multiple of {self.alignment}, "
                f"got {self.fixed_offset}"
            )

    @property
    def footprint(self) -> int:
        """Bytes the buffer occupies: its size rounded up to its alignment."""
        return -(-self.size // self.alignment) * self.alignment


@dataclass(frozen=True, slots=True)
class Pool:
    """Borrowed memory: `capacity` bytes that belong to someone else and lie idle during the `free` step intervals.

    A caller's result buffer is free until its first write, a donated input after its last read. A buffer may live here
    only if its whole live range lies inside one free interval and `offset + size <= capacity`. Offsets count from the
    pool's base, which its owner must align at least as strictly as any buffer it should host.
    Raises ValueError for a negative capacity and for intervals that are empty, out of order or overlapping.
    """

    id: PoolId
    capacity: int
    free: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if self.capacity < 0:
            raise ValueError(f"pool {self.id!r}: expected a capacity of 0 bytes or more, got {self.capacity}")
        previous_end: int | None = None
        for start, end in self.free:
            if start >= end:
                raise ValueError(f"pool {self.id!r}: expected a free interval with start < end, got [{start}, {end})")
            if previous_end is not None and start < previous_end:
                raise ValueError(
                    f"pool {self.id!r}: expected free intervals in order and disjoint, "
                    f"got one that starts at {start} before {previous_end}"
                )
            previous_end = end


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers to place and pools to borrow from.

    Raises ValueError for an id used twice, for two pinned buffers that collide, and for sizes whose sum leaves 60 bits.
    """

    buffers: tuple[Buffer, ...]
    pools: tuple[Pool, ...] = ()

    def __post_init__(self) -> None:
        _reject_repeats("buffer", (buffer.id for buffer in self.buffers))
        _reject_repeats("pool", (pool.id for pool in self.pools))
        pinned = [b for b in self.buffers if b.fixed_offset is not None and b.size > 0]
        highest = max((pinned_top(b) for b in pinned), default=0)
        total = highest + sum(buffer.footprint for buffer in self.buffers)
        if total >= LARGEST_TOTAL:
            raise ValueError(f"expected sizes that sum to less than {LARGEST_TOTAL} bytes, got {total}")
        _reject_collisions(pinned)


def pinned_top(buffer: Buffer) -> int:
    """First byte above a pinned buffer's footprint; 0 for a buffer that is not pinned."""
    return 0 if buffer.fixed_offset is None else buffer.fixed_offset + buffer.footprint


def _reject_repeats(kind: str, ids: Iterable[int | str]) -> None:
    seen: set[int | str] = set()
    for name in ids:
        if name in seen:
            raise ValueError(f"expected every {kind} id once, got {name!r} twice")
        seen.add(name)


def _reject_collisions(pinned: Sequence[Buffer]) -> None:
    active: list[Buffer] = []
    for buffer in sorted(pinned, key=lambda b: b.lower):
        active = [other for other in active if other.upper > buffer.lower]
        for other in active:
            if (other.fixed_offset or 0) < pinned_top(buffer) and (buffer.fixed_offset or 0) < pinned_top(other):
                raise ValueError(
                    f"expected pinned buffers that are live together to lie apart, "
                    f"got {other.id!r} and {buffer.id!r} at {other.fixed_offset} and {buffer.fixed_offset}"
                )
        active.append(buffer)
