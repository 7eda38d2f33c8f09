"""Greedy placement: one buffer after the other, each into the best gap among those already placed.

A buffer meets only placed buffers whose live range overlaps its own. Among the holes they leave it takes the smallest
that holds it, or else the space above them. The order is all that varies: by size and by breadth after Pisarchyk and
Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), where breadth is the load of a step; by
start, the order in which an allocator at run time would meet them; by area, size times lifetime, and by bulk, between
size and area. Pinned buffers come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from hotdesk.planning import orders
from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.instance import Instance, Layout
from hotdesk.planning.shelf import shelf

GREEDY_ORDERS: dict[str, Callable[[Instance], list[int]]] = {
    "greedy/size": orders.by_size,
    "greedy/bulk": orders.by_bulk,
    "greedy/breadth": orders.by_breadth,
    "greedy/area": orders.by_area,
    "greedy/start": orders.by_start,
}

WORTH_COMPILING = 5_000
"""Buffers from which on placement runs in compiled code, where `numba` is installed."""

_STRETCH = 500
"""Placements between two looks at the clock."""

_NO_CEILING = 1 << 62


def greedy_below(
    instance: Instance,
    order: Sequence[int],
    name: str,
    ceiling: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Layout | None:
    """Place every buffer once, in `order`. O(n) array work a buffer; no list of overlapping pairs.

    None as soon as a top passes `ceiling` bytes, and at the deadline.
    """
    compiled = len(instance) >= WORTH_COMPILING and find_spec("numba") is not None
    placing = (_Compiled if compiled else _Placing)(instance)
    ceiling = _NO_CEILING if ceiling is None else ceiling
    arena = max((obstacle.top for obstacle in instance.obstacles), default=0)
    for start in range(0, len(order), _STRETCH):
        if deadline.passed():
            return None
        arena = max(arena, placing.place(order[start : start + _STRETCH], ceiling))
        if arena > ceiling:
            return None
    return Layout(tuple(placing.offsets), arena, name)


class _Placing:
    """Offsets as far as they are known, and what is on the shelf."""

    __slots__ = ("_instance", "_shelf", "offsets")

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._shelf = shelf(len(instance) + len(instance.obstacles))
        for obstacle in instance.obstacles:
            self._shelf.insert(obstacle.lower, obstacle.upper, obstacle.bottom, obstacle.top)
        self.offsets = [0] * len(instance)

    def place(self, order: Sequence[int], ceiling: int) -> int:
        """Puts some more buffers on the shelf and returns their highest top, the first one above `ceiling` if there is one."""
        instance, highest = self._instance, 0
        for i in order:
            lower, upper, size = instance.lower[i], instance.upper[i], instance.size[i]
            offset = self._shelf.find(lower, upper, size, instance.alignment[i])
            highest = max(highest, offset + size)
            if highest > ceiling:
                break
            self._shelf.insert(lower, upper, offset, offset + size)
            self.offsets[i] = offset
        return highest


class _Compiled:
    """As `_Placing`, in compiled code."""

    __slots__ = ("_buffers", "_count", "_kernels", "_offsets", "_shelf")

    def __init__(self, instance: Instance) -> None:
        from hotdesk.planning import shelf_kernels

        self._kernels = shelf_kernels
        columns = (instance.lower, instance.upper, instance.size, instance.alignment)
        self._buffers = tuple(np.array(column, dtype=np.int64) for column in columns)
        room = len(instance) + len(instance.obstacles)
        self._shelf = tuple(np.zeros(room, dtype=np.int64) for _ in columns)
        self._offsets = np.zeros(len(instance), dtype=np.int64)
        self._count = len(instance.obstacles)
        for k, obstacle in enumerate(sorted(instance.obstacles, key=lambda o: o.bottom)):
            row = (obstacle.bottom, obstacle.top, obstacle.lower, obstacle.upper)
            for column, value in zip(self._shelf, row, strict=True):
                column[k] = value

    @property
    def offsets(self) -> list[int]:
        return self._offsets.tolist()

    def place(self, order: Sequence[int], ceiling: int) -> int:
        """As `_Placing.place`."""
        some = np.array(order, dtype=np.int64)
        self._count, highest = self._kernels.place_some(
            some, self._buffers, self._shelf, self._count, self._offsets, ceiling
        )
        return int(highest)
