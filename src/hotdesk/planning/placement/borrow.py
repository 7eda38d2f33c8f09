"""Which buffers move into the pools, so that the arena need not hold them.

Space in a pool is scarce, and a buffer taken out of the arena helps only where the arena is fullest. Two orders
compete: by area, and *peak*, which looks again after every loan: at the step where the arena's load is
largest, the largest buffer that fits some pool goes, until the peak cannot be lowered. Each offers all remaining
eligible buffers to the pools as well. Within an order, a buffer takes the smallest pool that holds it, and there the
best gap. The order that leaves the smallest peak in the arena wins, the earliest among equals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement import orders
from hotdesk.planning.placement.greedy import shelf
from hotdesk.planning.placement.instance import Instance, build_instance, profile
from hotdesk.planning.problem.bounds import Eligibility, eligibility
from hotdesk.planning.problem.buffers import Pool
from hotdesk.planning.problem.problem import Problem

LOAN_ORDERS: dict[str, Callable[[Instance], list[int]] | None] = {"borrow/peak": None, "borrow/area": orders.by_area}
"""The orders that compete, the earlier one among equals; None stands for the peak order, which is found as it goes."""


@dataclass(frozen=True, slots=True)
class Loan:
    """A place in `Problem.pools[pool]`, at a byte offset from its base."""

    pool: int
    offset: int


@dataclass(frozen=True, slots=True)
class Movable:
    """Buffers that may leave the arena, by their numbers.

    Attributes:
        lower, upper: the steps `[lower, upper)`, counted from 0, in which each is needed.
        sizes: in bytes.
        footprints: the same with padding.
        alignment: in bytes, of each.
        load: of the arena at each step, with all of them in it.
    """

    lower: Sequence[int]
    upper: Sequence[int]
    sizes: Sequence[int]
    footprints: Sequence[int]
    alignment: Sequence[int]
    load: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem, instance: Instance) -> Movable:
        """The buffers of an instance, which is one of this problem."""
        obstacles = instance.obstacles
        lower = (*instance.lower, *(o.lower for o in obstacles))
        upper = (*instance.upper, *(o.upper for o in obstacles))
        weight = (*instance.size, *(o.top - o.bottom for o in obstacles))
        load = profile(lower, upper, weight, max(upper, default=0))
        sizes = [problem.buffers[position].size for position in instance.origin]
        return cls(instance.lower, instance.upper, sizes, instance.size, instance.alignment, load)


def borrow(problem: Problem, target: int) -> dict[int, Loan]:
    """Loans by position in `Problem.buffers`.

    Stops at the first order that lowers the arena's peak to `target` bytes.
    """
    eligible = eligibility(problem)
    if not eligible.any():
        return {}
    instance = build_instance(problem)
    movable = Movable.of(problem, instance)
    eligible = eligible[list(instance.origin)]
    best: dict[int, Loan] = {}
    lowest: int | None = None
    for by in LOAN_ORDERS.values():
        lender = _Lender(problem.pools, movable, eligible)
        lender.serve(None if by is None else by(instance))
        peak = lender.peak()
        if lowest is None or peak < lowest:
            best, lowest = lender.loans, peak
        if peak <= target:
            break
    return {instance.origin[i]: loan for i, loan in best.items()}


def lower_peaks(
    pools: Sequence[Pool], movable: Movable, eligible: Eligibility, above: int
) -> tuple[dict[int, Loan], int] | None:
    """Loans by number, in the peak order alone, and the peak that they leave: one look for a place for each buffer and pool.

    Args:
        pools: to borrow from.
        movable: the buffers in the arena.
        eligible: which of them may lie in which pools.
        above: None is the answer where no loans leave a smaller peak than this in the arena, in bytes.
    """
    if not eligible.any():
        return None
    lender = _Lender(pools, movable, eligible)
    return (lender.loans, lender.peak()) if lender.serve(None, above) else None


class _Lender:
    """The pools while one order is served: what they hold, and the load left in the arena.

    Each buffer is offered once: a pool that has no room for it will not have any later, when it holds more.
    """

    __slots__ = ("_load", "_movable", "_pools", "_untried", "loans")

    def __init__(self, pools: Sequence[Pool], movable: Movable, eligible: Eligibility) -> None:
        self._movable = movable
        self._untried: list[bool] = np.any(eligible, axis=1).tolist()
        room = sum(self._untried)
        smallest_first = sorted(range(len(pools)), key=lambda k: pools[k].capacity)
        hosts: list[list[bool]] = [eligible[:, k].tolist() for k in smallest_first]
        self._pools = [
            (k, pools[k].capacity, may_host, shelf(room)) for k, may_host in zip(smallest_first, hosts, strict=True)
        ]
        self._load: NDArray[np.int64] = np.array(movable.load)
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
        footprints, lower = self._movable.footprints, self._movable.lower
        return sorted(compress(range(len(footprints)), self._untried), key=lambda i: (-footprints[i], lower[i]))

    def _lower_peaks(self, largest_first: Sequence[int]) -> None:
        """Lend the largest buffer live at the peak, again and again, until none that is live there fits."""
        untried = np.array(largest_first, dtype=np.int64)
        lower = np.array(self._movable.lower, dtype=np.int64)[untried]
        upper = np.array(self._movable.upper, dtype=np.int64)[untried]
        there: dict[int, Iterator[int]] = {}  # at each step that was the peak, those it has not come to
        while True:
            step = int(self._load.argmax())
            if step not in there:
                live: list[int] = untried[(lower <= step) & (step < upper)].tolist()
                there[step] = iter(live)
            if not any(map(self._lend, there[step])):
                return

    def _lend(self, i: int) -> bool:
        """Move buffer `i` into its smallest pool with room; False where none has, or it was offered before."""
        if not self._untried[i]:
            return False
        self._untried[i] = False
        movable = self._movable
        lower, upper, size, alignment = movable.lower[i], movable.upper[i], movable.footprints[i], movable.alignment[i]
        for k, capacity, may_host, there in self._pools:
            most = capacity - movable.sizes[i]  # the padding of the last one needs no memory
            if may_host[i] and (offset := there.find(lower, upper, size, alignment, most)) <= most:
                there.insert(lower, upper, offset, offset + size)
                self._load[lower:upper] -= size
                self.loans[i] = Loan(k, offset)
                return True
        return False
