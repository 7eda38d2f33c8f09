"""A depth-first walk over the moves of `kernels.py`, in code that `numba` compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hotdesk.planning.kernels import exceeds, find_step, move

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""


@njit(cache=True, nogil=True)
def dive(stack: Any, preferred: Ints, facts: Any, twin: Ints, offsets: Ints, most: int) -> tuple[int, int]:
    """Walks down from the state in the first row of `stack`, whose rows are states along the way; at most `most` moves.

    At the step with the lowest level, buffers that could come next are tried as `preferred` has them, then passing them all
    over. Returns 1 where all buffers found a place, which `offsets` has then, -1 where there is none, and 0 where moves or
    rows of the stack ran out; and the number of moves.
    """
    floors, levels, left, count = stack
    columns, meets, rounding, slots, capacity, far, scratch = facts
    lower, upper, _, _ = columns
    rows, n = len(floors), len(preferred)
    choices = np.empty((rows, n + 1), dtype=np.int32)
    ahead = np.zeros(rows, dtype=np.int32)
    depth = moves = 0
    arrived = True
    while depth >= 0:
        if arrived:
            step, lowest = find_step(levels[depth], left[depth], count[depth], far)
            if lowest >= far:
                return 1, moves
            choices[depth, 0] = -1
            ahead[depth] = 1
            for k in range(n - 1, -1, -1):
                i = preferred[k]
                waits = twin[i] >= 0 and floors[depth, twin[i]] < far
                if floors[depth, i] == lowest and lower[i] <= step and step < upper[i] and not waits:
                    choices[depth, ahead[depth]] = i
                    ahead[depth] += 1
            arrived = False
        if ahead[depth] == 0:
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
        if not move(i, state, columns, meets, rounding, slots, scratch, far) or exceeds(
            levels[below], left[below], capacity
        ):
            continue
        if i >= 0:
            offsets[i] = place
        depth, arrived = below, True
    return -1, moves
