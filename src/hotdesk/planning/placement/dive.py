"""Depth-first search with restarts: many short walks, each preferring buffers in another order.

A state fills the arena from the bottom: each step of time has a *level*, the lowest byte at which a buffer still
to be placed can lie there, and each unplaced buffer a *floor*, the lowest offset that is left to it. Branching takes
the step with the lowest level and asks which buffer comes next there. Either it is one of those whose floor is that
level, or nothing starts there and the level rises. This walks exactly the canonical placements, in which every buffer
rests on the ground or on another one (Moffitt, "MiniMalloc", ASPLOS 2024), each once:

1. Whatever is unplaced lies at the lowest level or above, so a buffer put there raises the floor of every unplaced
   buffer that is live with it to its own top.
2. Where nothing starts, the buffers passed over rest on some buffer that is none of them: the floor of each rises to
   the lowest top that such a buffer which it meets can have.
3. Identical buffers are placed in the order of their numbers.
4. A state is dropped when, at some step, the level and the bytes still to be placed exceed the capacity.
5. A buffer whose floor was raised so far that it rests on nothing is passed over: lower down it is looked at elsewhere.
6. What is pinned stands in the way from the start (`ObstacleTables`): floors are the lowest places clear of it, and what it takes
   above a level is not there for others. A buffer that rests on nothing else rests on something pinned.

Moves are made in compiled code (`dive_kernels.py`), where the package `numba` is there (extra `exact`). How long a walk takes is
a matter of luck: in one order a placement turns up with hardly a step back, in the next not in millions. So each gets a few
thousand moves. The first prefer buffers as the offset-first heuristics do, those after by these orders with their ranks shaken.
The orders are the kind MiniMalloc takes turns at; restarts from randomised orders after Gomes, Selman and Kautz, "Boosting
Combinatorial Search Through Randomization" (AAAI 1998).

A walk that comes to an end without a placement has looked at all of them: there is none. With up to `REMEMBERED` buffers states
that lead nowhere are remembered, so that walks need not go there again, and walks become longer: to prove that there is none
takes a long one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import Answer, Instance, common_unit
from hotdesk.planning.placement.orders import by_area, by_size
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS

Integers = NDArray[Any]
"""32 or 64 bits wide, as the capacity asks for."""

_Intervals = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ObstacleTables:
    """The bytes that pinned buffers occupy, as the search looks them up: for each movable buffer, and for each step.

    Tables of intervals `[bottom, top)` in units of some bytes, in order and apart, a row for each that any column has. Columns
    with fewer end with empty ones at `far`; without pinned buffers there are no rows. `bottoms` and `tops` have a column for
    each buffer, the others one for each step.

    To a buffer all is taken that it has no room in, up to the next place it is aligned at. `total` is what is taken at a step,
    `highest` the top of all.
    """

    bottoms: Integers
    tops: Integers
    step_bottoms: Integers
    step_tops: Integers
    total: NDArray[np.int64]
    highest: int

    @classmethod
    def of(
        cls, instance: Instance, order: Sequence[int], steps: NDArray[np.int64], unit: int, far: Any
    ) -> ObstacleTables:
        """For the buffers in `order` and these compressed `steps`; integers are of the kind of `far`."""
        found = instance.obstacles
        by_buffer = [_out_of_reach(instance, i, unit) for i in order] if found else []
        by_step = [_merged(_standing(instance, step, step + 1, unit), 1) for step in steps.tolist()] if found else []
        bottoms, tops = _table(by_buffer, len(order), far)
        step_bottoms, step_tops = _table(by_step, len(steps), far)
        total = (step_tops - step_bottoms).sum(0, dtype=np.int64)
        highest = max((o.top // unit for o in found), default=0)
        return cls(bottoms, tops, step_bottoms, step_tops, total, highest)


def _out_of_reach(instance: Instance, i: int, unit: int) -> _Intervals:
    """What is taken while buffer `i` is live, with gaps that are too small for it."""
    taken = _standing(instance, instance.lower[i], instance.upper[i], unit)
    return _merged(taken, instance.size[i] // unit, max(instance.alignment[i] // unit, 1))


def _standing(instance: Instance, lower: int, upper: int, unit: int) -> _Intervals:
    """What obstacles take at the steps `[lower, upper)`, lowest first."""
    return sorted((o.bottom // unit, o.top // unit) for o in instance.obstacles if o.lower < upper and lower < o.upper)


def _merged(taken: Iterable[tuple[int, int]], least: int, alignment: int = 1) -> _Intervals:
    """Intervals with tops rounded up, those as one that less than `least` is between."""
    found: _Intervals = []
    for bottom, top in taken:
        start, end = found.pop() if found and bottom - found[-1][1] < least else (bottom, 0)
        found.append((start, max(end, top + -top % alignment)))
    return found


def _table(columns: Sequence[_Intervals], count: int, far: Any) -> tuple[Integers, Integers]:
    """Bottoms and tops, a column for each of `count` lists of intervals."""
    table = np.full((2, max(map(len, columns), default=0), count), far, dtype=np.int64)
    for k, column in enumerate(columns):
        for row, interval in enumerate(column):
            table[:, row, k] = interval
    bottoms, tops = np.minimum(table, far).astype(np.asarray(far).dtype)
    return bottoms, tops


LARGEST = 1_000
"""Buffers up to which the states along a walk are kept: their bytes grow with the square."""

_MOVES = 4
"""Of one walk, for each buffer: as many and some more lead to a placement that hardly needs a step back."""

_FEWEST = 1_000
"""Moves of one walk at least: a few milliseconds."""

REMEMBERED = 96
"""Buffers up to which states that lead nowhere are remembered: they are compared number by number."""

_DEAD = 1 << 22
"""Numbers in the table of these: 16 or 32 MB, if all of it is used."""

_GROWTH = 1.2
"""How much longer each walk is than the one before where that is done."""

_SPREADS = (0.05, 0.1, 0.2)
"""How far ranks are shaken, as a share of their number, in turn."""


def available() -> bool:
    """Whether `numba` can be imported."""
    return find_spec("numba") is not None


def require() -> None:
    """Raises ImportError, with the line that installs it, unless `numba` can be imported."""
    if not available():
        raise ImportError(
            "the strategy 'dive' needs the package 'numba'; install it with: pip install 'hotdesk[exact]'"
        )


def dive(instance: Instance, capacity: int, moves: int, *, seed: int = 1, deadline: Deadline = NO_DEADLINE) -> Answer:
    """Look for offsets below `capacity` bytes in so many moves, or until the deadline; `seed` shakes the orders.

    `numba` must be installed.
    """
    if not len(instance):
        return Answer((), exhausted=False, nodes=0)
    from hotdesk.planning.placement import dive_kernels

    tables = WalkTables(instance, capacity)
    root = tables.root()
    if root is None:
        return Answer(None, exhausted=True, nodes=0)
    each = max(_MOVES * len(instance), _FEWEST)
    remembers = len(instance) <= REMEMBERED
    rows = (2 * _FEWEST if remembers else each) + 2
    stack = tuple(np.empty((rows, *column.shape), dtype=column.dtype) for column in root)
    for column, first in zip(stack, root, strict=True):
        column[0] = first
    offsets = np.zeros(len(instance), dtype=np.int64)
    dead = np.zeros((_DEAD // len(instance) if remembers else 0, len(instance)), dtype=root[0].dtype)
    spent = 0
    for preferred in _orders(instance, seed):
        if spent >= moves or deadline.passed():
            break
        outcome, used = dive_kernels.walk(
            stack,
            tables.numbers(preferred),
            tables.facts,
            tables.twins,
            offsets,
            dead,
            min(int(each), moves - spent),
        )
        spent += int(used)
        each *= _GROWTH if remembers else 1
        if outcome:
            found = tuple(tables.in_bytes(offsets)) if outcome > 0 else None
            return Answer(found, exhausted=outcome < 0, nodes=spent)
    return Answer(None, exhausted=False, nodes=spent)


def _orders(instance: Instance, seed: int) -> Iterator[list[int]]:
    """Orders of preference without end, the same every time."""
    bases = [order(instance) for order in (*SKYLINE_ORDERS.values(), by_size)]
    yield from bases
    random = Random(seed)
    while True:
        for spread in _SPREADS:
            for base in bases:
                keys = [rank + random.random() * spread * len(base) for rank in range(len(base))]
                yield [base[rank] for rank in sorted(range(len(base)), key=keys.__getitem__)]


class WalkTables:
    """What walks look up of an instance under a capacity, in units of `unit` bytes.

    Buffers are numbered anew, those of largest area first. `facts` are the tables, `twins` as `earlier_twins` has them.
    """

    def __init__(self, instance: Instance, capacity: int) -> None:
        self._order = np.array(by_area(instance), dtype=np.int64)
        self.unit = common_unit(instance)
        self._capacity = capacity // self.unit
        kind = np.int32 if self._capacity < 1 << 28 else np.int64
        self._kind = kind
        self._far = kind(np.iinfo(kind).max // 4)
        size = (np.array(instance.size, dtype=np.int64)[self._order] // self.unit).astype(kind)
        steps = maximal_steps(instance)
        lower = steps.searchsorted(np.array(instance.lower)[self._order])
        upper = steps.searchsorted(np.array(instance.upper)[self._order])
        covered = (lower <= np.arange(len(steps))[:, None]) & (np.arange(len(steps))[:, None] < upper)
        self._count = covered.sum(1, dtype=np.int32)
        self._load = covered @ size.astype(np.int64)
        self._obstacles = ObstacleTables.of(instance, self._order.tolist(), steps, self.unit, self._far)
        self.facts = self._facts(instance, lower, upper, size, len(steps))
        self.twins = earlier_twins(instance, self._order.tolist())

    def _facts(
        self, instance: Instance, lower: NDArray[np.intp], upper: NDArray[np.intp], size: Integers, steps: int
    ) -> tuple[Any, ...]:
        rounding = np.maximum(np.array(instance.alignment, dtype=np.int64)[self._order] // self.unit, 1)
        padded = rounding.astype(self._kind) if rounding.max(initial=1) > 1 else np.zeros(0, dtype=self._kind)
        meets = (lower[:, None] < upper) & (lower < upper[:, None])
        power = np.log2(np.maximum(upper - lower, 1)).astype(np.int64)
        slots = (
            (power * steps + lower).astype(np.uint32),
            (power * steps + upper - (1 << power)).astype(np.uint32),
        )
        table = np.empty((int(power.max(initial=0)) + 1, steps), dtype=self._kind)
        passed = np.zeros(len(size), dtype=np.bool_)
        before, after = (np.empty(steps + 2, dtype=self._kind) for _ in range(2))
        columns = (lower, upper, size, (self._capacity - size.astype(np.int64)).astype(self._kind))
        masks = -meets.astype(self._kind)
        room = (self._capacity - self._obstacles.total).astype(self._kind)
        used = (self._obstacles.bottoms, self._obstacles.tops, self._obstacles.step_bottoms, self._obstacles.step_tops)
        return columns, masks, padded, slots, room, used, self._far, (table, passed, before, after)

    def root(self) -> tuple[Integers, ...] | None:
        """The state in which nothing is placed (floors, levels, what is left and how many), or None where it leads nowhere."""
        from hotdesk.planning.placement import dive_kernels

        if np.any(self._load + self._obstacles.total > self._capacity) or self._obstacles.highest > self._capacity:
            return None
        floor, level = (np.zeros(count, dtype=self._kind) for count in (len(self._order), len(self._load)))
        state = (floor, level, self._load.astype(self._kind), self._count.copy())
        return state if dive_kernels.settle(state, self.facts) else None

    def numbers(self, buffers: Sequence[int]) -> NDArray[np.int64]:
        """What `buffers` of the instance are called here."""
        return np.argsort(self._order)[np.array(buffers, dtype=np.int64)]

    def in_bytes(self, places: Integers) -> list[int]:
        """Offsets by buffer of the instance, from places by the numbers here."""
        offsets = np.empty(len(self._order), dtype=np.int64)
        offsets[self._order] = places
        return [int(offset) * self.unit for offset in offsets]


def maximal_steps(instance: Instance) -> NDArray[np.int64]:
    """Steps at which the set of live buffers is no subset of a later one's: those before some live range ends.

    What is pinned counts up to the last step of what is not.
    """
    last = max(instance.upper, default=0)
    ends = [*instance.upper, *(o.upper for o in instance.obstacles if o.upper < last)]
    return np.unique(np.array(ends, dtype=np.int64)) - 1


def earlier_twins(instance: Instance, order: Sequence[int]) -> NDArray[np.intp]:
    """For each buffer, by its place in `order`, that of the last before it that differs in its number alone, or -1."""
    last: dict[tuple[int, int, int, int], int] = {}
    twins = np.full(len(order), -1, dtype=np.intp)
    for place, i in enumerate(order):
        kind = (instance.lower[i], instance.upper[i], instance.size[i], instance.alignment[i])
        twins[place] = last.get(kind, -1)
        last[kind] = place
    return twins
