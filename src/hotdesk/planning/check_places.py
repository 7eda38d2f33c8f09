"""The part of the check that concerns each buffer alone, and the columns that it and `check_overlaps.py` read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.buffers import Buffer, BufferId, Pool, PoolId
from hotdesk.planning.plan import Placement
from hotdesk.planning.violations import Violation

Column = NDArray[Any]
"""64-bit integers, or Python's where numbers are too large for those."""

_SMALL = 1 << 61
"""Sums of two numbers below this fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What does not depend on sizes: the stretches in which buffers are needed, one or more for each.

    `row` tells the buffer of each stretch, which is needed from the step `since` on, before the step `until`; those of buffers
    with gaps are last. `names` are the ids of the buffers, `pinned` the rows of those that are.
    """

    buffers: Sequence[Buffer]
    names: list[BufferId]
    pinned: Sequence[int]
    alignment: Column
    row: NDArray[np.intp]
    since: Column
    until: Column

    @classmethod
    def of(cls, buffers: Sequence[Buffer]) -> Needs:
        """Those of buffers."""
        broken = [i for i, buffer in enumerate(buffers) if buffer.gaps]
        stretches = [(i, *each) for i in broken for each in _stretches(buffers[i])]
        whole = [i for i, buffer in enumerate(buffers) if not buffer.gaps] if broken else range(len(buffers))
        return cls(
            buffers=buffers,
            names=[buffer.id for buffer in buffers],
            pinned=[i for i, buffer in enumerate(buffers) if buffer.fixed_offset is not None],
            alignment=column([buffer.alignment for buffer in buffers]),
            row=np.array([*whole, *[i for i, _, _ in stretches]], dtype=np.intp),
            since=column([buffers[i].lower for i in whole] + [since for _, since, _ in stretches]),
            until=column([buffers[i].upper for i in whole] + [until for _, _, until in stretches]),
        )


@dataclass(frozen=True, slots=True)
class Table:
    """What is placed, a row for each buffer.

    `needs` tells when they are needed. `occupied` is the size with padding, in bytes. `spaces` are the memories that something
    lies in, pools and, under None, the arena; `space` is the number of each row's among them.
    """

    needs: Needs
    placements: Sequence[Placement]
    size: Column
    occupied: Column
    offset: Column
    space: NDArray[np.intp]
    spaces: tuple[PoolId | None, ...]

    @classmethod
    def of(cls, needs: Needs, sizes: Sequence[int], placements: Sequence[Placement]) -> Table:
        """The columns of buffers, of their sizes in bytes, and of their placements, in the same order.

        Raises ValueError where these are not as many.
        """
        if not len(needs.buffers) == len(sizes) == len(placements):
            raise ValueError(
                f"expected {len(needs.buffers)} sizes and as many placements, got {len(sizes)} and {len(placements)}"
            )
        size = column(sizes)
        pools = [placement.pool for placement in placements]
        number = {name: k for k, name in enumerate(dict.fromkeys(pools))}
        return cls(
            needs=needs,
            placements=placements,
            size=size,
            occupied=size + -size % needs.alignment,
            offset=column([placement.offset for placement in placements]),
            space=np.array([number[name] for name in pools], dtype=np.intp),
            spaces=tuple(number),
        )

    @property
    def buffers(self) -> Sequence[Buffer]:
        """One for each row; their sizes are of no meaning."""
        return self.needs.buffers

    def where(self, condition: Column) -> Iterator[tuple[Buffer, Placement]]:
        """The buffers of the rows that fulfil a condition, with their placements."""
        rows: list[int] = condition.nonzero()[0].tolist()
        return ((self.buffers[i], self.placements[i]) for i in rows)

    def within(self, space: PoolId | None) -> NDArray[np.bool_]:
        """For each row whether it lies in this memory."""
        return self.space == (self.spaces.index(space) if space in self.spaces else -1)


def column(numbers: Sequence[int]) -> Column:
    """Numbers of which any two can be added."""
    try:
        found = np.array(numbers, dtype=np.int64)
    except OverflowError:
        return np.array(numbers, dtype=object)
    small = not len(found) or (found.min() > -_SMALL and found.max() < _SMALL)
    return found if small else np.array(numbers, dtype=object)


def check_places(table: Table, pools: Sequence[Pool], arena: int) -> list[Violation]:
    """The rules that concern one buffer alone."""
    faults = [
        Violation("negative", (b.id,), f"{b.id!r} is at offset {p.offset}") for b, p in table.where(table.offset < 0)
    ]
    faults += [
        Violation("misaligned", (b.id,), f"{b.id!r} at {p.offset} is not aligned to {b.alignment}")
        for b, p in table.where(table.offset % table.needs.alignment != 0)
    ]
    faults += [
        Violation("pinned", (b.id,), f"{b.id!r} is pinned at {b.fixed_offset}, got {p.offset}")
        for b, p in ((table.buffers[i], table.placements[i]) for i in table.needs.pinned)
        if p.pool is not None or p.offset != b.fixed_offset
    ]
    top = table.offset + table.occupied
    beyond = table.within(None) & (table.size > 0) & (top > arena)
    faults += [
        Violation("arena", (b.id,), f"{b.id!r} reaches {p.offset + occupied}, the arena ends at {arena}")
        for (b, p), occupied in zip(table.where(beyond), table.occupied[beyond].tolist(), strict=True)
    ]
    known = {pool.id: pool for pool in pools}
    end = table.offset + table.size
    for space in table.spaces:
        if space is not None:
            faults += _check_loans(table, end, space, known.get(space))
    return faults


def _check_loans(table: Table, end: Column, space: PoolId, pool: Pool | None) -> list[Violation]:
    """What lies in a pool has to lie inside, while it is free. What has no byte takes none of it."""
    here = table.within(space)
    if pool is None:
        return [
            Violation("pool", (b.id,), f"{b.id!r} is placed in {space!r}, which is no pool")
            for b, _ in table.where(here)
        ]
    here = here & (table.size > 0)
    beyond = here & (end > pool.capacity)
    faults = [
        Violation("capacity", (b.id,), f"{b.id!r} ends at {reached} in a pool of {pool.capacity} bytes")
        for (b, _), reached in zip(table.where(beyond), end[beyond].tolist(), strict=True)
    ]
    for i in dict.fromkeys(_outside(table, here, pool)):
        b = table.buffers[i]
        message = f"{b.id!r} is live in [{b.lower}, {b.upper}), when {pool.id!r} is not all free"
        faults.append(Violation("window", (b.id,), message))
    return faults


def _outside(table: Table, here: Column, pool: Pool) -> list[int]:
    """Of the rows `here` those that have a stretch in none of the intervals in which a pool is free."""
    begins, ends = [start for start, _ in pool.free], [end for _, end in pool.free]
    needs = table.needs
    mine = here[needs.row].nonzero()[0]
    stretches = zip(needs.row[mine].tolist(), needs.since[mine].tolist(), needs.until[mine].tolist(), strict=True)
    found: list[int] = []
    for row, since, until in stretches:
        at = bisect_right(begins, since)
        if not at or until > ends[at - 1]:
            found.append(row)
    return sorted(found)


def _stretches(buffer: Buffer) -> list[tuple[int, int]]:
    """The live range without its gaps."""
    found: list[tuple[int, int]] = []
    since = buffer.lower
    for start, end in buffer.gaps:
        found.append((since, start))
        since = end
    return [*found, (since, buffer.upper)]
