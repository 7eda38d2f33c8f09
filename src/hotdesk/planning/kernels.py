"""The moves of `frontier.py`, one state after the other, in code that `numba` compiles.

Rows of the arrays are states. `floor` is the lowest offset left to a buffer, or `far` once it is placed, `offset` its
place; `level`, `left` and `count` have an entry for each step: see `frontier.py`. Where a passed buffer comes to rest
is told more closely than there: each on what it meets.

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
def move(
    buffer: int, state: Any, columns: Any, meets: Ints, rounding: Ints, slots: Any, scratch: Any, far: int
) -> bool:
    """Places `buffer` at its floor, or where it is negative passes over the step in turn; False where that leads nowhere."""
    floor, level, left, count = state
    lower, upper, size, limit = columns
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
    if len(rounding):
        for i in range(len(floor)):
            if floor[i] < far:
                floor[i] += -floor[i] % rounding[i]
    beyond = 0
    for i in range(len(floor)):
        beyond |= (floor[i] > limit[i]) & (floor[i] < far)
    if beyond:
        return False
    raise_levels(floor, level, count, scratch[0], slots, far)
    return True


@njit(cache=True, nogil=True)
def exceeds(level: Ints, left: Ints, capacity: int) -> bool:
    """Whether what is still to come does not fit above some level."""
    over = 0
    for s in range(len(level)):
        over |= level[s] > capacity - left[s]
    return over != 0


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
def look(states: Any, keys: Ints, facts: Any, ranks: Any, spare: Any, found: Any) -> tuple[int, int]:
    """Looks at all children of all states.

    Those that may lead on are told in the columns of `found`, from its first row on. Returns how many these are, and
    how many were looked at.
    """
    columns, meets, rounding, slots, capacity, far, scratch = facts
    weight, load, shift, twin, tag, step_tag = ranks
    parent, buffer, wasted, filled, key = found
    lower, upper, _, _ = columns
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
            looked += 1
            floor, level, left, count = copy_state(states, r, spare, 0)
            if not move(i, (floor, level, left, count), columns, meets, rounding, slots, scratch, far):
                continue
            if exceeds(level, left, capacity):
                continue
            waste = area = np.int64(0)
            for s in range(len(level)):
                waste += weight[s] * (np.int64(level[s] + left[s] - load[s]) >> shift)
                area += level[s]
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
    columns, meets, rounding, slots, _, far, scratch = facts
    for c in range(len(parents)):
        r, i = parents[c], buffers[c]
        placed[start + c] = offsets[r]
        if i >= 0:
            placed[start + c, i] = states[0][r, i]
        state = copy_state(states, r, out, start + c)
        move(i, state, columns, meets, rounding, slots, scratch, far)
