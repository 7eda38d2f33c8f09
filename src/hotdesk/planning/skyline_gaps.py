"""Offset-first placement as in `skyline.py`, from what is free in time: for some thousand buffers without lists of neighbours.

At a level of the arena, what is placed leaves gaps in time. Where a gap opens, the first buffer in the order that lives inside it
is placed, and what is left of the gap on both sides is asked again. A gap that nobody fits in stays until what is beside it ends
too. Who lives inside is an intersection of sets: who starts no sooner, who ends no later, and who is not placed yet. Sets are
integers with a bit for each buffer, in the order, so that the first of them is the lowest bit. Each buffer opens and splits one
gap: some operations on n bits, however many are live together.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import accumulate

from hotdesk.planning.instance import Instance


def stack_in_gaps(instance: Instance, order: Sequence[int], ceiling: int | None = None) -> list[int]:
    """Offsets by buffer, none when a top would pass `ceiling`. They are those of `skyline.stack_up`.

    Buffers that are not in `order` are not placed; those in it have bytes. There are no obstacles, and there is one alignment.
    """
    size, lower, upper = instance.size, instance.lower, instance.upper
    since, until = _inside(instance, order)
    highest = sum(size) if ceiling is None else ceiling
    offsets = [0] * len(size)
    left = (1 << len(order)) - 1
    ending: dict[int, list[int]] = {}  # what is placed, by its top
    levels: list[int] = []
    level = 0
    # Gaps in which nobody fits, found by where they start and end.
    end_of, start_of = [0] * len(since), [-1] * len(since)
    gaps = [(0, len(since) - 1)]
    while True:
        for start, end in gaps:
            inside = left & since[start] & until[end]
            if not inside:
                end_of[start], start_of[end] = end, start
                continue
            first = inside & -inside
            i = order[first.bit_length() - 1]
            left ^= first
            top = level + size[i]
            if top > highest:
                return []
            offsets[i] = level
            if top in ending:
                ending[top].append(i)
            else:
                ending[top] = [i]
                heappush(levels, top)
            if start < lower[i]:
                gaps.append((start, lower[i]))
            if upper[i] < end:
                gaps.append((upper[i], end))
        if not left:
            return offsets
        level = heappop(levels)
        starts: list[int] = []
        for i in ending[level]:
            start, end = lower[i], upper[i]
            if start_of[start] >= 0:
                start_of[start], start = -1, start_of[start]
            if end_of[end]:
                end_of[end], end = 0, end_of[end]
            end_of[start], start_of[end] = end, start
            starts.append(start)
        gaps: list[tuple[int, int]] = []
        for start in starts:
            if end_of[start]:  # else it has become part of another one
                end_of[start], end = 0, end_of[start]
                start_of[end] = -1
                gaps.append((start, end))


def _inside(instance: Instance, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Who starts at each step or later, and who has ended by then: bits in the order."""
    steps = max(instance.upper, default=0) + 1
    since, until = [0] * steps, [0] * steps
    bit = 1
    for i in order:
        since[instance.lower[i]] |= bit
        until[instance.upper[i]] |= bit
        bit <<= 1
    return list(accumulate(reversed(since), int.__or__))[::-1], list(accumulate(until, int.__or__))
