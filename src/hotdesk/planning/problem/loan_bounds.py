"""A lower bound on the arena where pools lend to whole buffers alone, by dynamic programming over time.

`bounds.py` counts the bytes that pools can lend at one step. But a buffer is not cut in pieces, so a pool whose capacity is
no sum of footprints has bytes left over; and it lies in one memory all its life, so one that is lent at a step is lent at all
others. The least that the arena holds at its fullest, of all ways to share out the buffers by these rules, bounds every plan:
bytes are counted, and not where they lie. It is found so:

1. What counts are the steps at which more than the known bound is live, and of the buffers live there those that a pool may
   host. The others stay in the arena, where they cost nothing.
2. A state says in which memory each of these buffers is that have begun and not ended. Of the ways to one state that counts
   by which the arena held least so far.
3. A state goes where a pool holds more than fits, or the arena as much as that of a plan which is known already. Where none
   is left, no plan is smaller.
4. The question stays open where there are too many states.

So the answer is exact where few buffers have a choice at one time, however many there are. Source: dynamic programming over a
path decomposition, that of the interval graph of the live ranges (Bodlaender, "A partial k-arboretum of graphs with bounded
treewidth", 1998). Before such a bound is claimed, `bound_checker.py` looks at it, which shares no code with this.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hotdesk.planning.problem.bound_checker import check_bound
from hotdesk.planning.problem.bounds import Bound, Events, eligibility
from hotdesk.planning.problem.problem import Problem

MOST_STATES = 4_096
"""At one step."""

MOST_WORK = 100_000
"""States made, over all steps of one question: some tenths of a second."""

_ARENA = -1

_States = dict[tuple[int, ...], int]
"""For each state the most that the arena held on the best way to it, in bytes."""


class _Fullest(NamedTuple):
    """The least that the arena holds at its fullest, in bytes, and the number of the step up to which that shows."""

    bytes: int
    last: int


def raised_by_loans(problem: Problem, bound: Bound, arena: int) -> Bound:
    """The bound, or a higher one that is proven and checked; `arena` are the bytes of a plan that is known.

    A bound that shows at one step is of the kind "live", else "lent". Problems with ties or gaps keep theirs.
    """
    if arena <= bound.bytes or not problem.pools or not problem.is_plain:
        return bound
    loans = _Loans(problem, bound.bytes)
    found = loans.fullest(arena)
    if found is None or found.bytes <= bound.bytes:
        return bound
    first, last = loans.shown(found.bytes)
    steps = loans.steps[first : last + 1]
    named = tuple(b.id for b in problem.buffers if b.size and any(b.lower <= step < b.upper for step in steps))
    raised = Bound(found.bytes, steps[0], named, "live" if len(steps) == 1 else "lent")
    return raised if check_bound(problem, raised) == "proven" else bound


class _Loans:
    """The buffers that pools may host, at the steps at which more than `floor` bytes are live."""

    def __init__(self, problem: Problem, floor: int) -> None:
        buffers = [buffer for buffer in problem.buffers if buffer.size]
        hosts = eligibility(problem)[[k for k, buffer in enumerate(problem.buffers) if buffer.size]]
        events = Events.of(
            np.array([buffer.lower for buffer in buffers], dtype=np.int64),
            np.array([buffer.upper for buffer in buffers], dtype=np.int64),
        )
        loads = events.loads(np.array([buffer.footprint for buffer in buffers], dtype=np.int64))
        tight = loads > floor
        self.steps: list[int] = events.moments[tight].tolist()
        self._floor = floor
        self._fixed: list[int] = loads[tight].tolist()  # at each step, in bytes, what no pool may host
        self._live: list[list[int]] = [[] for _ in self.steps]  # at each step, what one may
        self._hosts: list[list[int]] = [np.flatnonzero(row).tolist() for row in hosts]
        self._footprints = [buffer.footprint for buffer in buffers]
        self._padding = [buffer.footprint - buffer.size for buffer in buffers]
        self._capacities = [pool.capacity for pool in problem.pools]
        when = {
            i: range(bisect_left(self.steps, buffers[i].lower), bisect_left(self.steps, buffers[i].upper))
            for i, pools in enumerate(self._hosts)
            if pools
        }
        self._is_open = sum(map(len, when.values())) > MOST_WORK  # each is looked at at each of its steps
        for i, steps in () if self._is_open else when.items():
            for k in steps:
                self._live[k].append(i)
                self._fixed[k] -= buffers[i].footprint

    def fullest(self, ceiling: int, first: int = 0) -> _Fullest | None:
        """The least that the arena holds at its fullest from a step on, or `ceiling` if it is no less; None if that is open."""
        if self._is_open:
            return None
        states: _States = {(): self._floor}
        there: list[int] = []
        work = 0
        for k in range(first, len(self.steps)):
            states, there = _without_ended(states, there, frozenset(self._live[k]))
            known = frozenset(there)
            for i in self._live[k]:
                if i not in known:
                    there.append(i)
                    states = self._sharing_out(states, there, ceiling - self._fixed[k])
                    work += len(states)
                    if len(states) > MOST_STATES or work > MOST_WORK:
                        return None
            states = self._counted(states, there, self._fixed[k], ceiling)
            work += len(states)
            if not states:
                return _Fullest(ceiling, k)
        return _Fullest(min(states.values()), len(self.steps) - 1)

    def shown(self, bytes_: int) -> tuple[int, int]:
        """The numbers of the first and the last of as few steps as `bytes_` shows at: what `fullest` found."""
        proof = self.fullest(bytes_)
        first, last = 0, len(self.steps) - 1 if proof is None else proof.last
        beyond = last + 1
        while first + 1 < beyond:
            middle = (first + beyond) // 2
            later = self.fullest(bytes_, middle)
            if later is not None and later.bytes == bytes_:
                first, last = middle, later.last
            else:
                beyond = middle
        return first, last

    def _sharing_out(self, states: _States, members: Sequence[int], room: int) -> _States:
        """The states with each memory for the last of the members; `room` are bytes that the members must leave of the arena."""
        newest = members[-1]
        found: _States = {}
        for state, most in states.items():
            if self._held((*state, _ARENA), members, _ARENA) < room:
                found[(*state, _ARENA)] = most
            for pool in self._hosts[newest]:
                made = (*state, pool)
                # the padding of one of them, the last, needs no memory
                padding = max(self._padding[i] for i, where in zip(members, made, strict=True) if where == pool)
                if self._held(made, members, pool) - padding <= self._capacities[pool]:
                    found[made] = most
        return found

    def _counted(self, states: _States, members: Sequence[int], fixed: int, ceiling: int) -> _States:
        """The states with what the arena holds now."""
        loads = {state: fixed + self._held(state, members, _ARENA) for state in states}
        return {state: max(most, loads[state]) for state, most in states.items() if loads[state] < ceiling}

    def _held(self, state: Sequence[int], members: Sequence[int], memory: int) -> int:
        """Bytes of the members that a memory has."""
        return sum(self._footprints[i] for i, where in zip(members, state, strict=True) if where == memory)


def _without_ended(states: _States, members: Sequence[int], live: frozenset[int]) -> tuple[_States, list[int]]:
    """The states by the memories of those members alone that are live, and these."""
    kept = [place for place, i in enumerate(members) if i in live]
    if len(kept) == len(members):
        return states, list(members)
    found: _States = {}
    for state, most in states.items():
        rest = tuple(state[place] for place in kept)
        found[rest] = min(most, found.get(rest, most))
    return found, [members[place] for place in kept]
