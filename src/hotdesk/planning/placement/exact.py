"""The exact stage: is there a placement at the bound, and if that stays open, how low can one be found?

Questions are about feasibility at a fixed capacity, first at the floor of the instance, then by bisection between
what is open and what is found. Each rung of a ladder asks by short walks down the canonical placements or by CP-SAT, with more
effort the later it comes. A capacity proven too small raises the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hotdesk.planning.placement import cpsat, dive
from hotdesk.planning.placement.cpsat import NODES_PER_EFFORT
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import Answer, ArenaLayout, Instance, Prover, common_unit
from hotdesk.planning.placement.skyline import reach

DEFAULT_BUDGET = 2_000_000
"""Nodes for the quick questions, and again for the thorough ones: about a quarter of a minute each in compiled code."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A way to ask: walks of so many `moves`, or CP-SAT with deterministic time `effort`."""

    moves: int = 0
    effort: float = 0.0

    @property
    def name(self) -> Prover:
        return "dive" if self.moves else "cp-sat"

    def times(self, factor: int) -> Rung:
        """The same with so many times the effort."""
        return Rung(self.moves * factor, self.effort * factor)

    def suits(self, instance: Instance) -> bool:
        """Whether the instance is of a size for it, and what it runs on is installed."""
        solver = dive if self.moves else cpsat
        return len(instance) + len(instance.obstacles) <= solver.LARGEST and solver.available()


FIRST = (Rung(moves=40_000),)
"""Asked at the floor, then by bisection, where the time is limited: something smaller is found soon."""

QUICK = (Rung(moves=400_000), Rung(effort=0.01), Rung(effort=0.05))
"""Asked at the floor alone: most of what can be met there is met by one of these in some seconds."""

THOROUGH = (Rung(moves=400_000), Rung(effort=0.5), Rung(moves=1_600_000))
"""Asked at the floor, then by bisection."""


def improve(
    instance: Instance,
    best: ArenaLayout,
    *,
    rungs: Sequence[Rung] = THOROUGH,
    bisect: bool = True,
    enough: int | None = None,
    budget: int = DEFAULT_BUDGET,
    seed: int = 1,
    deadline: Deadline = NO_DEADLINE,
) -> ArenaLayout:
    """Improve `best` until it meets the floor, the rungs are used up, the nodes are spent or the deadline passes.

    Without `bisect` only the floor is asked for. Nothing is asked once more than `enough` bytes are proven to be needed, as
    they are by `best` then. The layout says what was proven on the way, if anything was. Rungs that do not suit the instance
    are left out, and so is CP-SAT without `ortools`, unless there is nothing else: then ImportError is raised, and likewise
    for walks without `numba`.
    """
    if rungs and all(rung.effort for rung in rungs):
        cpsat.require()
    if rungs and all(rung.moves for rung in rungs):
        dive.require()
    ladder = _Ladder(instance, best, budget, seed, deadline)
    for rung in rungs:
        if ladder.finished or (enough is not None and ladder.floor > enough):
            break
        if rung.suits(instance):
            ladder.climb(rung, bisect=bisect)
    return ladder.result()


class _Ladder:
    def __init__(self, instance: Instance, best: ArenaLayout, budget: int, seed: int, deadline: Deadline) -> None:
        self._best = best
        self.floor = max(instance.floor, best.proven)
        self._prover = best.prover
        self._instance = instance
        self._budget = budget
        self._seed = seed
        self._deadline = deadline
        self._unit = common_unit(instance)

    @property
    def finished(self) -> bool:
        return self._best.arena <= self.floor or self._budget <= 0 or self._deadline.passed()

    def result(self) -> ArenaLayout:
        if self._prover is None:
            return self._best
        witness = tuple(range(len(self._instance)))
        return replace(self._best, proven=self.floor, prover=self._prover, witness=witness)

    def climb(self, rung: Rung, *, bisect: bool) -> None:
        """Ask at the floor, then halfway between the highest capacity refused and the arena, while that pays."""
        refused = capacity = self.floor
        found = self._ask(rung, capacity)
        while bisect and not (found and capacity <= self.floor) and not self.finished:
            if not found:
                refused = capacity if capacity >= self.floor else self.floor - self._unit
            if self._best.arena - refused <= self._worthwhile(refused):
                return
            capacity = (refused + self._best.arena) // 2 // self._unit * self._unit
            found = self._ask(rung, capacity)

    def _worthwhile(self, refused: int) -> int:
        """What is left between found and refused that the next rung had better look at.

        A half per cent where the time is not what ends the questions, or nothing that could be asked for as long as all that
        was refused is proven to be too small.
        """
        enough = self._unit if self._deadline.moment is not None else max(self._unit, self.floor // 200)
        return enough if refused >= self.floor else self._unit

    def _ask(self, rung: Rung, capacity: int) -> bool:
        """Whether a layout within `capacity` was found; it is the best from then on."""
        answer = self._answer(rung, capacity)
        if answer.offsets is not None:
            arena = reach(self._instance, answer.offsets)
            if arena < self._best.arena:
                self._best = ArenaLayout(answer.offsets, arena, rung.name)
            return True
        if answer.exhausted:
            self.floor, self._prover = capacity // self._unit * self._unit + self._unit, rung.name
        return False

    def _answer(self, rung: Rung, capacity: int) -> Answer:
        instance, left, deadline = self._instance, self._budget, self._deadline
        if rung.moves:
            answer = dive.dive(instance, capacity, min(rung.moves, left), seed=self._seed, deadline=deadline)
        else:
            answer = cpsat.feasible(instance, capacity, min(rung.effort, left / NODES_PER_EFFORT), deadline)
        self._budget -= answer.nodes
        return answer
