"""What the arena planner is asked about: buffers with live ranges and sizes, ties between them, memory to borrow.

Time is the schedule: an integer step per operation, live ranges half open. Memory is counted in bytes. A buffer
occupies its *footprint*, its size rounded up to its alignment, so that neighbours of mixed alignment cost what the
lower bound says they cost. A buffer of size zero occupies nothing and shares its offset with anyone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

BufferId = int | str
PoolId = int | str


@dataclass(frozen=True, slots=True)
class Buffer:
    """`size` bytes needed at every step of the half-open live range `[lower, upper)` but those of its `gaps`.

    `alignment` is a power of two and holds for the offset; `fixed_offset`, in bytes, pins the buffer in the arena. `gaps`
    are half-open intervals inside the live range, in order and apart, in which nothing reads what the buffer holds and it
    is written anew before something does: others may have its bytes then, and it keeps its offset.
    Raises ValueError for an empty live range, a negative size, an alignment that is not a power of two, a fixed
    offset that is negative or misaligned, and gaps that are empty, out of order, or reach an end of the live range.
    """

    id: BufferId
    lower: int
    upper: int
    size: int
    alignment: int = 64
    fixed_offset: int | None = None
    gaps: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(f"buffer {self.id!r}: expected lower < upper, got [{self.lower}, {self.upper})")
        if self.size < 0:
            raise ValueError(f"buffer {self.id!r}: expected a size of 0 bytes or more, got {self.size}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"buffer {self.id!r}: expected an alignment that is a power of two, got {self.alignment}")
        if self.gaps:
            self._reject_gaps()
        if self.fixed_offset is None:
            return
        if self.fixed_offset < 0 or self.fixed_offset % self.alignment:
            raise ValueError(
                f"buffer {self.id!r}: expected a fixed offset that is a multiple of {self.alignment}, "
                f"got {self.fixed_offset}"
            )

    def _reject_gaps(self) -> None:
        steps = [self.lower, *(step for gap in self.gaps for step in gap), self.upper]
        if any(before >= after for before, after in pairwise(steps)):
            raise ValueError(
                f"buffer {self.id!r}: expected gaps apart and in order, inside [{self.lower}, {self.upper}) and not at its "
                f"ends, got {', '.join(f'[{start}, {end})' for start, end in self.gaps)}"
            )

    @property
    def footprint(self) -> int:
        """Bytes the buffer occupies: its size rounded up to its alignment."""
        return -(-self.size // self.alignment) * self.alignment

    @property
    def live(self) -> tuple[tuple[int, int], ...]:
        """The half-open intervals in which the buffer is needed: its live range without the gaps."""
        if not self.gaps:
            return ((self.lower, self.upper),)
        starts = (self.lower, *(end for _, end in self.gaps))
        ends = (*(start for start, _ in self.gaps), self.upper)
        return tuple(zip(starts, ends, strict=True))

    def is_live(self, step: int) -> bool:
        """Whether the buffer is needed at `step`."""
        return self.lower <= step < self.upper and not any(start <= step < end for start, end in self.gaps)


@dataclass(frozen=True, slots=True)
class Tie:
    """The buffer `buffer_id` starts `offset` bytes after the first byte of `host_id`, in the same memory.

    A view has its offset in what it looks into, a result written in place the offset 0 in its operand. `offset` may be
    negative. Buffers that ties connect, over others too, keep clear of one another only as far as the ties say so.
    """

    buffer_id: BufferId
    host_id: BufferId
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Pool:
    """Borrowed memory: `capacity` bytes that belong to someone else and lie idle during the `free` step intervals.

    A caller's result buffer is free until its first write, a donated input after its last read. A buffer may live here
    only if its whole live range lies inside free intervals and `offset + size <= capacity`; a live range without gaps lies
    inside one of them. Offsets count from the pool's base, which its owner must align at least as strictly as any buffer
    it should host. Each byte of a footprint that lives here costs `cost`, however short it lives.
    Raises ValueError for a negative capacity or cost and for intervals that are empty, out of order or overlapping.
    """

    id: PoolId
    capacity: int
    free: tuple[tuple[int, int], ...]
    cost: int = 0

    def __post_init__(self) -> None:
        if self.capacity < 0:
            raise ValueError(f"pool {self.id!r}: expected a capacity of 0 bytes or more, got {self.capacity}")
        if self.cost < 0:
            raise ValueError(f"pool {self.id!r}: expected a cost of 0 or more, got {self.cost}")
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


def adjacent(parts: Iterable[Buffer]) -> tuple[Tie, ...]:
    """Ties that put `parts` one after another in memory, without a byte between: a concatenation written in place."""
    return tuple(Tie(after.id, before.id, before.size) for before, after in pairwise(parts))


def pinned_top(buffer: Buffer) -> int:
    """First byte above a pinned buffer's footprint; 0 for a buffer that is not pinned."""
    return 0 if buffer.fixed_offset is None else buffer.fixed_offset + buffer.footprint
