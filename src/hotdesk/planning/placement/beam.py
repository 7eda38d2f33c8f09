"""Breadth-first branch and bound over canonical placements, and as a beam where that is too much.

A state fills the arena from the bottom: each step of time has a *level*, the lowest byte at which a buffer still
to be placed can lie there, and each unplaced buffer a *floor*, the lowest offset that is left to it. Branching takes
the step with the lowest level and asks which buffer comes next there. Either it is one of those whose floor is that
level, or nothing starts there and the level rises. This walks exactly the canonical placements, in which every buffer
rests on the ground or on another one (Moffitt, "MiniMalloc", ASPLOS 2024), each once:

1. Whatever is unplaced lies at the lowest level or above, so a buffer put there raises the floor of every unplaced
   buffer that is live with it to its own top.
2. Where nothing starts, the buffers passed over rest on some buffer that is none of them: their floors rise to the
   lowest top that such a buffer can have.
3. Identical buffers are placed in the order of their numbers.
4. A state is dropped when, at some step, the level and the bytes still to be placed exceed the capacity.
5. A buffer whose floor was raised so far that it rests on nothing is passed over: lower down it is looked at elsewhere.
6. What is pinned stands in the way from the start (`obstacles.py`): floors are the lowest places clear of it, and what it takes
   above a level is not there for others. A buffer that rests on nothing else rests on something pinned.

States are kept in buckets by the area below their levels, wasted or not, and expanded from the emptiest bucket on. A bucket
keeps the `width` states with the least waste; waste weighs more at steps with little room for it. Of states with the same
buffers placed only the best is kept. One array operation treats all states of a bucket, about 7 microseconds a child on 300
buffers, whatever is installed.

An answer is a placement, or the proof that there is none where no state was ever left out, or neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import Instance, common_unit
from hotdesk.planning.placement.obstacles import Integers, ObstacleTables


class RangeMinima:
    """Minima over all buffers that cover a step.

    A range is the union of two runs of a power of two, so two entries for each buffer suffice; runs of a width are then
    split into those of half the width, down to single steps. O(buffers + steps * log(steps)) a row.
    """

    def __init__(self, lower: NDArray[np.intp], upper: NDArray[np.intp], far: int) -> None:
        self._steps = int(upper.max(initial=0))
        self._far = far
        power = np.log2(np.maximum(upper - lower, 1)).astype(np.intp)
        self._powers = int(power.max(initial=0)) + 1
        slot = np.concatenate([power * self._steps + lower, power * self._steps + upper - (1 << power)])
        order = np.argsort(slot, kind="stable")
        self._buffer = order % len(lower)
        self._slots, self._first = np.unique(slot[order], return_index=True)

    def minima(self, values: Integers) -> Integers:
        """From a column for each buffer to a column for each step; `far` where no buffer is."""
        by_buffer: Integers = np.ascontiguousarray(cast("Any", values).T)
        entries = by_buffer.take(self._buffer, axis=0)
        shape = (self._powers, self._steps, len(values))
        flat: Integers = np.full((shape[0] * shape[1], shape[2]), self._far, dtype=values.dtype)
        flat[self._slots] = np.minimum.reduceat(entries, self._first, axis=0)
        runs: Integers = cast("Any", flat).reshape(shape)
        for power in range(self._powers - 1, 0, -1):
            half = 1 << (power - 1)
            np.minimum(runs[power - 1], runs[power], out=runs[power - 1])
            np.minimum(runs[power - 1, half:], runs[power, :-half], out=runs[power - 1, half:])
        return runs[0].swapaxes(0, 1)


SKIP = -1


@dataclass(frozen=True, slots=True)
class States:
    """Rows are states. `floor`, `placed` and `offset` have a column for each buffer, the others one for each step.

    `level` is as in `beam.py`, `left` counts the bytes still to be placed and `count` the buffers.
    `key` tells states apart: equal keys mean the same buffers placed and the same levels passed over.
    """

    floor: Integers
    placed: NDArray[np.bool_]
    offset: Integers
    level: Integers
    left: Integers
    count: Integers
    key: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: NDArray[Any]) -> States:
        return States(*(column[rows] for column in self._columns()))

    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.floor, self.placed, self.offset, self.level, self.left, self.count, self.key

    @staticmethod
    def join(parts: list[States]) -> States:
        if len(parts) == 1:
            return parts[0]
        return States(*(np.concatenate(columns) for columns in zip(*(p._columns() for p in parts), strict=True)))


@dataclass(frozen=True, slots=True)
class Children:
    """What may come next in states: for each, the row of its parent and the buffer placed, or SKIP.

    `at` is the offset of the buffer, or the level that the step `step` rises to; `passed` is the floor of those passed
    over. `wasted` is the weighted waste of the child, `filled` the area below its levels, `key` its key.
    """

    parents: States
    row: NDArray[np.intp]
    buffer: NDArray[np.intp]
    at: Integers
    step: NDArray[np.intp]
    passed: Integers
    wasted: NDArray[np.int64]
    filled: NDArray[np.int64]
    key: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: NDArray[np.intp]) -> Children:
        return Children(
            self.parents,
            self.row[rows],
            self.buffer[rows],
            self.at[rows],
            self.step[rows],
            self.passed[rows],
            self.wasted[rows],
            self.filled[rows],
            self.key[rows],
        )


SCALE = 1 << 20
"""Weights of waste are integers, so that every machine ranks alike: reciprocals, times this."""

NARROW = 30
"""Bits of a level as far as ranking looks at it."""


class Frontier:
    """The moves on states of one instance under one capacity, in bytes; offsets inside count units of `unit` bytes.

    `softness` says how much waste weighs less where there is room for it, in 1024ths of the capacity.
    """

    def __init__(self, instance: Instance, capacity: int, softness: float = 8.0) -> None:
        self.unit = common_unit(instance)
        self.capacity = capacity // self.unit
        # Floors stay below twice the capacity, sums with a size below three times.
        kind = np.int16 if self.capacity < 1 << 12 else np.int32 if self.capacity < 1 << 28 else np.int64
        self._kind = kind
        self._far = int(np.iinfo(kind).max) // 4
        self._size = (np.array(instance.size, dtype=np.int64) // self.unit).astype(kind)
        rounding = np.maximum(np.array(instance.alignment, dtype=np.int64) // self.unit, 1)
        self._rounding = rounding.astype(kind) if rounding.max(initial=1) > 1 else None
        steps = maximal_steps(instance)
        lower, upper = steps.searchsorted(instance.lower), steps.searchsorted(instance.upper)
        moments = np.arange(len(steps))
        self._covers = (lower[:, None] <= moments) & (moments < upper[:, None])
        self._covered = (lower <= moments[:, None]) & (moments[:, None] < upper)
        self._meets = (lower[:, None] < upper) & (lower < upper[:, None])
        self._ranges = RangeMinima(lower, upper, self._far)
        self._area = self._size.astype(np.int64) * (upper - lower)
        self._load = (self._covers * self._size[:, None].astype(np.int64)).sum(0)
        self._obstacles = ObstacleTables.of(instance, range(len(instance)), steps, self.unit, kind(self._far))
        self._room = self.capacity - self._obstacles.total
        room = np.maximum(self._room - self._load, 0) * (1024 / max(self.capacity, 1))
        self._weight = (SCALE / (room + softness)).astype(np.int64)
        self._shift = max(self.capacity.bit_length() - NARROW, 0)
        self._twin = earlier_twins(instance, range(len(instance)))
        random = np.random.default_rng(1)
        self._tag = random.integers(1 << 62, size=len(instance), dtype=np.int64)
        self._step_tag = random.integers(1 << 62, size=len(steps), dtype=np.int64)

    @property
    def volume(self) -> int:
        """The area of the whole arena, in the measure of `Children.filled`."""
        return self.capacity * len(self._load)

    def root(self) -> States:
        """The one state in which nothing is placed, or none where it cannot lead to a placement."""
        n = len(self._size)
        start = States(
            floor=np.zeros((1, n), dtype=self._kind),
            placed=np.zeros((1, n), dtype=np.bool_),
            offset=np.zeros((1, n), dtype=self._kind),
            level=np.zeros((1, len(self._load)), dtype=self._kind),
            left=np.minimum(self._load, self._far)[None].astype(self._kind),
            count=self._covered.sum(1, dtype=np.int32)[None],
            key=np.zeros(1, dtype=np.int64),
        )
        fits = bool(np.all(self._load <= self._room)) and self._obstacles.highest <= self.capacity
        return self._settled(start) if fits else start.take(np.zeros(0, dtype=np.intp))

    def solution(self, states: States) -> list[int] | None:
        """Offsets in bytes by buffer, from the first state that has placed all."""
        complete = np.flatnonzero(states.placed.all(1))
        return [int(offset) * self.unit for offset in states.offset[complete[0]]] if complete.size else None

    def children(self, states: States) -> list[Children]:
        """All children of states that have buffers left, but those that rule 4 drops at the steps they change."""
        level = np.where(states.count > 0, states.level, self._far)
        lowest = level.min(1)
        slack = self._room.astype(self._kind) - self._obstacles.free_below(states.level) - states.left
        step = np.where(level == lowest[:, None], slack, self._far).argmin(1)
        waste = (self._room - self._load).astype(self._kind) - slack
        there = self._covered[step] & ~states.placed
        ready = there & (states.floor == lowest[:, None])
        wasted, filled = self._weighed(waste, self._weight).sum(1), states.level.sum(1, dtype=np.int64)
        return [
            self._placing(states, ready, lowest, slack, wasted, filled),
            self._passing(states, ready, there, step, lowest, slack, wasted, filled),
        ]

    def make(self, parts: list[Children]) -> States:
        """The states that `parts` stand for, with levels raised to the floors, without those that rule 4 drops."""
        return self._settled(States.join([self._apply(part) for part in parts]))

    def _settled(self, states: States) -> States:
        floor, count = states.floor, states.count
        if self._rounding is not None:
            floor += -floor % self._rounding
        self._obstacles.clear(floor, self._size)
        open_floor = np.where(states.placed, self._far, floor)
        np.copyto(states.level, np.maximum(states.level, self._ranges.minima(open_floor)), where=count > 0)
        fits = np.all(self._obstacles.free_below(states.level) + states.left <= self._room, axis=1)
        fits &= np.all(np.where(states.placed, 0, floor + self._size) <= self.capacity, axis=1)
        return states.take(fits)

    def _weighed(self, waste: Integers, weight: NDArray[np.int64]) -> NDArray[np.int64]:
        return (waste.astype(np.int64) >> self._shift) * weight

    def _placing(
        self,
        states: States,
        ready: NDArray[np.bool_],
        lowest: Integers,
        slack: Integers,
        wasted: NDArray[np.int64],
        filled: NDArray[np.int64],
    ) -> Children:
        row, buffer = np.nonzero(ready)
        twin = self._twin[buffer]
        row, buffer = (column[(twin < 0) | states.placed[row, twin]] for column in (row, buffer))
        resting = self._ground(states, row, buffer) >= lowest[row]
        row, buffer = row[resting], buffer[resting]
        lost = np.where(self._covers[buffer], lowest[row][:, None] - states.level[row], 0)
        fits = (lost <= slack[row]).all(1)
        row, buffer, lost = row[fits], buffer[fits], lost[fits]
        return Children(
            parents=states,
            row=row,
            buffer=buffer,
            at=lowest[row],
            step=np.zeros_like(row),
            passed=lowest[row],
            wasted=wasted[row] + self._weighed(lost, self._weight).sum(1),
            filled=filled[row] + lost.sum(1, dtype=np.int64) + self._area[buffer],
            key=states.key[row] + self._tag[buffer],
        )

    def _ground(self, states: States, row: NDArray[np.intp], buffer: NDArray[np.intp]) -> Integers:
        """The lowest place that what is placed leaves to a buffer.

        Its floor is higher where a step was passed over and what the buffer was to rest on then did not come.
        """
        tops = np.where(states.placed, states.offset + self._size, 0)
        ground: Integers = np.where(self._meets[buffer], tops[row], 0).max(1, initial=0)
        if self._rounding is not None:
            ground += -ground % self._rounding[buffer]
        self._obstacles.clear(ground, self._size[buffer], buffer)
        return ground

    def _passing(
        self,
        states: States,
        ready: NDArray[np.bool_],
        there: NDArray[np.bool_],
        step: NDArray[np.intp],
        lowest: Integers,
        slack: Integers,
        wasted: NDArray[np.int64],
        filled: NDArray[np.int64],
    ) -> Children:
        support = np.where(states.placed | ready, self._far, states.floor + self._size).min(1)
        floor = np.where(ready, np.maximum(states.floor, support[:, None]), states.floor)
        level = np.where(there, floor, self._far).min(1)
        lost = self._obstacles.free_below(level, step) - self._obstacles.free_below(lowest, step)
        row = np.flatnonzero((level < self._far) & (lost <= slack[np.arange(len(states)), step]))
        lost, step, level = lost[row], step[row], level[row]
        return Children(
            parents=states,
            row=row,
            buffer=np.full_like(row, SKIP),
            at=level,
            step=step,
            passed=support[row],
            wasted=wasted[row] + self._weighed(lost, self._weight[step]),
            filled=filled[row] + level - lowest[row],
            key=states.key[row] + self._step_tag[step] * (level.astype(np.int64) + 1),
        )

    def _apply(self, chosen: Children) -> States:
        parents, row = chosen.parents, chosen.row
        states = parents.take(row)
        at, buffer, every = chosen.at, chosen.buffer, np.arange(len(row))
        if len(row) and buffer[0] != SKIP:
            top = (at + self._size[buffer])[:, None]
            covers = self._covers[buffer]
            np.copyto(states.floor, np.maximum(states.floor, top), where=self._meets[buffer])
            np.copyto(states.level, top, where=covers)
            states.placed[every, buffer] = True
            states.offset[every, buffer] = at
            np.subtract(states.left, self._size[buffer][:, None], out=states.left, where=covers)
            np.subtract(states.count, 1, out=states.count, where=covers)
        elif len(row):
            level = parents.level[row].min(1, where=parents.count[row] > 0, initial=self._far)[:, None]
            ready = self._covered[chosen.step] & ~states.placed & (states.floor == level)
            np.copyto(states.floor, np.maximum(states.floor, chosen.passed[:, None]), where=ready)
            states.level[every, chosen.step] = at
        np.copyto(states.key, chosen.key)
        return states


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


LARGEST = 4_000
"""Buffers up to which a beam is worth its tables, which grow with their square."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Offsets by buffer, or None; `exhausted` says that then there are none; `nodes` counts the children looked at.

    A solver that does not count them says how many its effort is worth.
    """

    offsets: tuple[int, ...] | None
    exhausted: bool
    nodes: int


def beam(
    instance: Instance,
    capacity: int,
    width: int,
    *,
    buckets: int = 400,
    budget: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Answer:
    """Look for offsets below `capacity` bytes. Gives up after `budget` nodes, or at the deadline.

    O(width * (buffers + steps)) array work for each bucket and level passed over.
    """
    if not len(instance):
        return Answer((), exhausted=False, nodes=0)
    search = _BeamSearch(Frontier(instance, capacity), width, buckets)
    search.expand(search.frontier.root())
    while (states := search.next_states()) is not None:
        if (offsets := search.frontier.solution(states)) is not None:
            return Answer(tuple(offsets), exhausted=False, nodes=search.nodes)
        if (budget is not None and search.nodes > budget) or deadline.passed():
            return Answer(None, exhausted=False, nodes=search.nodes)
        search.expand(states)
    return Answer(None, search.complete, search.nodes)


class _BeamSearch:
    """The buckets; `complete` holds as long as no state was left out."""

    def __init__(self, frontier: Any, width: int, buckets: int) -> None:
        self.frontier = frontier
        self.complete = True
        self.nodes = 0
        self._width = width
        self._buckets: list[list[Any]] = [[] for _ in range(buckets + 1)]
        self._at = 0

    def expand(self, states: Any) -> None:
        if not len(states):
            return
        some: list[Any] = self.frontier.children(states)
        for children in filter(len, some):
            self.nodes += len(children)
            bucket = np.maximum(self._at, children.filled * (len(self._buckets) - 1) // max(self.frontier.volume, 1))
            order = np.argsort(bucket, kind="stable")
            numbers, starts = np.unique(bucket[order], return_index=True)
            ends = [*map(int, starts[1:]), len(order)]
            for number, start, end in zip(map(int, numbers), map(int, starts), ends, strict=True):
                self._buckets[number].append(children.take(order[start:end]))

    def next_states(self) -> Any:
        """The best states of the emptiest bucket that has any, or None."""
        while self._at < len(self._buckets):
            waiting = [children for children in self._buckets[self._at] if len(children)]
            self._buckets[self._at] = []
            if waiting:
                return self.frontier.make(self._best(waiting))
            self._at += 1
        return None

    def _best(self, waiting: list[Any]) -> list[Any]:
        wasted = np.concatenate([children.wasted for children in waiting])
        if len(wasted) <= self._width // 2:
            return waiting  # twins among them cost less than a proof that was possible
        key = np.concatenate([children.key for children in waiting])
        order = np.argsort(wasted, kind="stable")
        _, first = np.unique(key[order], return_index=True)
        chosen = np.sort(order[np.sort(first)[: self._width]])
        self.complete &= len(chosen) == len(wasted)
        return _select(waiting, chosen)


def _select(parts: list[Any], chosen: NDArray[np.intp]) -> list[Any]:
    """The rows of all parts, counted through, that are in the sorted `chosen`."""
    selected: list[Any] = []
    start = 0
    for children in parts:
        first, last = chosen.searchsorted((start, start + len(children)))
        if first < last:
            selected.append(children.take(chosen[first:last] - start))
        start += len(children)
    return selected
