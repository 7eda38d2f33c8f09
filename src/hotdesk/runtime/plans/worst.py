"""The most memory that calls of a program take, for all sizes in a range.

1. Where no size falls as a symbol rises, each figure is greatest at the upper end of all ranges, and exact if a call with these
   sizes is allowed.
2. Other sizes are bounded from above by their coefficients (`sizes.polynomials`). Sums of such bounds are bounds
   that may lie above every call.
3. The arena of every call is at most that of some stacking which serves all sizes, for buffers of their greatest sizes
   (`runtime.plans.planner`). It is exact where the call with the greatest sizes needs as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hotdesk.errors import OptionError
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.report.memory import Memory, WorstCase
from hotdesk.runtime.lowered import own_results
from hotdesk.runtime.plans.describing import certified
from hotdesk.runtime.plans.layout import ALIGNMENT
from hotdesk.runtime.plans.planner import Planner
from hotdesk.runtime.plans.problems import MOST_BYTES
from hotdesk.sizes.expressions import Evaluator
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
    sizes = tuple(Evaluator([buffer.bytes for buffer in lowered.buffers]).at(corner))
    if sum(sizes) >= MOST_BYTES:
        raise OptionError(
            f"the sizes at {', '.join(f'{name} = {high}' for name, high in corner.items())}",
            expected=f"less than {MOST_BYTES} bytes together",
            got=str(sum(sizes)),
            hint='Ask about a smaller range, as in `program.memory({"batch": (1, 64)})`.',
        )
    plan = planner.solve(sizes)
    prover = SizeProver(ranges)

    def most(place: int, rounded: int = 1) -> int:
        size = lowered.buffers[place].bytes
        high = sizes[place] if prover.never_falls(size) else prover.greatest(size)
        if high is None:
            raise OptionError(
                f"the size {spelled(size)}",
                expected="one with a known limit",
                got="none is known",
            )
        return -(-high // rounded) * rounded

    def rise(places: Iterable[int]) -> bool:
        return all(prover.never_falls(lowered.buffers[place].bytes) for place in places)

    given, results = tuple(inputs), own_results(lowered)
    held = tuple(i for i, use in enumerate(lowered.buffers) if use.kind == "alloc" and use.lower < use.upper)
    donated = lowered.donated
    lends = any(place in lowered.windows for place in donated)
    outputs = sum(map(most, results))
    arena = planner.most(ranges) if planner.depends_on_sizes else plan.arena
    if arena is None:
        arena = sum(most(place, ALIGNMENT) for place in held)
    memory = Memory(
        arena=arena,
        peak=arena + outputs,
        lower_bound=arena,
        no_reuse=sum(most(place, ALIGNMENT) for place in held) + outputs,
        weights=weights,
        prepared=prepared,
        inputs=sum(map(most, given)),
        outputs=outputs,
        allocations=len(plan.placements),
        donated=sum(map(most, donated)),
        lent=sum(map(most, held)) if lends else 0,
        certificate=certified(lowered, sizes, plan.bound) if is_allowed and plan.bound.bytes == arena else None,
    )
    exact = {"weights", "prepared", "allocations", "state"}
    if not lends:
        exact.add("lent")
    if not lowered.takes_region:
        exact.add("grown")
    if is_allowed:
        reached = {
            "inputs": rise(given),
            "outputs": rise(results),
            "donated": rise(donated),
            "arena": plan.arena == arena,
            "lower_bound": plan.bound.bytes == arena,
            "no_reuse": rise((*held, *results)),
            "peak": plan.arena == arena and rise(results),
        }
        exact.update(name for name, is_reached in reached.items() if is_reached)
    return WorstCase(memory, tuple(ranges.items()), frozenset(exact))
