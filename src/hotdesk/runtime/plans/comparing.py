"""Whether a function never needs a larger arena than another one that computes the same, for all sizes in range.

1. Sizes that are numbers, or a few values of each symbol: both are planned for all of them.
2. Else it is proven. The arena of a call is at most that of every stacking the planner has which fits (`runtime.plans.planner`),
   and no arena is below what some step of the other function needs (`planning.sizes.all_sizes.is_never_above`).
3. Where that is open for all sizes, the ranges are halved, and each half is looked at by itself: which stacking is good and
   which step needs most may differ from half to half.

The answer is "no" as well where no proof was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from hotdesk.planning.sizes.all_sizes import MOST_BUFFERS, is_never_above
from hotdesk.runtime.plans.planner import Planner
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Bounds

MOST_BOXES = 128
"""Ranges that are looked at."""

_MOST_LOOKS = 40_000
"""Ranges times buffers."""

_FEW = 8
"""So many combinations of values are planned one by one."""

_FIRST_CUT = 16
"""Where a range without an end is cut first; then at twice its least value."""


def never_larger(one: Planner, other: Planner, bounds: Bounds) -> bool:
    """Whether no arena of `one` is larger than that of `other`, for all values of the symbols in `bounds`.

    Both planners are of functions of the same symbols; one that has no range in `bounds` is 0 or more.
    """
    symbols = sorted({*one.symbols, *other.symbols})
    boxes: list[Bounds] = [{name: bounds.get(name, (0, None)) for name in symbols}]
    buffers = max(one.count, other.count)
    left = min(MOST_BOXES, _MOST_LOOKS // max(buffers, 1)) if buffers <= MOST_BUFFERS else 0
    while boxes:
        box = boxes.pop()
        if _are_few(box):
            if any(_is_larger(one.arena(values), other.arena(values)) for values in _values(box)):
                return False
            continue
        left -= 1
        if left < 0:
            return False
        if not _is_proven(one, other, box):
            boxes.extend(_halves(box))
    return True


def _is_proven(one: Planner, other: Planner, box: Bounds) -> bool:
    prover = SizeProver(box)
    sized, against = one.sized(prover), other.sized(prover)
    return any(is_never_above(sized, stacking, against, prover.ranges) for stacking in one.stackings)


def _is_larger(one: int | None, other: int | None) -> bool:
    """Whether an arena is larger than another one; None is one beyond all memory."""
    return other is not None and (one is None or one > other)


def _are_few(box: Bounds) -> bool:
    """Whether there are so few combinations of values that each can be planned."""
    widths = [high - low + 1 for low, high in box.values() if high is not None]
    return len(widths) == len(box) and prod(widths) <= _FEW


def _values(box: Bounds) -> Iterator[dict[str, int]]:
    ranges = [range(low, low if high is None else high + 1) for low, high in box.values()]
    for values in product(*ranges):
        yield dict(zip(box, values, strict=True))


def _halves(box: Bounds) -> tuple[Bounds, Bounds]:
    """A box cut in two where its widest range has its middle."""
    name = max(box, key=lambda each: _width(*box[each]))
    low, high = box[name]
    cut = max(_FIRST_CUT, 2 * low) if high is None else (low + high + 1) // 2
    return {**box, name: (cut, high)}, {**box, name: (low, cut - 1)}


def _width(low: int, high: int | None) -> float:
    """How wide a range counts as; one without an end as wide as the part that is cut off it."""
    return high - low if high is not None else max(_FIRST_CUT, low)
