"""An independent check of plans: nothing here is shared with the code that makes them.

A plan is right when every buffer is placed exactly once and in the problem's order; offsets are aligned, not
negative, and where pinned; loans lie inside their pool's capacity and its free intervals; what is tied lies in one
memory, as far apart as the tie says; no two buffers needed at one step overlap in the same memory, padding included,
but where ties connect them; the arena reaches every top; and the plan costs what its loans do. A buffer of size zero
takes nothing: not of the arena, nor of a pool.

Rules of one buffer alone are looked at for all of them at once, in columns. To compare buffers, the memories are looked at one
after the other in time. What a buffer, or several that are tied, have of a memory are pieces: some bytes during some steps. In
order of their first steps, each piece meets those behind it that start before it ends. Where that makes few pairs, they are
compared all at once. Else the steps are swept: bytes are inserted where they are needed from and removed where they no longer
are, and among bytes that lie apart, a newcomer can only collide with the neighbours of its place. A newcomer that collides is
reported and left out, so there one fault may hide another of the same step, never all of them. O(n log n), plus the cost of
keeping a sorted list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, PoolId, Tie
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem

ViolationCode = Literal[
    "missing",
    "duplicate",
    "unknown",
    "order",
    "pool",
    "negative",
    "misaligned",
    "pinned",
    "capacity",
    "window",
    "tied",
    "overlap",
    "arena",
    "cost",
]


class Violation(NamedTuple):
    """A rule, by its code, the buffers that break it and a sentence for people."""

    code: ViolationCode
    buffer_ids: tuple[BufferId, ...]
    message: str


Column = NDArray[Any]
"""64-bit integers, or Python's where numbers are too large for those."""

_SMALL = 1 << 61
"""Sums of two numbers below this fit into 64 bits."""


class LiveStretches(NamedTuple):
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
    def of(cls, buffers: Sequence[Buffer]) -> LiveStretches:
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


class Table(NamedTuple):
    """What is placed, a row for each buffer.

    `needs` tells when they are needed. `occupied` is the size with padding, in bytes. `spaces` are the memories that something
    lies in, pools and, under None, the arena; `space` is the number of each row's among them.
    """

    needs: LiveStretches
    placements: Sequence[Placement]
    size: Column
    occupied: Column
    offset: Column
    space: NDArray[np.intp]
    spaces: tuple[PoolId | None, ...]

    @classmethod
    def of(cls, needs: LiveStretches, sizes: Sequence[int], placements: Sequence[Placement]) -> Table:
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


FEW = 1 << 17
"""Pairs of pieces in one memory that are needed at one step, up to which each is compared; counted over all memories."""

_Piece = tuple[int, int, int, int, int]
"""Steps `[lower, upper)` and bytes `[bottom, top)` that a buffer has, or several that are tied have together; and its row."""


def check_overlaps(table: Table, groups: Mapping[BufferId, BufferId]) -> list[Violation]:
    """The buffers that overlap. `groups` has one name for all that ties connect."""
    faults: list[Violation] = []
    pieces, turns = _in_turn(table, _pieces(table, groups))
    later = np.searchsorted(pieces[0], pieces[1]) - np.arange(1, len(pieces[0]) + 1)
    pairs = _compared(pieces, later) if later.sum() <= FEW else _by_sweep(pieces)
    for first, second, moment in pairs:
        names = table.needs.names[first], table.needs.names[second]
        k = int(table.space[first])
        where = "the arena" if table.spaces[k] is None else f"pool {table.spaces[k]!r}"
        message = f"{names[0]!r} and {names[1]!r} overlap in {where} at step {moment - turns[k]}"
        faults.append(Violation("overlap", names, message))
    return faults


def _in_turn(table: Table, pieces: Sequence[Column]) -> tuple[Sequence[Column], list[int]]:
    """The pieces, one memory after the other in time, so that what lies in two of them does not meet; in order of the first step.

    The second is what was added to the steps of each memory.
    """
    since, until, bottom, top, row = pieces
    span = int(until.max(initial=0)) - int(since.min(initial=0)) if len(row) else 0
    turns = [k * span for k in range(len(table.spaces))]
    if len(turns) > 1:
        added = column(turns)[table.space[row]]
        since, until = since + added, until + added
    order = np.argsort(since, kind="stable")
    return [each[order] for each in (since, until, bottom, top, row)], turns


def _pieces(table: Table, groups: Mapping[BufferId, BufferId]) -> Sequence[Column]:
    """The columns of `_Piece`, of all memories."""
    alone = table.size > 0
    if not groups:
        return _alone(table, alone)
    names = table.needs.names
    tied = np.array([name in groups for name in names], dtype=np.bool_)
    together: dict[tuple[int, BufferId], list[_Piece]] = {}
    taken = (each.tolist() for each in _alone(table, alone & tied))
    for piece in zip(*taken, strict=True):
        i = piece[-1]
        together.setdefault((int(table.space[i]), groups[names[i]]), []).append(piece)
    columns = _alone(table, alone & ~tied)
    united = [piece for needed in together.values() for piece in _united(needed)]
    if united:
        columns = [
            np.concatenate((own, column(others)))
            for own, others in zip(columns, zip(*united, strict=True), strict=True)
        ]
    return columns


def _alone(table: Table, chosen: NDArray[np.bool_]) -> list[Column]:
    """The columns of `_Piece`, of the rows that are chosen, each by itself."""
    needs = table.needs
    mine = chosen[needs.row].nonzero()[0]
    row = needs.row[mine]
    bottom = table.offset[row]
    return [needs.since[mine], needs.until[mine], bottom, bottom + table.occupied[row], row]


def _united(needed: Sequence[_Piece]) -> Iterator[_Piece]:
    """What buffers that are tied have at each step: bytes that several of them have come once."""
    steps = sorted({step for since, until, *_ in needed for step in (since, until)})
    waiting = sorted(needed, key=lambda piece: -piece[0])
    there: list[_Piece] = []
    for step, following in pairwise(steps):
        there = [piece for piece in there if piece[1] > step]
        while waiting and waiting[-1][0] == step:
            there.append(waiting.pop())
        reached: int | None = None
        for _, _, at, top, i in sorted(there, key=lambda piece: piece[2]):
            if reached is None or top > reached:
                yield step, following, at if reached is None else max(at, reached), top, i
                reached = top


def _compared(pieces: Sequence[Column], later: NDArray[np.intp]) -> Iterator[tuple[int, int, int]]:
    """Rows that overlap, the one that is there first before the other, and the step at which they meet."""
    lower, _, bottom, top, row = pieces
    ends = np.cumsum(later)
    pairs = np.arange(int(later.sum()))
    second = pairs + np.repeat(np.arange(1, len(later) + 1) - ends + later, later)
    hit = np.flatnonzero((np.repeat(bottom, later) < top[second]) & (bottom[second] < np.repeat(top, later)))
    for i, j in zip(np.searchsorted(ends, hit, side="right"), second[hit], strict=True):
        yield int(row[i]), int(row[j]), int(lower[j])


def _by_sweep(pieces: Sequence[Column]) -> Iterator[tuple[int, int, int]]:
    """As `_compared`; ends before starts, as live ranges are half open."""
    lower, upper, bottom, top, row = (each.tolist() for each in pieces)
    events = [(step, 1, k) for k, step in enumerate(lower)]
    events += [(step, 0, k) for k, step in enumerate(upper)]
    inside: list[tuple[int, int, int]] = []
    for step, starts, k in sorted(events):
        entry = (bottom[k], top[k], k)
        at = bisect_left(inside, entry)
        if not starts:
            if at < len(inside) and inside[at] == entry:
                del inside[at]
            continue
        beside = [inside[n] for n in (at - 1, at) if 0 <= n < len(inside)]
        hit = [other for other in beside if other[0] < entry[1] and entry[0] < other[1]]
        for other in hit:
            yield row[other[2]], row[k], step
        if not hit:
            insort(inside, entry)


def check(problem: Problem, plan: Plan) -> tuple[Violation, ...]:
    """Every rule of the module docstring that `plan` breaks; empty for a correct plan.

    Of many buffers that overlap in one memory, some pairs may be left out; never all.
    """
    return Checker(problem).check([buffer.size for buffer in problem.buffers], problem.pools, plan)


class Checker:
    """Checks plans of problems that differ in their sizes and pools alone: what follows from live ranges is read once."""

    def __init__(self, problem: Problem) -> None:
        """The sizes of the problem's buffers, and its pools, are of no meaning."""
        self._needs = LiveStretches.of(problem.buffers)
        self._ties = problem.ties
        self._groups = _groups(problem.ties)

    def check(self, sizes: Sequence[int], pools: Sequence[Pool], plan: Plan) -> tuple[Violation, ...]:
        """As the function, for sizes of the buffers, in bytes and in their order. Raises ValueError for too few or too many."""
        needs = self._needs
        faults = _check_census(needs.names, plan)
        if faults:
            rows = {b.id: (b, size) for b, size in zip(needs.buffers, sizes, strict=True)}
            first = {p.buffer_id: p for p in reversed(plan.placements) if p.buffer_id in rows}
            chosen = [rows[name] for name in first]
            known = LiveStretches.of([b for b, _ in chosen])
            table = Table.of(known, [size for _, size in chosen], tuple(first.values()))
        else:
            table = Table.of(needs, sizes, plan.placements)
        faults += check_places(table, pools, plan.arena)
        if self._ties:
            faults += _check_ties(self._ties, {p.buffer_id: p for p in table.placements})
        faults += _check_cost(table, pools, plan.cost)
        faults += check_overlaps(table, self._groups)
        return tuple(faults)


def _check_census(expected: Sequence[BufferId], plan: Plan) -> list[Violation]:
    got = [placement.buffer_id for placement in plan.placements]
    if got == expected:
        return []  # no problem has an id twice
    known = set(expected)
    seen: set[BufferId] = set()
    faults: list[Violation] = []
    for name in got:
        if name not in known:
            faults.append(Violation("unknown", (name,), f"{name!r} is placed but is not in the problem"))
        elif name in seen:
            faults.append(Violation("duplicate", (name,), f"{name!r} is placed more than once"))
        seen.add(name)
    faults += [Violation("missing", (name,), f"{name!r} has no placement") for name in expected if name not in seen]
    if not faults:
        faults.append(Violation("order", (), "placements are not in the order of the problem's buffers"))
    return faults


def _check_ties(ties: Sequence[Tie], placed: Mapping[BufferId, Placement]) -> list[Violation]:
    faults: list[Violation] = []
    for tie in ties:
        tied, host = placed.get(tie.buffer_id), placed.get(tie.host_id)
        if tied is None or host is None:
            continue  # the census tells
        if tied.pool != host.pool or tied.offset != host.offset + tie.offset:
            message = (
                f"{tie.buffer_id!r} is at {_spot(tied)}, not {tie.offset} bytes after {tie.host_id!r} at {_spot(host)}"
            )
            faults.append(Violation("tied", (tie.host_id, tie.buffer_id), message))
    return faults


def _spot(placement: Placement) -> str:
    return f"{placement.offset}" if placement.pool is None else f"{placement.offset} of pool {placement.pool!r}"


def _check_cost(table: Table, pools: Sequence[Pool], cost: int) -> list[Violation]:
    rates = {pool.id: pool.cost for pool in pools if pool.cost}
    due = 0
    if rates:
        for placement, occupied in zip(table.placements, table.occupied.tolist(), strict=True):
            if placement.pool is not None:
                due += occupied * rates.get(placement.pool, 0)
    return [] if due == cost else [Violation("cost", (), f"the loans cost {due}, the plan says {cost}")]


def _groups(ties: Sequence[Tie]) -> dict[BufferId, BufferId]:
    """For each buffer that is tied, one that stands for all that ties connect with it."""
    parent: dict[BufferId, BufferId] = {}

    def root(name: BufferId) -> BufferId:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for tie in ties:
        parent[root(tie.buffer_id)] = root(tie.host_id)
    return {name: root(name) for name in tuple(parent)}
