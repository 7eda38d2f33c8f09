"""States of a breadth-first search and what may come next in them, many at once, in flat arrays: see `frontier.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.ranges import Integers

SKIP = -1


@dataclass(frozen=True, slots=True)
class States:
    """Rows are states. `floor`, `placed` and `offset` have a column for each buffer, the others one for each step.

    `level` is as in `frontier.py`, `left` counts the bytes still to be placed and `count` the buffers.
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
