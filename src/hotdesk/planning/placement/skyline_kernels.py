"""The skyline of `skyline.skyline_in_arrays` in code that `numba` compiles: the same offsets, a hundred times sooner."""

from __future__ import annotations

from typing import Any

from numba import njit

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""

DONE, STOPPED, TOO_HIGH, TOO_LONG = range(4)
"""All are placed; as many looks were taken as were asked for; a top is above the ceiling; the work is used up."""


@njit(cache=True, nogil=True)
def stack_some(
    heap: Any, waiting: int, buffers: Any, tops: Ints, offsets: Ints, ceiling: int, work: int, each: int, looks: int
) -> tuple[int, int, int, int]:
    """Places buffers until one of the constants above holds.

    `heap` holds the floors and the ranks of those that wait, lowest floor first, ties in order of rank. `buffers` are their first
    steps, last steps, sizes and alignments by rank. A look takes `each` and its steps of the work. Returns why it stopped, how
    many wait, the work that is left and the highest top among the new ones.
    """
    floors, ranks = heap
    lower, upper, size, alignment = buffers
    highest = 0
    while waiting:
        if looks == 0:
            return STOPPED, waiting, work, highest
        looks -= 1
        rank = ranks[0]
        work -= each + upper[rank] - lower[rank]
        if work < 0:
            return TOO_LONG, waiting, work, highest
        floor = 0
        for step in range(lower[rank], upper[rank]):
            floor = max(floor, tops[step])
        floor = (floor + alignment[rank] - 1) // alignment[rank] * alignment[rank]
        if floor == floors[0]:
            top = floor + size[rank]
            highest = max(highest, top)
            if top > ceiling:
                return TOO_HIGH, waiting, work, highest
            offsets[rank] = floor
            tops[lower[rank] : upper[rank]] = top
            waiting -= 1
            if waiting == 0:
                break
            floor, rank = floors[waiting], ranks[waiting]
        place = 0
        while 2 * place + 1 < waiting:
            child = 2 * place + 1
            if child + 1 < waiting and (
                floors[child + 1] < floors[child]
                or (floors[child + 1] == floors[child] and ranks[child + 1] < ranks[child])
            ):
                child += 1
            if floor < floors[child] or (floor == floors[child] and rank < ranks[child]):
                break
            floors[place], ranks[place] = floors[child], ranks[child]
            place = child
        floors[place], ranks[place] = floor, rank
    return DONE, 0, work, highest
