"""An independent check of a plan: nothing here, or in `check_*.py`, is shared with the code that makes plans.

A plan is right when every buffer is placed exactly once and in the problem's order; offsets are aligned, not
negative, and where pinned; loans lie inside their pool's capacity and its free intervals; what is tied lies in one
memory, as far apart as the tie says; no two buffers needed at one step overlap in the same memory, padding included,
but where ties connect them; the arena reaches every top; and the plan costs what its loans do. A buffer of size zero
takes nothing: not of the arena, nor of a pool.

Rules of one buffer alone are looked at for all of them at once, in columns (`check_places.py`); what is needed at one step is
compared pair by pair where that is little, and else by a sweep over the steps (`check_overlaps.py`). O(n log n), plus the
cost of keeping a sorted list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotdesk.planning.buffers import BufferId, Pool, Tie
from hotdesk.planning.check_overlaps import check_overlaps
from hotdesk.planning.check_places import Needs, Table, check_places
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem
from hotdesk.planning.violations import Violation


def check(problem: Problem, plan: Plan) -> tuple[Violation, ...]:
    """Every rule of the module docstring that `plan` breaks; empty for a correct plan.

    Of many buffers that overlap in one memory, some pairs may be left out; never all.
    """
    return Checker(problem).check([buffer.size for buffer in problem.buffers], problem.pools, plan)


class Checker:
    """Checks plans of problems that differ in their sizes and pools alone: what follows from live ranges is read once."""

    def __init__(self, problem: Problem) -> None:
        """The sizes of the problem's buffers, and its pools, are of no meaning."""
        self._needs = Needs.of(problem.buffers)
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
            known = Needs.of([b for b, _ in chosen])
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
