"""Offset-first placement as in `skyline.py`, from what is free in time: for some thousand buffers without lists of neighbours.

At a level of the arena, what is placed leaves gaps in time. Where a gap opens, the first buffer in the order that lives inside it
is placed, and what is left of the gap on both sides is asked again. A gap that nobody fits in stays until what is beside it ends
too. Who lives inside is an intersection of sets: who starts no sooner, who ends no later, and who is not placed yet. Sets are
integers with a bit for each buffer, the first in the order the highest, and what is left of a gap begins with the set of the
gap. Each buffer opens and splits one gap: some operations on n bits, however many are live together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import accumulate

from hotdesk.planning.instance import Instance


def stack_in_gaps(instance: Instance, order: Sequence[int], ceiling: int | None = None) -> tuple[list[int], int]:
    """Offsets by buffer, those of `skyline.stack_up`, and the highest top; that is above `ceiling` where it stopped at one.

    Buffers that are not in `order` are not placed; those in it have bytes. There are no obstacles, and there is one alignment.
    """
    size, lower, upper = instance.size, instance.lower, instance.upper
    count = len(size)
    backwards = order[::-1]
    bits = _bits(count)
    since, until = _inside(instance, backwards, bits)
    highest = sum(size) if ceiling is None else ceiling
    reached = 0
    offsets = [0] * count
    left = bits[len(order)] - 1
    tops: list[int] = []  # of what has not ended: top * count + buffer, as one integer compares faster than a pair
    level = 0
    # Gaps found by where they start and end. They are no wider than is free: what ended at both of their sides is part of them.
    end_of, start_of = [0] * len(since), [-1] * len(since)
    end_of[0], start_of[-1] = len(since) - 1, 0
    starts = [0]
    parts: list[tuple[int, int, int]] = []
    while True:
        for start in starts:
            end = end_of[start]
            inside = left & since[start] & until[end]
            if not inside:  # nor has anyone ended by step 0, where a gap ends that has become part of another one
                continue
            end_of[start], start_of[end] = 0, -1
            while True:
                rank = inside.bit_length() - 1
                i = backwards[rank]
                bit = bits[rank]
                top = level + size[i]
                if top > reached:
                    reached = top
                    if top > highest:
                        return offsets, reached
                offsets[i] = level
                left ^= bit
                inside ^= bit
                heappush(tops, top * count + i)
                middle = lower[i]
                if start < middle:
                    before = inside & until[middle]
                    if before:
                        parts.append((start, middle, before))
                    else:
                        end_of[start], start_of[middle] = middle, start
                start = upper[i]
                if start < end:
                    inside &= since[start]
                    if inside:
                        continue
                    end_of[start], start_of[end] = end, start
                if not parts:
                    break
                start, end, inside = parts.pop()
        if not left:
            return offsets, reached
        starts.clear()
        level, i = divmod(heappop(tops), count)
        above = (level + 1) * count
        while True:
            start, end = lower[i], upper[i]
            before, after = start_of[start], end_of[end]
            if before >= 0:
                start_of[start], start = -1, before
            if after:
                end_of[end], end = 0, after
            end_of[start], start_of[end] = end, start
            starts.append(start)
            if not tops or tops[0] >= above:
                break
            i = heappop(tops) % count


@lru_cache(maxsize=1)
def _bits(count: int) -> tuple[int, ...]:
    """The sets of one of `count` buffers each, and that of the next."""
    return tuple(1 << rank for rank in range(count + 1))


def _inside(instance: Instance, backwards: Sequence[int], bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Who starts at each step or later, and who has ended by then, in sets; `bits` are from the last in the order on."""
    lower, upper = instance.lower, instance.upper
    steps = max(upper, default=0) + 1
    since, until = [0] * steps, [0] * steps
    for rank, i in enumerate(backwards):
        bit = bits[rank]
        since[lower[i]] |= bit
        until[upper[i]] |= bit
    since.reverse()
    since = list(accumulate(since, int.__or__))
    since.reverse()
    return since, list(accumulate(until, int.__or__))
