"""The part of the check that compares buffers: no two in one memory may have a byte at one step, but where ties connect them.

What a buffer, or several that are tied, have of a memory are pieces: some bytes during some steps. The memories are looked at
one after the other in time, so that pieces of two of them do not meet. In order of their first steps, each piece meets those
behind it that start before it ends. Where that makes few pairs, they are compared all at once. Else the steps are swept: bytes
are inserted where they are needed from and removed where they no longer are, and among bytes that lie apart, a newcomer can only
collide with the neighbours of its place. A newcomer that collides is reported and left out, so there one fault may hide another
of the same step, never all of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.buffers import BufferId
from hotdesk.planning.check_places import Column, Table, column
from hotdesk.planning.violations import Violation

FEW = 1 << 17
"""Pairs of pieces in one memory that are needed at one step, up to which each is compared; counted over all memories."""

_Piece = tuple[int, int, int, int, int]
"""Steps `[lower, upper)` and bytes `[bottom, top)` that a buffer has, or several that are tied have together; and its row."""


def check_overlaps(table: Table, groups: Mapping[BufferId, BufferId]) -> list[Violation]:
    """The buffers that overlap. `groups` has one name for all that ties connect."""
    faults: list[Violation] = []
    pieces, turns = _in_turn(table, _pieces(table, groups))
    later = np.searchsorted(pieces[0], pieces[1]) - np.arange(1, len(pieces[0]) + 1)
    pairs = _compared(pieces, later) if later.sum() <= FEW else _swept(pieces)
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
        return _taken(table, alone)
    names = table.needs.names
    tied = np.array([name in groups for name in names], dtype=np.bool_)
    together: dict[tuple[int, BufferId], list[_Piece]] = {}
    taken = (each.tolist() for each in _taken(table, alone & tied))
    for piece in zip(*taken, strict=True):
        i = piece[-1]
        together.setdefault((int(table.space[i]), groups[names[i]]), []).append(piece)
    columns = _taken(table, alone & ~tied)
    united = [piece for needed in together.values() for piece in _united(needed)]
    if united:
        columns = [
            np.concatenate((own, column(others)))
            for own, others in zip(columns, zip(*united, strict=True), strict=True)
        ]
    return columns


def _taken(table: Table, chosen: NDArray[np.bool_]) -> list[Column]:
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


def _swept(pieces: Sequence[Column]) -> Iterator[tuple[int, int, int]]:
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
