"""What the beam asks of all its states, by the moves of `kernels.py`, in code that `numba` compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hotdesk.planning.kernels import below, find_step, move, rests

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""


@njit(cache=True, nogil=True)
def copy_state(source: Any, row: int, target: Any, to: int) -> Any:
    """A copy of a state, as the arrays of its row."""
    floor, level, left, count = target[0][to], target[1][to], target[2][to], target[3][to]
    floor[:] = source[0][row]
    level[:] = source[1][row]
    left[:] = source[2][row]
    count[:] = source[3][row]
    return floor, level, left, count


@njit(cache=True, nogil=True)
def look(states: Any, offsets: Ints, keys: Ints, facts: Any, ranks: Any, spare: Any, found: Any) -> tuple[int, int]:
    """Looks at all children of all states.

    Those that may lead on are told in the columns of `found`, from its first row on. Returns how many these are, and
    how many were looked at.
    """
    columns, _, _, _, _, taken, far, _ = facts
    weight, load, shift, twin, tag, step_tag = ranks
    parent, buffer, wasted, filled, key = found
    lower, upper, _, _ = columns
    _, _, step_bottoms, step_tops = taken
    total = looked = 0
    for r in range(len(keys)):
        floors = states[0][r]
        step, lowest = find_step(states[1][r], states[2][r], states[3][r], far)
        for i in range(-1, len(floors)):
            if i >= 0:
                if floors[i] != lowest or lower[i] > step or step >= upper[i]:
                    continue
                if twin[i] >= 0 and floors[twin[i]] < far:
                    continue
                if not rests(i, floors, offsets[r], facts):
                    continue
            looked += 1
            floor, level, left, count = copy_state(states, r, spare, 0)
            if not move(i, (floor, level, left, count), facts):
                continue
            waste = area = np.int64(0)
            for s in range(len(level)):
                waste += weight[s] * (np.int64(level[s] + left[s] - load[s]) >> shift)
                area += level[s]
            if len(step_bottoms):
                for s in range(len(level)):
                    waste -= weight[s] * (np.int64(below(level[s], s, step_bottoms, step_tops)) >> shift)
            parent[total] = r
            buffer[total] = i
            wasted[total] = waste
            filled[total] = area
            key[total] = keys[r] + (tag[i] if i >= 0 else step_tag[step] * (np.int64(level[step]) + 1))
            total += 1
    return total, looked


@njit(cache=True, nogil=True)
def make(
    parents: Ints, buffers: Ints, states: Any, offsets: Ints, facts: Any, out: Any, placed: Ints, start: int
) -> None:
    """Writes children that `look` found into `out` and their offsets into `placed`, from row `start` on."""
    for c in range(len(parents)):
        r, i = parents[c], buffers[c]
        placed[start + c] = offsets[r]
        if i >= 0:
            placed[start + c, i] = states[0][r, i]
        state = copy_state(states, r, out, start + c)
        move(i, state, facts)
