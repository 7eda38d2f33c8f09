"""An independent check of a plan: nothing here is shared with the code that makes plans.

A plan is right when every buffer is placed exactly once and in the problem's order; offsets are aligned, not
negative, and where pinned; loans lie inside their pool's capacity and one of its free intervals; no two buffers live
at one step overlap in the same memory, padding included; and the arena reaches every top. A sweep over the steps
inserts a buffer's bytes where its live range starts and removes them where it ends; among bytes that lie apart, a
newcomer can only collide with the neighbours of its place. A newcomer that collides is reported and left out, so one
fault may hide another of the same step, never all of them. O(n log n), plus the cost of keeping a sorted list.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import Literal

from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Buffer, BufferId, Pool, Problem

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
    "overlap",
    "arena",
]


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
    spaces: dict[int | str | None, list[tuple[Buffer, int]]] = {}
    for name, placement in placed.items():
        if buffers[name].size:
            spaces.setdefault(placement.pool, []).append((buffers[name], placement.offset))
    for space, residents in spaces.items():
        faults += _check_overlap(space, residents)
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
    if not any(start <= buffer.lower and buffer.upper <= stop for start, stop in pool.free):
        live = f"[{buffer.lower}, {buffer.upper})"
        faults.append(Violation("window", who, f"{buffer.id!r} is live in {live}, when {pool.id!r} is not all free"))
    return faults


def _check_overlap(space: int | str | None, residents: list[tuple[Buffer, int]]) -> list[Violation]:
    """Sweep the residents of one memory; ends before starts, as live ranges are half open."""
    events = [(buffer.lower, 1, k) for k, (buffer, _) in enumerate(residents)]
    events += [(buffer.upper, 0, k) for k, (buffer, _) in enumerate(residents)]
    inside: list[tuple[int, int, int]] = []
    faults: list[Violation] = []
    for step, starts, k in sorted(events):
        buffer, bottom = residents[k]
        entry = (bottom, bottom + _occupied(buffer), k)
        at = bisect_left(inside, entry)
        if not starts:
            if at < len(inside) and inside[at] == entry:
                del inside[at]
            continue
        beside = [inside[n] for n in (at - 1, at) if 0 <= n < len(inside)]
        hit = [other for other in beside if other[0] < entry[1] and entry[0] < other[1]]
        for other in hit:
            where = "the arena" if space is None else f"pool {space!r}"
            pair = (residents[other[2]][0].id, buffer.id)
            faults.append(Violation("overlap", pair, f"{pair[0]!r} and {pair[1]!r} overlap in {where} at step {step}"))
        if not hit:
            insort(inside, entry)
    return faults


def _occupied(buffer: Buffer) -> int:
    """Bytes with padding: the next multiple of the alignment at or above the size."""
    over = buffer.size % buffer.alignment
    return buffer.size + (buffer.alignment - over if over else 0)
