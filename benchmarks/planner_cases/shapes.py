"""Programs whose sizes vary, as random problems: what a call with a new shape takes to be planned."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from hotdesk.planning import Buffer, Checker, Plan, Pool, PoolId, Problem, plan
from hotdesk.planning.sizes.all_sizes import SymbolicProblem
from hotdesk.planning.sizes.on_call import OnCall
from hotdesk.planning.sizes.stacking import Stacking, read_stacking
from hotdesk.sizes.polynomials import Polynomial

COUNT = 200
SAMPLES = ((512, 512), (64, 64), (8, 8))
"""The values of two symbols for which a program is planned thoroughly."""

HIGHEST = (4, 80, 2000)
"""The first symbol of new shapes is drawn up to each of these, the second up to the last."""

POOLS = (0, 1, 3)
FAMILIES = 21
"""Random programs for each number of pools."""

_SHAPES = 4
_ROUNDS = 9
"""How often each is planned, with all others between, as the machine is now quiet, now not."""


@dataclass(frozen=True, slots=True)
class Family:
    """A program of `COUNT` buffers.

    Attributes:
        live: their live ranges.
        sizes: `a, b, c` of each, which takes `a * m + b * n + c` bytes.
        lenders: buffers with whose sizes there are pools, and the step from which each of these is not free.
    """

    live: tuple[tuple[int, int], ...]
    sizes: tuple[tuple[int, int, int], ...]
    lenders: tuple[tuple[int, int], ...]

    @classmethod
    def random(cls, seed: int, pools: int) -> Family:
        """Nine in ten live for 1 to 20 steps, the others for up to 150; there are at most twelve different sizes."""
        rng = random.Random(seed)
        kinds = [
            (rng.choice((0, rng.randint(1, 300))), rng.choice((0, rng.randint(1, 300))), rng.randrange(4096))
            for _ in range(12)
        ]
        live: list[tuple[int, int]] = []
        for _ in range(COUNT):
            lower = rng.randrange(COUNT)
            live.append((lower, lower + (rng.randint(1, 20) if rng.random() < 0.9 else rng.randint(20, 150))))
        sizes = tuple(rng.choice(kinds) for _ in live)
        return cls(tuple(live), sizes, tuple((rng.randrange(COUNT), rng.randrange(1, COUNT)) for _ in range(pools)))

    @property
    def windows(self) -> dict[PoolId, tuple[tuple[int, int], ...]]:
        """When each pool is free."""
        return {f"p{k}": ((0, end),) for k, (_, end) in enumerate(self.lenders)}

    def problem(self, m: int, n: int) -> Problem:
        """For these values of the symbols."""
        sizes, pools = self.sized(m, n)
        buffers = (Buffer(i, *live, size) for i, (live, size) in enumerate(zip(self.live, sizes, strict=True)))
        return Problem(tuple(buffers), pools)

    def sized(self, m: int, n: int) -> tuple[list[int], tuple[Pool, ...]]:
        """The sizes of the buffers for these values of the symbols, in bytes, and the pools there are then."""
        sizes = [a * m + b * n + c for a, b, c in self.sizes]
        pools = ((f"p{k}", sizes[i], ((0, end),)) for k, (i, end) in enumerate(self.lenders))
        return sizes, tuple(Pool(*pool) for pool in pools if pool[1])

    @property
    def for_all_sizes(self) -> SymbolicProblem:
        """With sizes as polynomials in `m` and `n`."""
        sizes = [Polynomial.of([((("m", 1),), a), ((("n", 1),), b), ((), c)]) for a, b, c in self.sizes]
        capacities: dict[PoolId, Polynomial] = {f"p{k}": sizes[i] for k, (i, _) in enumerate(self.lenders)}
        return SymbolicProblem(self.problem(1, 1), sizes, capacities)

    def stackings(self) -> list[Stacking]:
        """Of plans for the samples."""
        problems = [self.problem(m, n) for m, n in SAMPLES]
        return [read_stacking(problem.buffers, plan(problem, effort=0)) for problem in problems]

    def planner(self) -> OnCall:
        """What plans for other values."""
        return OnCall(self.problem(1, 1).buffers, self.windows, self.stackings())


@dataclass(frozen=True, slots=True)
class Shapes:
    """New shapes of programs with so many pools: for each the seconds of processor time, and the arena over its bound."""

    pools: int
    seconds: tuple[float, ...]
    ratios: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """Seconds that this share of the shapes takes at most."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]

    def cells(self) -> tuple[str, ...]:
        """Seconds in milliseconds."""
        figures = (median(self.seconds), self.quantile(0.99), max(self.seconds))
        return (
            *(f"{self.pools}", f"{len(self.seconds)}", *(f"{1000 * each:.2f}" for each in figures)),
            *(f"{fmean(self.ratios) - 1:.2%}", f"{max(self.ratios) - 1:.2%}"),
        )


def measure(pools: int, families: int = FAMILIES) -> Shapes:
    """Plans each shape in several rounds as if it were new, has the plan checked, and keeps the shortest time.

    Raises AssertionError for a plan that breaks a rule.
    """
    asked: list[tuple[Family, OnCall, Checker, tuple[int, int]]] = []
    for seed in range(families):
        family = Family.random(seed, pools)
        planner, checker = family.planner(), Checker(family.problem(1, 1))
        asked += [(family, planner, checker, values) for values in shapes(seed)]
    rounds = [[_timed(*each) for each in asked] for _ in range(_ROUNDS)]
    plans = [made for _, made in rounds[0]]
    return Shapes(
        pools,
        tuple(min(seconds for seconds, _ in each) for each in zip(*rounds, strict=True)),
        tuple(made.arena / made.bound.bytes if made.bound.bytes else 1.0 for made in plans),
    )


def shapes(seed: int, each: int = _SHAPES) -> Iterator[tuple[int, int]]:
    """Values of the symbols, some for each of `HIGHEST`."""
    rng = random.Random(seed * 7 + 1)
    for high in HIGHEST:
        for _ in range(each):
            yield rng.randint(1, high), rng.randint(1, HIGHEST[-1])


def bar(rows: Sequence[Shapes]) -> tuple[bool, str]:
    """Whether new shapes take less than 5 ms each."""
    seconds = sorted(second for row in rows for second in row.seconds)
    late = sum(second >= 0.005 for second in seconds)
    text = (
        f"{len(seconds)} new shapes of {COUNT} buffers: {len(seconds) - late if late else 'all'} under 5 ms, "
        f"{1000 * max(seconds):.2f} ms at most, {1000 * median(seconds):.2f} ms at the median"
    )
    return not late, text


def _timed(family: Family, planner: OnCall, checker: Checker, values: tuple[int, int]) -> tuple[float, Plan]:
    """What a call does: sizes from values, a plan and its check."""
    started = time.process_time()
    sizes, pools = family.sized(*values)
    made = planner.plan_sizes(sizes, pools)
    faults = checker.check(sizes, pools, made)
    seconds = time.process_time() - started
    if faults:
        raise AssertionError(f"{family}, {values}: {faults[0].message}")
    return seconds, made
