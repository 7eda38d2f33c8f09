"""A problem as the heuristics read it: only what must go into the arena, in flat lists over compressed time.

Only steps at which some live range starts matter: between two of them the set of live buffers only shrinks. Steps are
numbered by these starts, so loads are short arrays however large the schedule's numbers are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.problem.buffers import Buffer, pinned_top
from hotdesk.planning.problem.problem import Problem

Prover = Literal["dive", "cp-sat"]
Numbers = Sequence[int] | NDArray[np.int64]

MOST_LISTED = 5_000
"""Above this many buffers nothing lists which of them overlap."""

DENSEST = 1_000_000
"""Nor above this many overlapping pairs: lists of neighbours cost more memory and time than they are worth."""


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
        """Whether there are too many buffers, or too many pairs of them, for lists of neighbours."""
        return len(self) > MOST_LISTED or self.pairs > DENSEST


@dataclass(frozen=True, slots=True)
class ArenaLayout:
    """An offset for each movable buffer, the arena they and the obstacles reach, and the strategy that found them.

    Where `prover` names a search, it showed that no layout of the buffers `witness` is below `proven` bytes.
    """

    offsets: tuple[int, ...]
    arena: int
    strategy: str
    proven: int = 0
    prover: Prover | None = None
    witness: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether there is a placement below some capacity: offsets by buffer, or None; `exhausted` says that then there are none.

    `nodes` counts what was looked at; a solver that does not count says how many its effort is worth.
    """

    offsets: tuple[int, ...] | None
    exhausted: bool
    nodes: int


def build_instance(problem: Problem, elsewhere: Collection[int] = ()) -> Instance:
    """The instance of all buffers but the empty ones and those at the positions `elsewhere`. O(n log n)."""
    present = [i for i, b in enumerate(problem.buffers) if b.size and i not in elsewhere]
    starts = np.unique(np.array([problem.buffers[i].lower for i in present], dtype=np.int64))
    pinned = [problem.buffers[i] for i in present if problem.buffers[i].fixed_offset is not None]
    movable = tuple(i for i in present if problem.buffers[i].fixed_offset is None)
    chosen = [problem.buffers[i] for i in movable]
    return assemble(
        origin=movable,
        lower=starts.searchsorted([b.lower for b in chosen]),
        upper=starts.searchsorted([b.upper for b in chosen]),
        lifetime=tuple(b.upper - b.lower for b in chosen),
        size=tuple(b.footprint for b in chosen),
        alignment=tuple(b.alignment for b in chosen),
        obstacles=tuple(_obstacle(b, starts) for b in pinned),
        steps=len(starts),
    )


def assemble(
    *,
    origin: tuple[int, ...],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    lifetime: tuple[int, ...],
    size: tuple[int, ...],
    alignment: tuple[int, ...],
    obstacles: tuple[Obstacle, ...],
    steps: int,
) -> Instance:
    """An instance over `steps` compressed steps, with what follows from its columns."""
    load = profile(lower, upper, size, steps)
    if obstacles:
        taken = [o.top - o.bottom for o in obstacles]
        load += profile([o.lower for o in obstacles], [o.upper for o in obstacles], taken, steps)
    return Instance(
        origin=origin,
        lower=tuple(lower.tolist()),
        upper=tuple(upper.tolist()),
        lifetime=lifetime,
        size=size,
        alignment=alignment,
        pressure=tuple(_range_maxima(load, lower, upper).tolist()),
        obstacles=obstacles,
        floor=max(int(load.max(initial=0)), max((o.top for o in obstacles), default=0)),
        pairs=_count_pairs(lower, upper, steps),
    )


def common_unit(instance: Instance) -> int:
    """A number of bytes of which the tops of canonical placements are multiples.

    That is the greatest common divisor of the sizes, and of the alignments too where some size is no multiple of all.
    """
    sizes = [*instance.size, *(o.bottom for o in instance.obstacles), *(o.top for o in instance.obstacles)]
    unit = gcd(*sizes)
    if unit % max(instance.alignment, default=1):
        unit = gcd(unit, *instance.alignment)
    return unit or 1


def profile(lower: Numbers, upper: Numbers, weight: Numbers, steps: int) -> NDArray[np.int64]:
    """Sum of the weights of the half-open ranges that cover each of `steps` steps."""
    change = np.zeros(steps + 1, dtype=np.int64)
    weight = np.array(weight, dtype=np.int64)
    np.add.at(change, np.array(lower, dtype=np.intp), weight)
    np.subtract.at(change, np.array(upper, dtype=np.intp), weight)
    return np.cumsum(change)[:steps]


def _range_maxima(load: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest load in each range: the larger of two runs of a power of two that cover it."""
    result = np.empty(len(lower), dtype=np.int64)
    power = np.log2(np.maximum(upper - lower, 1)).astype(np.int64)
    runs, width = load, 1
    for exponent in range(int(power.max(initial=-1)) + 1):
        here = power == exponent
        result[here] = np.maximum(runs[lower[here]], runs[upper[here] - width])
        runs = np.maximum(runs[:-width], runs[width:])
        width *= 2
    return result


def _obstacle(buffer: Buffer, starts: NDArray[np.int64]) -> Obstacle:
    top = pinned_top(buffer)
    lower, upper = starts.searchsorted([buffer.lower, buffer.upper]).tolist()
    return Obstacle(lower, upper, top - buffer.footprint, top)


def _count_pairs(lower: NDArray[np.int64], upper: NDArray[np.int64], steps: int) -> int:
    """Each pair is met at the later of its two starts: there, every buffer that starts meets all live ones."""
    live = profile(lower, upper, np.ones(len(lower), dtype=np.int64), steps)
    starting = np.bincount(lower, minlength=steps)
    # k starting buffers meet the (live - k) older ones, and one another
    met = starting * (live - starting) + starting * (starting - 1) // 2
    return int(met.sum())
