"""An independent check of lower bounds on the arena: shares no code with what proves them.

A bound of the kind "live" or "lent" says: however its buffers are shared out among the arena and the pools, each into one
memory all its life, the arena has to hold that much at one of the steps. The proof is wrong if there is a way in which it
holds less at all of them. That way is looked for buffer by buffer, the largest first: each goes into the arena, or into a
pool that is free all its life, and back where the arena holds as much as the bound at some step, or a pool more than has room
in it. A bound of the kind "pinned" is the end of its buffer.

Open is what no sum of bytes shows: bounds of problems with ties or gaps, those that a search of placements has found, and
those of so many buffers that all ways take too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hotdesk.planning.problem.bounds import Bound
from hotdesk.planning.problem.buffers import Buffer, Pool
from hotdesk.planning.problem.problem import Problem

MOST_TRIALS = 50_000
"""Buffers put somewhere, of one bound."""

MOST_CHOICES = 200
"""Buffers of one bound that may lie in a pool."""

Verdict = Literal["proven", "refuted", "open"]


def check_bound(problem: Problem, bound: Bound) -> Verdict:
    """Whether the buffers that a bound names prove it."""
    if problem.ties or any(buffer.gaps for buffer in problem.buffers):
        return "open"
    named = [buffer for buffer in problem.buffers if buffer.id in frozenset(bound.buffer_ids)]
    if len(named) != len(bound.buffer_ids):
        return "refuted"
    if bound.kind == "pinned":
        tops = [b.fixed_offset + b.footprint for b in named if b.fixed_offset is not None]
        return "proven" if max(tops, default=0) >= bound.bytes else "refuted"
    if bound.kind not in ("live", "lent"):
        return "open"
    if bound.bytes <= 0:
        return "proven"
    if bound.kind == "live" and not all(b.lower <= bound.step < b.upper for b in named):
        return "refuted"
    steps = [bound.step] if bound.kind == "live" else sorted({b.lower for b in named})
    return _Sharing(named, problem.pools, steps, bound.bytes).verdict()


class _Sharing:
    """Looks for a way to share out buffers in which the arena holds less than `least` bytes at each of some steps."""

    def __init__(self, buffers: Sequence[Buffer], pools: Sequence[Pool], steps: Sequence[int], least: int) -> None:
        self._least, self._pools, self._trials = least, pools, 0
        hosts = [[k for k, pool in enumerate(pools) if _may_host(pool, buffer)] for buffer in buffers]
        live = [[k for k, step in enumerate(steps) if buffer.lower <= step < buffer.upper] for buffer in buffers]
        self._arena = [0] * len(steps)
        self._inside: list[list[list[Buffer]]] = [[[] for _ in steps] for _ in pools]
        choices = [each for each in zip(buffers, hosts, live, strict=True) if each[1]]
        self._choices = sorted(choices, key=lambda each: (-each[0].footprint, each[0].lower))
        for buffer, may_host, when in zip(buffers, hosts, live, strict=True):
            for k in when if not may_host else ():
                self._arena[k] += buffer.footprint

    def verdict(self) -> Verdict:
        if any(held >= self._least for held in self._arena):
            return "proven"
        if len(self._choices) > MOST_CHOICES:
            return "open"
        found = self._finds(0)
        return "open" if self._trials > MOST_TRIALS else "refuted" if found else "proven"

    def _finds(self, number: int) -> bool:
        """Whether those from a number on can be shared out, too; cut short where that takes too long."""
        if number == len(self._choices):
            return True
        _, hosts, _ = self._choices[number]
        return any(self._lends(number, pool) for pool in hosts) or self._keeps(number)

    def _lends(self, number: int, pool: int) -> bool:
        self._trials += 1
        buffer, _, live = self._choices[number]
        inside, capacity = self._inside[pool], self._pools[pool].capacity
        for k in live:
            inside[k].append(buffer)
        fits = self._trials <= MOST_TRIALS and all(_has_room(capacity, inside[k]) for k in live)
        found = fits and self._finds(number + 1)
        for k in live:
            inside[k].pop()
        return found

    def _keeps(self, number: int) -> bool:
        self._trials += 1
        buffer, _, live = self._choices[number]
        for k in live:
            self._arena[k] += buffer.footprint
        fits = self._trials <= MOST_TRIALS and all(self._arena[k] < self._least for k in live)
        found = fits and self._finds(number + 1)
        for k in live:
            self._arena[k] -= buffer.footprint
        return found


def _may_host(pool: Pool, buffer: Buffer) -> bool:
    is_free = any(start <= buffer.lower and buffer.upper <= end for start, end in pool.free)
    return is_free and buffer.fixed_offset is None and 0 < buffer.size <= pool.capacity


def _has_room(capacity: int, buffers: Sequence[Buffer]) -> bool:
    """Whether footprints go side by side into a pool; the padding of one of them, the last, may be behind its end."""
    most = max(buffer.footprint - buffer.size for buffer in buffers)
    return sum(buffer.footprint for buffer in buffers) - most <= capacity
