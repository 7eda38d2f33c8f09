"""What the arena planner is asked about: buffers with live ranges and sizes, ties between them, memory to borrow.

Time is the schedule: an integer step per operation, live ranges half open. Memory is counted in bytes. A buffer
occupies its *footprint*, its size rounded up to its alignment, so that neighbours of mixed alignment cost what the
lower bound says they cost. A buffer of size zero occupies nothing and shares its offset with anyone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from hotdesk.planning.problem.numbers import ALIGNMENT, shown, whole

BufferId = int | str
PoolId = int | str


@dataclass(frozen=True, slots=True)
class Buffer:
    """`size` bytes needed at every step of the half-open live range `[lower, upper)` but those of its `gaps`.

    `alignment` is a power of two and holds for the offset; `fixed_offset`, in bytes, pins the buffer in the arena. `gaps`
    are half-open intervals inside the live range, in order and apart, in which nothing reads what the buffer holds and it
    is written anew before something does: others may have its bytes then, and it keeps its offset.
    Raises ValueError for what is no integer, an empty live range, a negative size, an alignment
    that is not a power of two, a fixed offset that is negative or misaligned, and gaps that are empty, out of order, or
    reach an end of the live range.
    """

    id: BufferId
    lower: int
    upper: int
    size: int
    alignment: int = ALIGNMENT
    fixed_offset: int | None = None
    gaps: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not (type(self.lower) is type(self.upper) is type(self.size) is type(self.alignment) is int):
            self._make_whole("lower", "upper", "size", "alignment")
        if self.lower >= self.upper:
            raise ValueError(f"{self._name}: expected lower < upper, got [{shown(self.lower)}, {shown(self.upper)})")
        if self.size < 0:
            raise ValueError(f"{self._name}: expected a size of 0 bytes or more, got {shown(self.size)}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"{self._name}: expected an alignment that is a power of two, got {shown(self.alignment)}")
        if self.gaps:
            self._reject_gaps()
        if self.fixed_offset is None:
            return
        if type(self.fixed_offset) is not int:
            self._make_whole("fixed_offset")
        if self.fixed_offset < 0 or self.fixed_offset % self.alignment:
            raise ValueError(
                f"{self._name}: expected a fixed offset that is a multiple of {shown(self.alignment)}, "
                f"got {shown(self.fixed_offset)}"
            )

    @property
    def _name(self) -> str:
        return f"buffer {shown(self.id)}"

    def _make_whole(self, *fields: str) -> None:
        for field in fields:
            value = whole(self._name, field.replace("_", " "), getattr(self, field))
            object.__setattr__(self, field, value)  # the instance is not handed out yet

    def _reject_gaps(self) -> None:
        steps = [self.lower, *(whole(self._name, "a gap", step) for gap in self.gaps for step in gap), self.upper]
        if any(before >= after for before, after in pairwise(steps)):
            raise ValueError(
                f"{self._name}: expected gaps apart and in order, inside [{self.lower}, {self.upper}) and not at its "
                f"ends, got {', '.join(f'[{shown(start)}, {shown(end)})' for start, end in self.gaps)}"
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
    Raises ValueError for an offset that is no integer.
    """

    buffer_id: BufferId
    host_id: BufferId
    offset: int = 0

    def __post_init__(self) -> None:
        owner = f"the tie of {shown(self.buffer_id)} to {shown(self.host_id)}"
        object.__setattr__(self, "offset", whole(owner, "offset", self.offset))


@dataclass(frozen=True, slots=True)
class Pool:
    """Borrowed memory: `capacity` bytes that belong to someone else and lie idle during the `free` step intervals.

    A caller's result buffer is free until its first write, a donated input after its last read. A buffer may live here
    only if its whole live range lies inside free intervals and `offset + size <= capacity`; a live range without gaps lies
    inside one of them. Offsets count from the pool's base, which its owner must align at least as strictly as any buffer
    it should host. Each byte of a footprint that lives here costs `cost`, however short it lives.
    Free intervals that touch are joined: at no step in between does the memory belong to its owner.
    Raises ValueError for what is no integer, a negative capacity or cost, and intervals that are empty, out of order
    or overlapping.
    """

    id: PoolId
    capacity: int
    free: tuple[tuple[int, int], ...]
    cost: int = 0

    def __post_init__(self) -> None:
        name = f"pool {shown(self.id)}"
        for field in ("capacity", "cost"):
            value = whole(name, field, getattr(self, field))
            if value < 0:
                unit = " bytes" if field == "capacity" else ""
                raise ValueError(f"{name}: expected a {field} of 0{unit} or more, got {shown(value)}")
            object.__setattr__(self, field, value)
        object.__setattr__(self, "free", self._joined(name))

    def _joined(self, name: str) -> tuple[tuple[int, int], ...]:
        """The free intervals, those that touch as one."""
        found: list[tuple[int, int]] = []
        for interval in self.free:
            start, end = (whole(name, "a free interval", step) for step in interval)
            if start >= end:
                raise ValueError(
                    f"{name}: expected a free interval with start < end, got [{shown(start)}, {shown(end)})"
                )
            if found and start < found[-1][1]:
                raise ValueError(
                    f"{name}: expected free intervals in order and disjoint, "
                    f"got one that starts at {start} before {found[-1][1]}"
                )
            if found and start == found[-1][1]:
                start = found.pop()[0]
            found.append((start, end))
        return tuple(found)


def adjacent(parts: Iterable[Buffer]) -> tuple[Tie, ...]:
    """Ties that put `parts` one after another in memory, without a byte between: a concatenation written in place."""
    return tuple(Tie(after.id, before.id, before.size) for before, after in pairwise(parts))


def pinned_top(buffer: Buffer) -> int:
    """First byte above a pinned buffer's footprint; 0 for a buffer that is not pinned."""
    return 0 if buffer.fixed_offset is None else buffer.fixed_offset + buffer.footprint
