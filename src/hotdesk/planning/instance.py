"""A problem as the heuristics read it: only what must go into the arena, in flat lists over compressed time.

Only steps at which some live range starts matter: between two of them the set of live buffers only shrinks. Steps are
numbered by these starts, so loads are short arrays however large the schedule's numbers are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.problem import Buffer, Problem, pinned_top

DENSEST = 1_000_000
"""Above this many overlapping pairs, lists of neighbours cost more memory and time than they are worth."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A pinned buffer: bytes `[bottom, top)` taken during the compressed steps `[lower, upper)`."""

    lower: int
    upper: int
    bottom: int
    top: int


@dataclass(frozen=True, slots=True)
class Instance:
    """Movable buffers, numbered from 0; `origin` maps them to positions in `Problem.buffers`.

    `lower` and `upper` are compressed steps, `lifetime` counts schedule steps, `size` is the footprint in bytes,
    `pressure` the largest load, in bytes, at any step of the live range. `floor` is a lower bound on the arena:
    the largest load, or the highest obstacle. `pairs` counts pairs of movable buffers that are live together.
    """

    origin: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    lifetime: tuple[int, ...]
    size: tuple[int, ...]
    alignment: tuple[int, ...]
    pressure: tuple[int, ...]
    obstacles: tuple[Obstacle, ...]
    floor: int
    pairs: int

    def __len__(self) -> int:
        return len(self.origin)

    @property
    def is_dense(self) -> bool:
        """Whether strategies that list neighbours should stay away."""
        return self.pairs > DENSEST


@dataclass(frozen=True, slots=True)
class Layout:
    """An offset for each movable buffer, the arena they and the obstacles reach, and the strategy that found them."""

    offsets: tuple[int, ...]
    arena: int
    strategy: str


def build_instance(problem: Problem, elsewhere: Collection[int] = ()) -> Instance:
    """The instance of all buffers but the empty ones and those at the positions `elsewhere`.

    O(n log n) for the order, plus the total length of the live ranges in compressed steps, in vectorised passes.
    """
    present = [i for i, b in enumerate(problem.buffers) if b.size and i not in elsewhere]
    starts = sorted({problem.buffers[i].lower for i in present})
    ranges = {i: _compress(problem.buffers[i], starts) for i in present}
    load = profile([(ranges[i], problem.buffers[i].footprint) for i in present], len(starts))
    pinned = [i for i in present if problem.buffers[i].fixed_offset is not None]
    movable = tuple(i for i in present if problem.buffers[i].fixed_offset is None)
    chosen = [problem.buffers[i] for i in movable]
    obstacles = tuple(_obstacle(problem.buffers[i], ranges[i]) for i in pinned)
    return Instance(
        origin=movable,
        lower=tuple(ranges[i][0] for i in movable),
        upper=tuple(ranges[i][1] for i in movable),
        lifetime=tuple(b.upper - b.lower for b in chosen),
        size=tuple(b.footprint for b in chosen),
        alignment=tuple(b.alignment for b in chosen),
        pressure=tuple(int(load[ranges[i][0] : ranges[i][1]].max()) for i in movable),
        obstacles=obstacles,
        floor=max(int(load.max(initial=0)), max((o.top for o in obstacles), default=0)),
        pairs=_count_pairs([ranges[i] for i in movable], len(starts)),
    )


def profile(weighted: list[tuple[tuple[int, int], int]], steps: int) -> NDArray[np.int64]:
    """Sum of the weights of the half-open ranges that cover each of `steps` steps."""
    change = np.zeros(steps + 1, dtype=np.int64)
    for (lower, upper), weight in weighted:
        change[lower] += weight
        change[upper] -= weight
    return np.cumsum(change)[:steps]


def _compress(buffer: Buffer, starts: list[int]) -> tuple[int, int]:
    return bisect_left(starts, buffer.lower), bisect_left(starts, buffer.upper)


def _obstacle(buffer: Buffer, live: tuple[int, int]) -> Obstacle:
    top = pinned_top(buffer)
    return Obstacle(live[0], live[1], top - buffer.footprint, top)


def _count_pairs(ranges: list[tuple[int, int]], steps: int) -> int:
    """Each pair is met at the later of its two starts: there, every buffer that starts meets all live ones."""
    live = profile([(r, 1) for r in ranges], steps)
    starting = np.zeros(steps, dtype=np.int64)
    for lower, _ in ranges:
        starting[lower] += 1
    # k starting buffers meet the (live - k) older ones, and one another
    met = starting * (live - starting) + starting * (starting - 1) // 2
    return int(met.sum())
