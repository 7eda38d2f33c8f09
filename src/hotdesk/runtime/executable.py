"""A lowered program with memory: weights, prepared values, arenas, and a plan for each value of the symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import sympy

from hotdesk.errors import ShapeError
from hotdesk.explain import Decision, Source
from hotdesk.ir.written_sizes import written
from hotdesk.passes.lower.function import SizeCheck
from hotdesk.report.profile import KernelProfile
from hotdesk.report.records import Certificate, Memory, WorstCase
from hotdesk.runtime.code.profiling import kernel_profiles
from hotdesk.runtime.code.roof import measured_roof
from hotdesk.runtime.code.threads import core_count
from hotdesk.runtime.frames import Frames
from hotdesk.runtime.function import Frame, Function
from hotdesk.runtime.interface import Binding, Details, TensorSpec
from hotdesk.runtime.plans.certificates import certified
from hotdesk.runtime.plans.evaluating import Evaluator
from hotdesk.runtime.plans.layout import Layout, at_peak, buffer_lines, shared_decisions
from hotdesk.runtime.plans.worst import worst_case
from hotdesk.runtime.shared import Arena, Shared


class CompiledProgram:
    """What a `Program` runs: implements `runtime.interface.Executable`."""

    def __init__(
        self,
        main: Function,
        inputs: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
        constraints: Mapping[str, tuple[int, int | None]],
        input_places: Sequence[int],
        fixed: Mapping[int, int],
        keep: Sequence[object],
        weight_bytes: int,
        prepared_bytes: int,
        decisions: Sequence[Decision],
        assumptions: Sequence[Any] = (),
        state_bytes: int = 0,
        shared: Shared | None = None,
    ) -> None:
        """`fixed` are addresses by place (weights, state, prepared values); `keep` is what their memory belongs to.

        `assumptions` are relations that the sizes of a call must fulfil besides those that the program itself checks.
        """
        self._main = main
        self._inputs = tuple(inputs)
        self._results = tuple(results)
        self._constraints = dict(constraints)
        self._input_places = tuple(input_places)
        self._keep = tuple(keep)
        self._weight_bytes = weight_bytes
        self._prepared_bytes = prepared_bytes
        self._state_bytes = state_bytes
        shared = shared or Shared()
        self._decisions = tuple(decisions)
        self._fixed = tuple(fixed), tuple(fixed.values())
        self._frames = Frames(self._frame, core_count())
        self._arenas = shared.arenas
        self._checks = _distinct((*main.lowered.checks, *map(_assumption, assumptions)))
        self._result_sizes = Evaluator([dim for spec in results for dim in spec.shape])

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        return self._inputs

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        return self._results

    @property
    def held(self) -> Mapping[int, int]:
        """The results that lie in the memory of donated inputs, by number, each with the number of the input."""
        return {number: self._input_places.index(place) for number, place in self._main.lowered.held.items()}

    @property
    def constraints(self) -> Mapping[str, tuple[int, int | None]]:
        return self._constraints

    def bind(self, symbols: Mapping[str, int]) -> Binding:
        """Plans for one value of the symbols; the arena is made when something runs in it.

        Raises ShapeError when a check of the program on its sizes does not hold.
        """
        self._check_sizes(symbols)
        layout = self._main.layout(symbols)
        memory = self._memory(layout)
        return PlannedBinding(dict(symbols), self._shapes(symbols), memory, layout.bytes, layout=layout)

    def details(self, binding: Binding) -> Details:
        layout = cast(PlannedBinding, binding).layout
        names = {place: spec.name for place, spec in zip(self._input_places, self._inputs, strict=True)}
        lines = buffer_lines(self._main.lowered, layout, names)
        shared = shared_decisions(self._main.lowered, layout, names)
        return Details(at_peak(lines), (*self._decisions, *shared), lines)

    def certificate(self, binding: Binding) -> Certificate:
        layout = cast(PlannedBinding, binding).layout
        return certified(self._main.lowered, layout.sizes, layout.plan.bound)

    @property
    def plans(self) -> tuple[int, bool]:
        return self._main.planner.made, self._main.planner.serves_all_sizes

    def worst(self, ranges: Mapping[str, tuple[int, int]]) -> WorstCase:
        """The most that a call takes, for all values of the symbols in range. Raises OptionError where a size has no limit."""
        prepared = self._prepared_bytes + self._main.constant_bytes
        corner = {name: high for name, (_, high) in ranges.items()}
        is_allowed = self._failed_check(corner) is None
        found = worst_case(self._main, ranges, self._input_places, self._weight_bytes, prepared, is_allowed=is_allowed)
        return replace(found, memory=replace(found.memory, state=self._state_bytes))

    def run(self, binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
        layout: Layout = cast(Any, binding).layout
        taken, arena = self._take()
        try:
            taken.place(layout, arena)
            taken.frame.set_pointers(self._input_places, inputs)
            taken.frame.run(layout, results)
        finally:
            self._arenas.give(arena)
            self._frames.give(taken)

    def profile(
        self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int
    ) -> tuple[KernelProfile, ...]:
        layout = cast(PlannedBinding, binding).layout
        taken, arena = self._take()
        try:
            taken.place(layout, arena)
            taken.frame.set_pointers(self._input_places, inputs)
            times = [taken.frame.profile(layout, results) for _ in range(1 + runs)]
        finally:
            self._arenas.give(arena)
            self._frames.give(taken)
        return kernel_profiles(self._main.lowered.calls, times[1:], binding.symbols, measured_roof())

    @property
    def arenas(self) -> int:
        """How many arenas there are: as many as calls ran at once, and no more than processor cores."""
        return self._arenas.made

    @property
    def code_bytes(self) -> int:
        return self._main.code_bytes

    def _take(self) -> tuple[_PlacedFrame, Arena]:
        """A frame and an arena that no other call has."""
        taken = self._frames.take()
        try:
            return taken, self._arenas.take()
        except BaseException:
            self._frames.give(taken)
            raise

    def _frame(self) -> _PlacedFrame:
        frame = self._main.frame()
        frame.set_pointers(*self._fixed)
        return _PlacedFrame(frame)

    def _check_sizes(self, symbols: Mapping[str, int]) -> None:
        check = self._failed_check(symbols)
        if check is not None:
            raise ShapeError(
                "the sizes of the arguments do not go together",
                expected=f"{written(check.relation)} ({check.message})",
                got=", ".join(f"{k} = {v}" for k, v in symbols.items()),
                where=check.source.location or None,
            )

    def _failed_check(self, symbols: Mapping[str, int]) -> SizeCheck | None:
        """The first check of the program on its sizes that does not hold."""
        values = {sympy.Symbol(k): v for k, v in symbols.items()}
        return next((check for check in self._checks if check.relation.subs(values) is not sympy.true), None)

    def _shapes(self, symbols: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        rest = iter(self._result_sizes.at(symbols))
        return tuple(tuple(next(rest) for _ in spec.shape) for spec in self._results)

    def _memory(self, layout: Layout) -> Memory:
        lowered, arena = self._main.lowered, layout.plan.arena
        outputs = sum(layout.sizes[place] for place in lowered.own_results)
        return Memory(
            arena=arena,
            peak=arena + outputs,
            lower_bound=layout.plan.bound.bytes,
            no_reuse=layout.plan.no_reuse + outputs,
            weights=self._weight_bytes,
            prepared=self._prepared_bytes + self._main.constant_bytes,
            inputs=sum(layout.sizes[place] for place in self._input_places),
            outputs=outputs,
            allocations=len(layout.in_arena) + len(layout.lent),
            donated=sum(layout.sizes[place] for place in lowered.donated),
            lent=sum(layout.sizes[place] for place, lender, _ in layout.lent if lender in lowered.donated),
            state=self._state_bytes,
        )


class _PlacedFrame:
    """A frame, and where its buffers were put last."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._layout: Layout | None = None
        self._address = 0

    def place(self, layout: Layout, arena: Arena) -> None:
        """Gives the buffers of a plan their places in an arena. Raises OutOfMemoryError."""
        arena.reserve(layout.plan.arena)
        if self._layout is layout and self._address == arena.address:
            return
        self._layout = None  # until all have theirs: Ctrl-C may come between
        self.frame.set_arena(layout, arena.address)
        self._layout, self._address = layout, arena.address


def _assumption(relation: Any) -> SizeCheck:
    if isinstance(relation, SizeCheck):
        return relation
    return SizeCheck(relation, "assumed when the model was captured", Source("capture"))


def _distinct(checks: Sequence[SizeCheck]) -> tuple[SizeCheck, ...]:
    """The first check of each relation: layers that are alike ask the same many times."""
    found: dict[object, SizeCheck] = {}
    for check in checks:
        found.setdefault(check.relation, check)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class PlannedBinding(Binding):
    """A binding with the layout it stands for."""

    layout: Layout = field(kw_only=True)
