"""A depth-first walk over the moves of `kernels.py`, in code that `numba` compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hotdesk.planning.kernels import find_step, move, rests

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""


@njit(cache=True, nogil=True)
def dive(stack: Any, preferred: Ints, facts: Any, twin: Ints, offsets: Ints, dead: Ints, most: int) -> tuple[int, int]:
    """Walks down from the state in the first row of `stack`, whose rows are states along the way; at most `most` moves.

    At the step with the lowest level, buffers that could come next are tried as `preferred` has them, then passing them all
    over. Returns 1 where all buffers found a place, which `offsets` has then, -1 where there is none, and 0 where moves or
    rows of the stack ran out; and the number of moves.

    Rows of `dead`, if it has any, are states that lead nowhere, as `is_known` writes them; they do so for other orders too.
    """
    floors, levels, left, count = stack
    lower, upper, _, _ = facts[0]
    far = facts[6]
    rows, n = len(floors), len(preferred)
    choices = np.empty((rows, n + 1), dtype=np.int32)
    ahead = np.zeros(rows, dtype=np.int32)
    keys = np.empty((rows if len(dead) else 0, n), dtype=dead.dtype)
    depth = moves = 0
    arrived = True
    while depth >= 0:
        if arrived:
            step, lowest = find_step(levels[depth], left[depth], count[depth], far)
            if lowest >= far:
                return 1, moves
            choices[depth, 0] = -1
            ahead[depth] = 1
            arrived = False
            if len(dead) and is_known(dead, keys[depth], floors[depth], offsets, facts):
                depth -= 1
                continue
            for k in range(n - 1, -1, -1):
                i = preferred[k]
                waits = twin[i] >= 0 and floors[depth, twin[i]] < far
                if waits or floors[depth, i] != lowest or step < lower[i] or upper[i] <= step:
                    continue
                if rests(i, floors[depth], offsets, facts):
                    choices[depth, ahead[depth]] = i
                    ahead[depth] += 1
        if ahead[depth] == 0:
            if len(dead):
                dead[slot(keys[depth], len(dead))] = keys[depth]
            depth -= 1
            continue
        if moves == most or depth + 1 == rows:
            return 0, moves
        ahead[depth] -= 1
        i = choices[depth, ahead[depth]]
        moves += 1
        below = depth + 1
        floors[below, :], levels[below, :] = floors[depth], levels[depth]
        left[below, :], count[below, :] = left[depth], count[depth]
        place = floors[depth, i] if i >= 0 else 0
        state = (floors[below], levels[below], left[below], count[below])
        if not move(i, state, facts):
            continue
        if i >= 0:
            offsets[i] = place
        depth, arrived = below, True
    return -1, moves


@njit(cache=True, nogil=True)
def is_known(dead: Ints, key: Ints, floor: Ints, offsets: Ints, facts: Any) -> bool:
    """Whether a state is among the `dead`. Writes its key: all that what follows depends on.

    That is the floor of each buffer, and whether the buffer rests there: lower tops than floors no longer matter.
    """
    far = facts[6]
    for i in range(len(floor)):
        key[i] = 2 * floor[i] + (floor[i] < far and rests(i, floor, offsets, facts))
    known = dead[slot(key, len(dead))]
    equal = True
    for i in range(len(key)):
        equal &= known[i] == key[i]
    return equal


@njit(cache=True, nogil=True)
def slot(key: Ints, rows: int) -> int:
    """The row of a table of so many that a key has; another one may have it too."""
    mixed: Any = np.uint64(14695981039346656037)
    for i in range(len(key)):
        mixed = (mixed ^ np.uint64(key[i])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(29)
    return mixed % np.uint64(rows)
