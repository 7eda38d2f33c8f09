"""Greedy placement: one buffer after the other, each into the best gap among those already placed.

A buffer meets only placed buffers whose live range overlaps its own. Among the holes they leave it takes the smallest
that holds it, or else the space above them. The order is all that varies: by size and by breadth after Pisarchyk and
Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), where breadth is the load of a step; by
start, the order in which an allocator at run time would meet them; by area, size times lifetime. Pinned buffers come
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hotdesk.planning import orders
from hotdesk.planning.instance import Instance, Layout
from hotdesk.planning.shelf import Shelf

GREEDY_ORDERS: dict[str, Callable[[Instance], list[int]]] = {
    "greedy/size": orders.by_size,
    "greedy/breadth": orders.by_breadth,
    "greedy/area": orders.by_area,
    "greedy/start": orders.by_start,
}


def greedy(instance: Instance, order: Iterable[int], name: str) -> Layout:
    """Place every buffer once, in `order`. O(n) array work a buffer; no list of overlapping pairs."""
    layout = greedy_below(instance, order, name, None)
    assert layout is not None, "without a ceiling every order leads somewhere"
    return layout


def greedy_below(instance: Instance, order: Iterable[int], name: str, ceiling: int | None) -> Layout | None:
    """As `greedy`, but None as soon as a top passes `ceiling` bytes."""
    shelf = Shelf(len(instance) + len(instance.obstacles))
    arena = 0
    for obstacle in instance.obstacles:
        shelf.insert(obstacle.lower, obstacle.upper, obstacle.bottom, obstacle.top)
        arena = max(arena, obstacle.top)
    offsets = [0] * len(instance)
    for i in order:
        lower, upper, size = instance.lower[i], instance.upper[i], instance.size[i]
        offset = shelf.find(lower, upper, size, instance.alignment[i])
        if ceiling is not None and offset + size > ceiling:
            return None
        shelf.insert(lower, upper, offset, offset + size)
        offsets[i] = offset
        arena = max(arena, offset + size)
    return Layout(tuple(offsets), arena, name)
