"""The moves of `frontier.py`, on one state, in code that `numba` compiles.

Rows of the arrays are states. `floor` is the lowest offset left to a buffer, or `far` once it is placed, `offset` its
place; `level`, `left` and `count` have an entry for each step: see `frontier.py`. Where a passed buffer comes to rest
is told more closely than there: each on what it meets.

Pinned buffers are told by `taken`: the tables of `taken.py`, without rows where nothing is pinned. `room` is what they leave of
the capacity at each step.

Integers all through, so that every machine ranks alike.
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
    into those of half the width, as in `ranges.py`. `slots` has the place of both runs in the flat table.
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
    columns, _, rounding, slots, room, taken, far, scratch = facts
    _, _, size, limit = columns
    bottoms, tops, step_bottoms, step_tops = taken
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
    columns, meets, rounding, _, _, taken, far, _ = facts
    size = columns[2]
    bottoms, tops = taken[0], taken[1]
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
