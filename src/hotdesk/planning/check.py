"""An independent check of a plan: nothing here is shared with the code that makes plans.

A plan is right when every buffer is placed exactly once and in the problem's order; offsets are aligned, not
negative, and where pinned; loans lie inside their pool's capacity and its free intervals; what is tied lies in one
memory, as far apart as the tie says; no two buffers needed at one step overlap in the same memory, padding included,
but where ties connect them; the arena reaches every top; and the plan costs what its loans do. A sweep over the steps
inserts a buffer's bytes where it is needed from and removes them where it no longer is; buffers that ties connect come
as the bytes they have together. Among bytes that lie apart, a newcomer can only collide with the neighbours of its
place. A newcomer that collides is reported and left out, so one fault may hide another of the same step, never all of
them. O(n log n), plus the cost of keeping a sorted list.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from hotdesk.planning.buffers import Buffer, BufferId, Pool, Tie
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem

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


_Resident = tuple[Buffer, int]
"""A buffer and its offset."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule, by its code, the buffers that break it and a sentence for people."""

    code: ViolationCode
    buffer_ids: tuple[BufferId, ...]
    message: str


def check(problem: Problem, plan: Plan) -> tuple[Violation, ...]:
    """Every rule of the module docstring that `plan` breaks; empty for a correct plan."""
    buffers = {buffer.id: buffer for buffer in problem.buffers}
    faults = _check_census(problem, plan)
    placed = {p.buffer_id: p for p in reversed(plan.placements) if p.buffer_id in buffers}
    pools = {pool.id: pool for pool in problem.pools}
    for name, placement in placed.items():
        faults += _check_place(buffers[name], placement, pools, plan.arena)
    faults += _check_ties(problem.ties, placed)
    faults += _check_cost(buffers, placed, pools, plan.cost)
    groups = _groups(problem.ties)
    spaces: dict[int | str | None, dict[BufferId, list[_Resident]]] = {}
    for name, placement in placed.items():
        if buffers[name].size:
            space = spaces.setdefault(placement.pool, {})
            space.setdefault(groups.get(name, name), []).append((buffers[name], placement.offset))
    for space, residents in spaces.items():
        faults += _check_overlap(space, [piece for group in residents.values() for piece in _pieces(group)])
    return tuple(faults)


def _check_census(problem: Problem, plan: Plan) -> list[Violation]:
    expected = [buffer.id for buffer in problem.buffers]
    got = [placement.buffer_id for placement in plan.placements]
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
    if not faults and got != expected:
        faults.append(Violation("order", (), "placements are not in the order of the problem's buffers"))
    return faults


def _check_place(buffer: Buffer, placement: Placement, pools: dict[int | str, Pool], arena: int) -> list[Violation]:
    """The rules that concern one buffer alone."""
    who, offset = (buffer.id,), placement.offset
    faults: list[Violation] = []
    if offset < 0:
        faults.append(Violation("negative", who, f"{buffer.id!r} is at offset {offset}"))
    if offset % buffer.alignment:
        faults.append(Violation("misaligned", who, f"{buffer.id!r} at {offset} is not aligned to {buffer.alignment}"))
    if buffer.fixed_offset is not None and (placement.pool is not None or offset != buffer.fixed_offset):
        faults.append(Violation("pinned", who, f"{buffer.id!r} is pinned at {buffer.fixed_offset}, got {offset}"))
    if placement.pool is not None:
        return faults + _check_loan(buffer, placement, pools)
    top = offset + _occupied(buffer)
    if buffer.size and top > arena:
        faults.append(Violation("arena", who, f"{buffer.id!r} reaches {top}, the arena ends at {arena}"))
    return faults


def _check_loan(buffer: Buffer, placement: Placement, pools: dict[int | str, Pool]) -> list[Violation]:
    who = (buffer.id,)
    pool = pools.get(placement.pool) if placement.pool is not None else None
    if pool is None:
        return [Violation("pool", who, f"{buffer.id!r} is placed in {placement.pool!r}, which is no pool")]
    faults: list[Violation] = []
    end = placement.offset + buffer.size
    if end > pool.capacity:
        faults.append(Violation("capacity", who, f"{buffer.id!r} ends at {end} in a pool of {pool.capacity} bytes"))
    needed = _needed(buffer)
    if not all(any(start <= since and until <= stop for start, stop in pool.free) for since, until in needed):
        live = f"[{buffer.lower}, {buffer.upper})"
        faults.append(Violation("window", who, f"{buffer.id!r} is live in {live}, when {pool.id!r} is not all free"))
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


def _check_cost(
    buffers: Mapping[BufferId, Buffer], placed: Mapping[BufferId, Placement], pools: Mapping[int | str, Pool], cost: int
) -> list[Violation]:
    due = sum(
        _occupied(buffers[name]) * pools[placement.pool].cost
        for name, placement in placed.items()
        if placement.pool is not None and placement.pool in pools
    )
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


def _needed(buffer: Buffer) -> list[tuple[int, int]]:
    """The live range without its gaps."""
    stretches: list[tuple[int, int]] = []
    since = buffer.lower
    for start, end in buffer.gaps:
        stretches.append((since, start))
        since = end
    return [*stretches, (since, buffer.upper)]


_Piece = tuple[int, int, int, int, BufferId]
"""Steps `[lower, upper)` and bytes `[bottom, top)` that a buffer has, or several that are tied have together."""


def _pieces(group: Sequence[_Resident]) -> Iterator[_Piece]:
    """What the buffers of a group have at each step: bytes that several of them have come once."""
    needed = [(since, until, buffer, offset) for buffer, offset in group for since, until in _needed(buffer)]
    if len(group) == 1:
        yield from ((since, until, at, at + _occupied(buffer), buffer.id) for since, until, buffer, at in needed)
        return
    steps = sorted({step for since, until, *_ in needed for step in (since, until)})
    waiting = sorted(needed, key=lambda piece: -piece[0])
    there: list[tuple[int, int, Buffer, int]] = []
    for step, following in pairwise(steps):
        there = [piece for piece in there if piece[1] > step]
        while waiting and waiting[-1][0] == step:
            there.append(waiting.pop())
        reached: int | None = None
        for _, _, buffer, at in sorted(there, key=lambda piece: piece[3]):
            top = at + _occupied(buffer)
            if reached is None or top > reached:
                yield step, following, at if reached is None else max(at, reached), top, buffer.id
                reached = top


def _check_overlap(space: int | str | None, pieces: Sequence[_Piece]) -> list[Violation]:
    """Sweep what lies in one memory; ends before starts, as live ranges are half open."""
    events = [(piece[0], 1, k) for k, piece in enumerate(pieces)]
    events += [(piece[1], 0, k) for k, piece in enumerate(pieces)]
    inside: list[tuple[int, int, int]] = []
    faults: list[Violation] = []
    for step, starts, k in sorted(events):
        _, _, bottom, top, name = pieces[k]
        entry = (bottom, top, k)
        at = bisect_left(inside, entry)
        if not starts:
            if at < len(inside) and inside[at] == entry:
                del inside[at]
            continue
        beside = [inside[n] for n in (at - 1, at) if 0 <= n < len(inside)]
        hit = [other for other in beside if other[0] < entry[1] and entry[0] < other[1]]
        for other in hit:
            where = "the arena" if space is None else f"pool {space!r}"
            pair = (pieces[other[2]][4], name)
            faults.append(Violation("overlap", pair, f"{pair[0]!r} and {pair[1]!r} overlap in {where} at step {step}"))
        if not hit:
            insort(inside, entry)
    return faults


def _occupied(buffer: Buffer) -> int:
    """Bytes with padding: the next multiple of the alignment at or above the size."""
    over = buffer.size % buffer.alignment
    return buffer.size + (buffer.alignment - over if over else 0)
