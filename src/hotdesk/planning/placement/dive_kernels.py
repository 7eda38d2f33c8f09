"""The moves of `dive.py` on one state, and a walk of such moves, in code that `numba` compiles.

`floor` is the lowest offset left to a buffer, or `far` once it is placed, `offset` its place; `level`, `left` and `count` have an
entry for each step: see `dive.py`. `facts` are those of `dive.WalkTables`. Pinned buffers are told by
`dive.ObstacleTables`, without rows where nothing is pinned; `room` is what they leave of the capacity at each step.

Integers all through, so that every machine walks alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""


@njit(cache=True, nogil=True)
def find_step(level: Ints, left: Ints, count: Ints, far: int) -> tuple[int, int]:
    """The step with the lowest level that has buffers left, the one with the least slack among equals; its level."""
    lowest = far
    for s in range(len(level)):
        if count[s] > 0 and level[s] < lowest:
            lowest = level[s]
    step = 0
    most = -1
    for s in range(len(level)):
        if count[s] > 0 and level[s] == lowest and left[s] > most:
            most = left[s]
            step = s
    return step, lowest


@njit(cache=True, nogil=True)
def pass_over(step: int, lowest: int, floor: Ints, columns: Any, scratch: Any, far: int) -> bool:
    """Raises the floors of all that could start at `lowest` at `step`, as none of them will; False where none can then.

    Those live at one step meet each other: each rests on a buffer that stays, or on the one of them that lies lowest.
    """
    lower, upper, size, limit = columns
    _, passed, before, after = scratch
    before[:] = far
    after[:] = far
    across = far
    for i in range(len(floor)):
        passed[i] = False
        if floor[i] == far:
            continue
        top = floor[i] + size[i]
        if upper[i] <= step:
            before[upper[i]] = min(before[upper[i]], top)
        elif lower[i] > step:
            after[lower[i]] = min(after[lower[i]], top)
        elif floor[i] == lowest:
            passed[i] = True
        else:
            across = min(across, top)
    for s in range(step, 0, -1):
        before[s] = min(before[s], before[s + 1])
    for s in range(step + 1, len(after)):
        after[s] = min(after[s], after[s - 1])
    least = far
    for i in range(len(floor)):
        if passed[i]:
            floor[i] = min(across, before[lower[i] + 1], after[upper[i] - 1])
            least = min(least, floor[i] + size[i])
    for i in range(len(floor)):
        if passed[i]:
            floor[i] = min(floor[i], least)
            if floor[i] > limit[i]:
                return False
    return True


@njit(cache=True, nogil=True)
def raise_levels(floor: Ints, level: Ints, count: Ints, table: Ints, slots: Any, far: int) -> None:
    """Lifts each level to the lowest floor of what may still come there.

    The minimum over all ranges that cover a step: two runs of a power of two make a range, runs of each width are split
    into those of half the width. `slots` has the place of both runs in the flat table.
    """
    flat = table.reshape(-1)
    flat[:] = far
    first, second = slots
    for i in range(len(floor)):
        f = floor[i]
        flat[first[i]] = min(flat[first[i]], f)
        flat[second[i]] = min(flat[second[i]], f)
    powers, steps = table.shape
    for p in range(powers - 1, 0, -1):
        half = 1 << (p - 1)
        wide, narrow = table[p], table[p - 1]
        for s in range(steps):
            narrow[s] = min(narrow[s], wide[s])
        beyond = narrow[half:]
        for s in range(steps - half):
            beyond[s] = min(beyond[s], wide[s])
    lowest = table[0]
    for s in range(steps):
        level[s] = max(level[s], lowest[s] if count[s] > 0 else level[s])


@njit(cache=True, nogil=True)
def move(buffer: int, state: Any, facts: Any) -> bool:
    """Places `buffer` at its floor, or where it is negative passes over the step in turn; False where that leads nowhere."""
    floor, level, left, count = state
    columns, meets, _, _, _, _, far, scratch = facts
    lower, upper, size, _ = columns
    if buffer >= 0:
        top = floor[buffer] + size[buffer]
        floor[buffer] = far
        for s in range(lower[buffer], upper[buffer]):
            level[s] = top
            left[s] -= size[buffer]
            count[s] -= 1
        lifted = np.full(1, top, dtype=floor.dtype)[0]
        row = meets[buffer]
        for j in range(len(floor)):
            floor[j] = max(floor[j], row[j] & lifted)
    else:
        step, lowest = find_step(level, left, count, far)
        if not pass_over(step, lowest, floor, columns, scratch, far):
            return False
    return settle(state, facts)


@njit(cache=True, nogil=True)
def settle(state: Any, facts: Any) -> bool:
    """Raises floors to the lowest aligned places that are clear, then levels to floors; False where that leads nowhere."""
    floor, level, left, count = state
    columns, _, rounding, slots, room, pinned, far, scratch = facts
    _, _, size, limit = columns
    bottoms, tops, step_bottoms, step_tops = pinned
    if len(rounding):
        for i in range(len(floor)):
            if floor[i] < far:
                floor[i] += -floor[i] % rounding[i]
    for k in range(len(bottoms)):
        for i in range(len(floor)):
            if floor[i] < tops[k, i] and bottoms[k, i] < floor[i] + size[i] and floor[i] < far:
                floor[i] = tops[k, i]
    beyond = 0
    for i in range(len(floor)):
        beyond |= (floor[i] > limit[i]) & (floor[i] < far)
    if beyond:
        return False
    raise_levels(floor, level, count, scratch[0], slots, far)
    return not exceeds(level, left, room, step_bottoms, step_tops)


@njit(cache=True, nogil=True)
def rests(buffer: int, floor: Ints, offset: Ints, facts: Any) -> bool:
    """Whether the floor of a buffer is the lowest place that what is placed leaves to it.

    It is higher where a step was passed over and what the buffer was to rest on then did not come.
    """
    columns, meets, rounding, _, _, pinned, far, _ = facts
    size = columns[2]
    bottoms, tops = pinned[0], pinned[1]
    place = floor[buffer]
    ground = place - place
    row = meets[buffer]
    for j in range(len(floor)):
        if row[j] and floor[j] == far and ground < offset[j] + size[j]:
            ground = offset[j] + size[j]
    if len(rounding):
        ground += -ground % rounding[buffer]
    for k in range(len(bottoms)):
        if ground < tops[k, buffer] and bottoms[k, buffer] < ground + size[buffer]:
            ground = tops[k, buffer]
    return ground >= place


@njit(cache=True, nogil=True)
def below(level: int, step: int, bottoms: Ints, tops: Ints) -> int:
    """What pinned buffers take below a level of a step."""
    total = 0
    for k in range(len(bottoms)):
        total += max(min(level, tops[k, step]) - bottoms[k, step], 0)
    return total


@njit(cache=True, nogil=True)
def exceeds(level: Ints, left: Ints, room: Ints, bottoms: Ints, tops: Ints) -> bool:
    """Whether what is still to come does not fit above some level."""
    over = 0
    if len(bottoms):
        for s in range(len(level)):
            over |= level[s] - below(level[s], s, bottoms, tops) > room[s] - left[s]
        return over != 0
    for s in range(len(level)):
        over |= level[s] > room[s] - left[s]
    return over != 0


@njit(cache=True, nogil=True)
def walk(stack: Any, preferred: Ints, facts: Any, twin: Ints, offsets: Ints, dead: Ints, most: int) -> tuple[int, int]:
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
