"""The most memory that calls of a program take, for all sizes in a range.

1. Where no size falls as a symbol rises, each figure is greatest at the upper end of all ranges, and exact if a call with these
   sizes is allowed.
2. Other sizes are bounded from above by their coefficients (`sizes.polynomials`). Sums of such bounds are bounds
   that may lie above every call.
3. The arena of every call is at most that of some stacking which serves all sizes, for buffers of their greatest sizes
   (`runtime.plans.planner`). It is exact where the call with the greatest sizes needs as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hotdesk.errors import OptionError
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.report.memory import Memory, WorstCase
from hotdesk.runtime.lowered import own_results
from hotdesk.runtime.plans.describing import certified
from hotdesk.runtime.plans.planner import Planner
from hotdesk.runtime.plans.problems import MOST_BYTES, placed
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import spelled

Limits = Mapping[str, tuple[int, int]]


def worst_case(
    lowered: LoweredFunction,
    planner: Planner,
    ranges: Limits,
    inputs: Iterable[int],
    weights: int,
    prepared: int,
    *,
    is_allowed: bool,
) -> WorstCase:
    """The most that calls of a function take.

    Args:
        lowered, planner: the function, and what plans for it.
        ranges: the least and greatest value of each symbol.
        inputs: places of the inputs in the pointer table.
        weights, prepared: bytes of weights and of what was prepared.
        is_allowed: whether a call with the greatest values is.

    Raises:
        OptionError: a size has no limit that is known, or one beyond all memory.
    """
    corner = {name: high for name, (_, high) in ranges.items()}
    sizes = tuple(planner.sizes.at(corner))
    _check_all_memory(sizes, corner)
    plan, most = planner.solve(sizes), _GreatestSizes(lowered, ranges, sizes)
    given, results, donated = tuple(inputs), own_results(lowered), lowered.donated
    held = placed(lowered)
    lends = any(place in lowered.windows for place in donated)
    outputs = most.of(results)
    arena = planner.most(ranges) if planner.depends_on_sizes else plan.arena
    if arena is None:
        arena = most.of(held, ALIGNMENT)
    memory = Memory(
        arena=arena,
        peak=arena + outputs,
        lower_bound=arena,
        no_reuse=most.of(held, ALIGNMENT) + outputs,
        weights=weights,
        prepared=prepared,
        inputs=most.of(given),
        outputs=outputs,
        allocations=len(plan.placements),
        donated=most.of(donated),
        lent=most.of(held) if lends else 0,
        certificate=certified(lowered, sizes, plan) if is_allowed and plan.bound.bytes == arena else None,
    )
    reached = {
        "inputs": most.are_reached(given),
        "outputs": most.are_reached(results),
        "donated": most.are_reached(donated),
        "arena": plan.arena == arena,
        "lower_bound": plan.bound.bytes == arena,
        "no_reuse": most.are_reached((*held, *results)),
        "peak": plan.arena == arena and most.are_reached(results),
    }
    exact = {"weights", "prepared", "allocations", "state"}
    exact.update(name for name, is_reached in reached.items() if is_allowed and is_reached)
    exact.update(name for name, is_there in (("lent", lends), ("grown", lowered.takes_region)) if not is_there)
    return WorstCase(memory, tuple(ranges.items()), frozenset(exact))


def _check_all_memory(sizes: Sequence[int], corner: Mapping[str, int]) -> None:
    """Raises OptionError for sizes that are together beyond all memory."""
    if sum(sizes) >= MOST_BYTES:
        raise OptionError(
            f"the sizes at {', '.join(f'{name} = {high}' for name, high in corner.items())}",
            expected=f"less than {MOST_BYTES} bytes together",
            got=str(sum(sizes)),
            hint='Ask about a smaller range, as in `program.memory({"batch": (1, 64)})`.',
        )


class _GreatestSizes:
    """The greatest sizes of buffers, by place in the pointer table; `at_corner` are those at the upper ends of all ranges."""

    def __init__(self, lowered: LoweredFunction, ranges: Limits, at_corner: Sequence[int]) -> None:
        self._buffers, self._prover, self._at_corner = lowered.buffers, SizeProver(ranges), at_corner

    def of(self, places: Iterable[int], rounded: int = 1) -> int:
        """The bytes of some buffers together, each rounded up to a multiple.

        Raises:
            OptionError: a size has no limit that is known.
        """
        return sum(-(-self._greatest(place) // rounded) * rounded for place in places)

    def are_reached(self, places: Iterable[int]) -> bool:
        """Whether some buffers have their greatest sizes at the upper ends of all ranges."""
        return all(self._prover.never_falls(self._buffers[place].bytes) for place in places)

    def _greatest(self, place: int) -> int:
        size = self._buffers[place].bytes
        high = self._at_corner[place] if self._prover.never_falls(size) else self._prover.greatest(size)
        if high is None:
            unknown = f"the size {spelled(size)}"
            raise OptionError(unknown, expected="one with a known limit", got="none is known")
        return high
