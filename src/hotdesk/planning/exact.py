"""The exact stage: is there a placement at the bound, and if that stays open, how low can one be found?

Questions are about feasibility at a fixed capacity, first at the floor of the instance, then by bisection between
what is open and what is found. Each rung of a ladder asks by short walks down the canonical placements, by a beam over
them or, where it is installed, by CP-SAT, with more effort the later it comes. A capacity proven too small raises the
floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hotdesk.planning import cpsat, dive
from hotdesk.planning.beam import LARGEST, Answer, beam
from hotdesk.planning.cpsat import NODES_PER_EFFORT
from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.instance import Instance, Layout, Prover, common_unit
from hotdesk.planning.skyline import reach

DEFAULT_BUDGET = 2_000_000
"""Nodes for the quick questions, and again for the thorough ones: about a quarter of a minute each in compiled code."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A way to ask: walks of so many `moves`, a beam of `width` over `buckets`, or CP-SAT with deterministic time `effort`.

    A beam that stays `in_arrays` answers alike with and without `numba`.
    """

    moves: int = 0
    width: int = 0
    buckets: int = 200
    effort: float = 0.0
    in_arrays: bool = False

    @property
    def name(self) -> Prover:
        if self.moves:
            return "dive"
        return "beam" if self.width else "cp-sat"

    def suits(self, instance: Instance) -> bool:
        """Whether the instance is of a size and kind for it, and what it runs on is installed."""
        buffers = len(instance) + len(instance.obstacles)
        if self.moves:
            return buffers <= dive.LARGEST and dive.available()
        return buffers <= LARGEST and (bool(self.width) or cpsat.available())


CLOSING = (Rung(width=20, buckets=100, in_arrays=True), Rung(width=100, buckets=100, in_arrays=True))
"""Asked at the floor, then by bisection, where nothing must be compiled and nothing need be installed."""

QUICK = (
    Rung(moves=400_000),
    Rung(effort=0.01),
    Rung(width=50, buckets=400),
    Rung(width=100, buckets=400),
    Rung(effort=0.05),
    Rung(width=200, buckets=400),
)
"""Asked at the floor alone: most of what can be met there is met by one of these in some seconds."""

WHOLE = (Rung(width=50, buckets=400), Rung(effort=0.12))
"""Asked at the floor of the problem as it came: some placements are found before what lies on the ground is taken out."""

THOROUGH = (
    Rung(moves=400_000),
    Rung(width=50, buckets=400),
    Rung(width=200, buckets=400),
    Rung(effort=0.5),
    Rung(width=1000, buckets=400),
)
"""Asked at the floor, then by bisection."""


def improve(
    instance: Instance,
    best: Layout,
    *,
    rungs: Sequence[Rung] = THOROUGH,
    bisect: bool = True,
    budget: int = DEFAULT_BUDGET,
    deadline: Deadline = NO_DEADLINE,
) -> Layout:
    """Improve `best` until it meets the floor, the rungs are used up, the nodes are spent or the deadline passes.

    Without `bisect` only the floor is asked for. The layout says what was proven on the way, if anything was. Rungs that
    do not suit the instance are left out, and so is CP-SAT without `ortools`, unless there is nothing else: then
    ImportError is raised.
    """
    if rungs and all(rung.effort for rung in rungs):
        cpsat.require()
    ladder = _Ladder(instance, best, budget, deadline)
    for rung in rungs:
        if ladder.finished:
            break
        if rung.suits(instance):
            ladder.climb(rung, bisect=bisect)
    return ladder.result()


class _Ladder:
    def __init__(self, instance: Instance, best: Layout, budget: int, deadline: Deadline) -> None:
        self._best, self._floor = best, instance.floor
        self._prover: Prover | None = None
        self._instance = instance
        self._budget = budget
        self._deadline = deadline
        self._unit = common_unit(instance)

    @property
    def finished(self) -> bool:
        return self._best.arena <= self._floor or self._budget <= 0 or self._deadline.passed()

    def result(self) -> Layout:
        if self._prover is None:
            return self._best
        witness = tuple(range(len(self._instance)))
        return replace(self._best, proven=self._floor, prover=self._prover, witness=witness)

    def climb(self, rung: Rung, *, bisect: bool) -> None:
        """Ask at the floor, then halfway between the highest capacity refused and the arena, while that pays."""
        refused = capacity = self._floor
        found = self._ask(rung, capacity)
        while bisect and not (found and capacity <= self._floor) and not self.finished:
            if not found:
                refused = capacity if capacity >= self._floor else self._floor - self._unit
            if self._best.arena - refused <= self._worthwhile(refused):
                return
            capacity = (refused + self._best.arena) // 2 // self._unit * self._unit
            found = self._ask(rung, capacity)

    def _worthwhile(self, refused: int) -> int:
        """What is left between found and refused that the next rung had better look at.

        A half per cent, or nothing that could be asked for as long as all that was refused is proven to be too small.
        """
        return max(self._unit, self._floor // 200) if refused >= self._floor else self._unit

    def _ask(self, rung: Rung, capacity: int) -> bool:
        """Whether a layout within `capacity` was found; it is the best from then on."""
        answer = self._answer(rung, capacity)
        if answer.offsets is not None:
            arena = reach(self._instance, answer.offsets)
            if arena < self._best.arena:
                self._best = Layout(answer.offsets, arena, rung.name)
            return True
        if answer.exhausted:
            self._floor, self._prover = capacity // self._unit * self._unit + self._unit, rung.name
        return False

    def _answer(self, rung: Rung, capacity: int) -> Answer:
        instance, deadline = self._instance, self._deadline
        if rung.moves:
            answer = dive.dive(instance, capacity, min(rung.moves, self._budget), deadline=deadline)
            self._budget -= answer.nodes
            return answer
        if rung.width:
            answer = beam(
                instance,
                capacity,
                rung.width,
                buckets=rung.buckets,
                budget=self._budget,
                deadline=deadline,
                in_arrays=rung.in_arrays,
            )
            self._budget -= answer.nodes
            return answer
        answer = cpsat.feasible(instance, capacity, min(rung.effort, self._budget / NODES_PER_EFFORT), deadline)
        self._budget -= answer.nodes
        return answer
