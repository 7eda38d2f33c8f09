"""Which buffers move into the pools, so that the arena need not hold them.

Space in a pool is scarce, and a buffer taken out of the arena helps only where the arena is fullest. Five orders
compete: by breadth, size, area and start, and *peak*, which looks again after every loan: at the step where the
arena's load is largest, the largest buffer that fits some pool goes, until the peak cannot be lowered. Each offers
all remaining eligible buffers to the pools as well. Within an order, a buffer takes the smallest pool that holds it,
and there the best gap. The order that leaves the smallest peak in the arena wins, the earliest among equals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning import orders
from hotdesk.planning.bounds import Eligibility, eligibility
from hotdesk.planning.instance import Instance, build_instance, profile
from hotdesk.planning.problem import Problem
from hotdesk.planning.shelf import shelf


@dataclass(frozen=True, slots=True)
class Loan:
    """A place in `Problem.pools[pool]`, at a byte offset from its base."""

    pool: int
    offset: int


def borrow(problem: Problem, target: int) -> dict[int, Loan]:
    """Loans by position in `Problem.buffers`.

    Stops at the first order that lowers the arena's peak to `target` bytes.
    """
    hosts = _hosts(problem, eligibility(problem))
    if not hosts:
        return {}
    instance = build_instance(problem)
    best: dict[int, Loan] = {}
    lowest: int | None = None
    for order in _competing_orders(instance):
        lender = _Lender(problem, instance, hosts)
        lender.serve(order)
        peak = lender.peak()
        if lowest is None or peak < lowest:
            best, lowest = lender.loans, peak
        if peak <= target:
            break
    return best


def lower_peaks(problem: Problem, instance: Instance, eligible: Eligibility, above: int) -> dict[int, Loan] | None:
    """Loans by position in `Problem.buffers`, in the peak order alone: one look for a place for each buffer and pool.

    Args:
        problem: without gaps or ties.
        instance: of its buffers.
        eligible: which buffers may lie in which pools.
        above: None is the answer where no loans leave a smaller peak than this in the arena, in bytes.
    """
    hosts = _hosts(problem, eligible)
    if not hosts:
        return None
    lender = _Lender(problem, instance, hosts)
    return lender.loans if lender.serve(None, above) else None


def _hosts(problem: Problem, eligible: Eligibility) -> dict[int, tuple[int, ...]]:
    """The buffers, by position, that some pool may host, with those that may, smallest capacity first."""
    smallest_first = sorted(range(len(problem.pools)), key=lambda k: problem.pools[k].capacity)
    somewhere: list[int] = np.flatnonzero(np.any(eligible, axis=1)).tolist()
    rows: list[list[bool]] = eligible[somewhere][:, smallest_first].tolist()
    return {i: tuple(compress(smallest_first, row)) for i, row in zip(somewhere, rows, strict=True)}


def _competing_orders(instance: Instance) -> Iterator[Sequence[int] | None]:
    """None stands for the peak order, which is found as it goes."""
    yield None
    yield orders.by_breadth(instance)
    yield orders.by_size(instance)
    yield orders.by_area(instance)
    yield orders.by_start(instance)


class _Lender:
    """The pools while one order is served: what they hold, and the load left in the arena.

    Each buffer is offered once: a pool that has no room for it will not have any later, when it holds more.
    """

    __slots__ = ("_hosts", "_instance", "_load", "_pools", "_shelves", "_sizes", "_tried", "loans")

    def __init__(self, problem: Problem, instance: Instance, hosts: dict[int, tuple[int, ...]]) -> None:
        self._instance = instance
        self._pools = problem.pools
        self._sizes = [problem.buffers[position].size for position in instance.origin]
        self._hosts = [hosts.get(position, ()) for position in instance.origin]
        self._shelves = [shelf(len(hosts)) for _ in problem.pools]
        self._tried = [not pools for pools in self._hosts]
        self._load = self._arena_load()
        self.loans: dict[int, Loan] = {}

    def serve(self, order: Sequence[int] | None, above: int | None = None) -> bool:
        """Whether all was offered: not where the peak order leaves no peak below `above`, as what comes then lowers none."""
        if order is None:
            order = self._largest_first()
            self._lower_peaks(order)
            if above is not None and self.peak() >= above:
                return False
        for i in order:
            self._lend(i)
        return True

    def peak(self) -> int:
        return int(self._load.max(initial=0))

    def _largest_first(self) -> list[int]:
        """What some pool may host, as `orders.by_size`."""
        size, lower = self._instance.size, self._instance.lower
        return sorted(compress(range(len(size)), self._hosts), key=lambda i: (-size[i], lower[i]))

    def _lower_peaks(self, largest_first: Sequence[int]) -> None:
        """Lend the largest buffer live at the peak, again and again, until none that is live there fits."""
        instance = self._instance
        untried = np.array(largest_first, dtype=np.int64)
        lower = np.array([instance.lower[i] for i in largest_first], dtype=np.int64)
        upper = np.array([instance.upper[i] for i in largest_first], dtype=np.int64)
        there: dict[int, Iterator[int]] = {}  # at each step that was the peak, those it has not come to
        while True:
            step = int(self._load.argmax())
            if step not in there:
                live: list[int] = untried[(lower <= step) & (step < upper)].tolist()
                there[step] = iter(live)
            if not any(self._lend(i) for i in there[step]):
                return

    def _lend(self, i: int) -> bool:
        """Move buffer `i` into its smallest pool with room; False where none has, or it was offered before."""
        if self._tried[i]:
            return False
        self._tried[i] = True
        instance, bytes_ = self._instance, self._sizes[i]
        lower, upper, size, alignment = instance.lower[i], instance.upper[i], instance.size[i], instance.alignment[i]
        for k in self._hosts[i]:
            offset = self._shelves[k].find(lower, upper, size, alignment)
            if offset + bytes_ <= self._pools[k].capacity:  # the padding of the last one needs no memory
                self._shelves[k].insert(lower, upper, offset, offset + size)
                self._load[lower:upper] -= size
                self.loans[instance.origin[i]] = Loan(k, offset)
                return True
        return False

    def _arena_load(self) -> NDArray[np.int64]:
        instance, obstacles = self._instance, self._instance.obstacles
        lower = (*instance.lower, *(o.lower for o in obstacles))
        upper = (*instance.upper, *(o.upper for o in obstacles))
        return profile(lower, upper, (*instance.size, *(o.top - o.bottom for o in obstacles)), max(upper, default=0))
