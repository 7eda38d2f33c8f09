"""Plans of one function for the sizes of each call: made once for all of them where that is provably good, else for each.

1. Sizes that are numbers: one plan, by the whole portfolio.
2. Sizes with symbols: plans for some samples, the greatest sizes in range among them, where memory could hold these. Where what
   lies below what in one of them is proven to be good for all sizes in range (`planning.sizes.all_sizes`), that is the plan, and
   sizes are only laid out by it.
3. Else the samples' stackings, with all their loans and with those that fit for all sizes, are laid out for the sizes that come,
   and buffers packed anew where that is not good enough: by an amount of work that is fixed (`planning.sizes.on_call`).
   Nothing is searched on a call.

What does not depend on the sizes of a call is made by `prepare`, else on the first call.

What a plan is depends on the program and the sizes, not on the calls before. Every plan is checked by code that did not make it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from hotdesk.planning import Bound, Checker, Placement, Plan, PoolId, Problem, lower_bound, plan
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.planning.sizes.all_sizes import SymbolicProblem, good_for_all, sure_loans
from hotdesk.planning.sizes.on_call import OnCall
from hotdesk.planning.sizes.repacking import borrowing_less
from hotdesk.planning.sizes.stacking import Stacking, arena_of, lay_out, read_stacking
from hotdesk.runtime.plans.problems import MOST_BYTES, Planned, accepted, checked, placed, pools_of, problem_of
from hotdesk.sizes.expressions import Evaluator
from hotdesk.sizes.polynomials import Polynomial
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Bounds, symbols_of

SAMPLES = (512, 64, 8)
"""What each symbol is taken to be, beside its greatest value."""


class Planner:
    """Places the allocations of one function.

    `bounds` are the least and greatest values of the symbols, `symbols` those that a plan depends on, `sizes` those of all
    buffers, by place. `made` counts the plans that were asked for; where one serves all sizes it is 1.
    """

    def __init__(self, lowered: Planned, bounds: Bounds) -> None:
        self._lowered = lowered
        self._bounds = bounds
        self._places = placed(lowered)
        self._lenders = tuple(lowered.windows)
        sizes = [lowered.buffers[place].bytes for place in (*self._places, *self._lenders)]
        self.symbols = sorted({name for size in sizes for name in symbols_of(size)})
        self.sizes = Evaluator([buffer.bytes for buffer in lowered.buffers])
        self.made = 0

    def prepare(self) -> Plan | Stacking | OnCall:
        """What does not depend on the sizes of a call, made now: the one plan, or what the samples' plans tell about others.

        Raises:
            PlanError: the check found a fault in the one plan.
        """
        return self._fixed if not self.symbols else self._for_all or self._on_call[0]

    def kept(self) -> tuple[Plan | None, bool, tuple[Stacking, ...]]:
        """What lays out plans without a search: the one plan, or whether one stacking serves all sizes, and the stackings."""
        if not self.symbols:
            return self._fixed, False, ()
        return None, self._for_all is not None, self.stackings

    def plan(self, sizes: Sequence[int]) -> Plan:
        """Places every allocation of the function if its buffers have these sizes, in bytes, by place in the pointer table.

        A result lends its memory until it is written first, a donated input once nothing reads it any more.

        Raises:
            PlanError: the check found a fault, or the sizes are beyond all memory.
        """
        self.made = 1 if self._for_all is not None else self.made + 1
        return self.solve(sizes)

    def solve(self, sizes: Sequence[int]) -> Plan:
        """The same plan, not counted."""
        if not self.symbols:
            return self._fixed
        if self._for_all is None:
            own, pools = [sizes[place] for place in self._places], pools_of(self._lowered, sizes)
            planner, checker = self._on_call
            made = planner.plan_sizes(own, pools)
            return accepted(made, checker.check(own, pools, made))
        problem = problem_of(self._lowered, sizes)
        found = lay_out(self._for_all, problem)
        made = None if found is None else _as_plan(problem, found, lower_bound(problem), "for-all-sizes")
        return checked(problem, made or plan(problem))

    @property
    def depends_on_sizes(self) -> bool:
        """Whether there is a buffer, or memory of the caller's that is lent, whose size is not a number."""
        return bool(self.symbols)

    @property
    def serves_all_sizes(self) -> bool:
        """Whether one plan is used for all sizes, as far as any was asked for."""
        return self.made > 0 and self._for_all is not None

    @property
    def count(self) -> int:
        """How many buffers there are to place."""
        return len(self._places)

    def arena(self, symbols: Mapping[str, int]) -> int | None:
        """Bytes of the arena for values of the symbols; None where buffers of these sizes are beyond all memory."""
        sizes = self.sizes.at({**dict.fromkeys(self.sizes.names, max(SAMPLES)), **symbols})
        return self.solve(sizes).arena if sum(sizes) < MOST_BYTES else None

    @property
    def stackings(self) -> tuple[Stacking, ...]:
        """No arena is larger than that of one of these, where all that it has in pools fits there."""
        if not self.symbols:
            return (read_stacking(self._structure.buffers, self._fixed),)
        return self._stackings if self._for_all is None else (self._for_all,)

    def sized(self, prover: SizeProver) -> SymbolicProblem:
        """What there is to place, with sizes as a prover reads them."""
        sizes = [prover.polynomial(self._lowered.buffers[place].bytes) for place in self._places]
        capacities: dict[PoolId, Polynomial] = {
            place: prover.polynomial(self._lowered.buffers[place].bytes) for place in self._lenders
        }
        return SymbolicProblem(self._structure, sizes, capacities)

    def most(self, bounds: Bounds) -> int | None:
        """Bytes that no arena is above for values of the symbols in `bounds`; None if a size has no known limit there."""
        prover = SizeProver(bounds)
        sized = self.sized(prover)
        footprints: list[int] = []
        for place in self._places:
            most = prover.greatest(self._lowered.buffers[place].bytes)
            if most is None:
                return None
            footprints.append(-(-most // ALIGNMENT) * ALIGNMENT)
        fitting = [
            stacking
            for stacking in self.stackings
            if self._for_all is not None or _sure(sized, stacking, prover) >= stacking.lent
        ]
        return min((arena_of(stacking, footprints) for stacking in fitting), default=sum(footprints))

    @cached_property
    def _structure(self) -> Problem:
        """Live ranges and pools; sizes are of no meaning."""
        return problem_of(self._lowered, [1] * len(self._lowered.buffers))

    @cached_property
    def _declared(self) -> tuple[SymbolicProblem, SizeProver]:
        """For the bounds that were declared."""
        prover = SizeProver(self._bounds)
        return self.sized(prover), prover

    @cached_property
    def _fixed(self) -> Plan:
        """The plan where no size varies that matters."""
        # What has a symbol is not in the problem, whatever its value.
        sizes = self.sizes.at(dict.fromkeys(self.sizes.names, max(SAMPLES)))
        problem = problem_of(self._lowered, sizes)
        return checked(problem, plan(problem))

    @cached_property
    def _samples(self) -> tuple[tuple[Problem, Plan], ...]:
        """Problems of different sizes with their plans, the greatest sizes first."""
        found: dict[tuple[int, ...], tuple[Problem, Plan]] = {}
        for symbols in self._sampled():
            sizes = tuple(self.sizes.at(symbols))
            if sizes not in found and all(size >= 0 for size in sizes) and sum(sizes) < MOST_BYTES:
                problem = problem_of(self._lowered, sizes)
                found[sizes] = problem, plan(problem)
        return tuple(found.values())

    def _sampled(self) -> Iterator[dict[str, int]]:
        names = self.sizes.names
        ends = {name: self._bounds.get(name, (0, None)) for name in names}
        for sample in (None, *SAMPLES):
            yield {
                name: _within(sample, low, high) if sample is not None or high is None else high
                for name, (low, high) in ends.items()
            }

    @cached_property
    def _for_all(self) -> Stacking | None:
        """The stacking of a sample that is proven to be good for all sizes."""
        if not self.symbols:
            return None
        sized, prover = self._declared
        for problem, made in self._samples:
            if len(problem.pools) == len(sized.capacities):
                found = good_for_all(problem, made, sized.sizes, sized.capacities, prover.ranges)
                if found is not None:
                    return found
        return None

    @cached_property
    def _on_call(self) -> tuple[OnCall, Checker]:
        """What plans for the sizes of a call, and what checks such plans."""
        problem = self._structure
        return OnCall(problem.buffers, self._lowered.windows, self._stackings), Checker(problem)

    @cached_property
    def _stackings(self) -> tuple[Stacking, ...]:
        """Those of the samples, and as they would be with no more than the loans that are proven to fit for all sizes."""
        sized, prover = self._declared
        found: list[Stacking] = []
        for problem, made in self._samples:
            stacking = read_stacking(problem.buffers, made)
            sure = _sure(sized, stacking, prover)
            found.append(stacking)
            if sure < stacking.lent:
                found.append(read_stacking(problem.buffers, borrowing_less(problem, made, sure)))
        return tuple(dict.fromkeys(found))


def _sure(sized: SymbolicProblem, stacking: Stacking, prover: SizeProver) -> frozenset[int]:
    return sure_loans(sized.problem, stacking, sized.sizes, sized.capacities, prover.ranges)


def _as_plan(problem: Problem, found: tuple[tuple[Placement, ...], int], bound: Bound, strategy: str) -> Plan | None:
    """Placements and their arena as a plan; None if that is more than is needed without reuse."""
    placements, arena = found
    no_reuse = sum(buffer.footprint for buffer in problem.buffers)
    return Plan(placements, arena, bound, strategy, no_reuse) if arena <= no_reuse else None


def _within(sample: int | None, low: int, high: int | None) -> int:
    wanted = SAMPLES[0] if sample is None else sample
    return max(low, wanted if high is None else min(wanted, high))
