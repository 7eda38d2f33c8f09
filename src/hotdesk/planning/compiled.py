"""The states and moves of `frontier.py` in compiled code, where the package `numba` is installed (extra `exact`).

Children are ranked by the waste there is once all levels have risen, which takes making each of them. In compiled code
that costs 3 to 6 microseconds; from the array operations of `frontier.py`, which rank by the waste before, it is not to
be had at that price. Compiling takes some seconds, once: the code is kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.frontier import NARROW, SCALE, earlier_twins, maximal_steps
from hotdesk.planning.instance import Instance, common_unit
from hotdesk.planning.orders import by_area
from hotdesk.planning.ranges import Integers
from hotdesk.planning.taken import Taken


def available() -> bool:
    """Whether `numba` can be imported."""
    return find_spec("numba") is not None


@dataclass(frozen=True, slots=True)
class States:
    """Rows are states; `arrays` are the floor, level, left and count of `kernels.py`."""

    arrays: tuple[Integers, Integers, Integers, Integers]
    offset: Integers
    key: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True)
class Children:
    """What may come next in states: for each, the row of its parent and the buffer placed, or -1 for none.

    `wasted` is the weighted waste of the child, `filled` the area below its levels, `key` tells what is placed.
    """

    parents: States
    row: NDArray[np.int64]
    buffer: NDArray[np.int64]
    wasted: NDArray[np.int64]
    filled: NDArray[np.int64]
    key: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: NDArray[np.intp]) -> Children:
        columns = (self.row, self.buffer, self.wasted, self.filled, self.key)
        return Children(self.parents, *(column[rows] for column in columns))


class CompiledFrontier:
    """As `frontier.Frontier`. Buffers are numbered anew, those of largest area first, which go first among equals.

    `facts` are what the moves of `kernels.py` look up.
    """

    def __init__(self, instance: Instance, capacity: int, softness: float = 8.0) -> None:
        from hotdesk.planning import beam_kernels, kernels

        self._kernels, self._settle = beam_kernels, kernels.settle
        self._order = np.array(by_area(instance), dtype=np.int64)
        self.unit = common_unit(instance)
        self.capacity = capacity // self.unit
        kind = np.int32 if self.capacity < 1 << 28 else np.int64
        self._kind = kind
        self._far = kind(np.iinfo(kind).max // 4)
        size = (np.array(instance.size, dtype=np.int64)[self._order] // self.unit).astype(kind)
        steps = maximal_steps(instance)
        lower = steps.searchsorted(np.array(instance.lower)[self._order])
        upper = steps.searchsorted(np.array(instance.upper)[self._order])
        covered = (lower <= np.arange(len(steps))[:, None]) & (np.arange(len(steps))[:, None] < upper)
        self._most = int(covered.sum(1).max(initial=0)) + 1
        self._count = covered.sum(1, dtype=np.int32)
        self._load = covered @ size.astype(np.int64)
        self._taken = Taken.of(instance, self._order.tolist(), steps, self.unit, self._far)
        self.facts = self._known(instance, lower, upper, size, len(steps))
        self._shift = max(self.capacity.bit_length() - NARROW, 0)
        self._ranks = self._weighed(instance, softness)
        self._spare = self._empty(1)

    def _known(
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
        columns = (lower, upper, size, (self.capacity - size.astype(np.int64)).astype(self._kind))
        masks = -meets.astype(self._kind)
        room = (self.capacity - self._taken.total).astype(self._kind)
        taken = (self._taken.bottoms, self._taken.tops, self._taken.step_bottoms, self._taken.step_tops)
        return columns, masks, padded, slots, room, taken, self._far, (table, passed, before, after)

    def _weighed(self, instance: Instance, softness: float) -> tuple[Any, ...]:
        room = np.maximum(self.capacity - self._taken.total - self._load, 0) * (1024 / max(self.capacity, 1))
        weight = (SCALE / (room + softness)).astype(np.int64)
        random = np.random.default_rng(1)
        tag = random.integers(1 << 62, size=len(instance), dtype=np.int64)
        step_tag = random.integers(1 << 62, size=len(self._load), dtype=np.int64)
        return weight, self._load, self._shift, earlier_twins(instance, self._order.tolist()), tag, step_tag

    def _empty(self, rows: int) -> tuple[Integers, Integers, Integers, Integers]:
        n, steps = len(self._order), len(self._load)
        wide, narrow, left = (np.zeros((rows, width), dtype=self._kind) for width in (n, steps, steps))
        return wide, narrow, left, np.zeros((rows, steps), dtype=np.int32)

    @property
    def volume(self) -> int:
        """The area of the whole arena, in the measure of `Children.filled`."""
        return (self.capacity >> self._shift) * len(self._load)

    def root(self) -> States:
        """The one state in which nothing is placed, or none where it cannot lead to a placement."""
        fits = bool(np.all(self._load + self._taken.total <= self.capacity)) and self._taken.highest <= self.capacity
        start = self._empty(int(fits))
        if fits:
            start[2][0] = self._load
            start[3][0] = self._count
            if not self._settle(tuple(column[0] for column in start), self.facts):
                start = self._empty(0)
        offset = np.zeros((len(start[0]), len(self._order)), dtype=self._kind)
        return States(start, offset, np.zeros(len(start[0]), dtype=np.int64))

    def solution(self, states: States) -> list[int] | None:
        """Offsets in bytes by buffer, from the first state that has placed all."""
        complete = np.flatnonzero((states.arrays[0] == self._far).all(1))
        if not complete.size:
            return None
        return self.in_bytes(states.offset[complete[0]])

    def numbers(self, buffers: Sequence[int]) -> NDArray[np.int64]:
        """What `buffers` of the instance are called here."""
        return np.argsort(self._order)[np.array(buffers, dtype=np.int64)]

    @property
    def twins(self) -> NDArray[np.intp]:
        """See `frontier.earlier_twins`."""
        return self._ranks[3]

    def in_bytes(self, places: Integers) -> list[int]:
        """Offsets by buffer of the instance, from places by the numbers here."""
        offsets = np.empty(len(self._order), dtype=np.int64)
        offsets[self._order] = places
        return [int(offset) * self.unit for offset in offsets]

    def children(self, states: States) -> list[Children]:
        """All children of the states but those that cannot lead to a placement."""
        room = len(states) * self._most
        found = tuple(np.empty(room, dtype=np.int64) for _ in range(5))
        given = (states.arrays, states.offset, states.key)
        total, _ = self._kernels.look(*given, self.facts, self._ranks, self._spare, found)
        row, buffer, wasted, filled, key = (column[:total] for column in found)
        return [Children(states, row, buffer, wasted, filled, key)]

    def make(self, parts: list[Children]) -> States:
        """The states that `parts` stand for."""
        rows = sum(map(len, parts))
        arrays = self._empty(rows)
        offset = np.empty((rows, len(self._order)), dtype=self._kind)
        start = 0
        for part in parts:
            parents = part.parents
            self._kernels.make(part.row, part.buffer, parents.arrays, parents.offset, self.facts, arrays, offset, start)
            start += len(part)
        return States(arrays, offset, np.concatenate([part.key for part in parts]))
