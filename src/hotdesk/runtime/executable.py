"""A lowered program with memory: weights, prepared values, arenas, and a plan for each value of the symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from hotdesk.errors import OptionError, ShapeError
from hotdesk.python.record import Record
from hotdesk.runtime.code.threads import core_count
from hotdesk.runtime.frames import Frames
from hotdesk.runtime.function import Evaluates, Frame, Function
from hotdesk.runtime.interface import Binding, Details, TensorSpec
from hotdesk.runtime.lowered import held_results, own_results
from hotdesk.runtime.plans.layout import Layout
from hotdesk.runtime.shared import Arena, Shared
from hotdesk.sizes.size import Bounds, spelled

if TYPE_CHECKING:
    from hotdesk.explain import Decision
    from hotdesk.passes.lower.function import SizeCheck
    from hotdesk.report.certificates import Certificate
    from hotdesk.report.memory import Memory, WorstCase
    from hotdesk.report.profile import KernelTimes


class Checks(Protocol):
    """What the sizes of a call must fulfil."""

    def failed(self, symbols: Mapping[str, int]) -> SizeCheck | None:
        """The first check that does not hold."""
        ...


class ProgramInterface(Record):
    """What a program is called with and returns.

    Attributes:
        inputs, results: in the order of the program.
        input_places: the place of each input in the pointer table.
        constraints: the least and the greatest value of each symbol; `None` stands for no greatest.
    """

    inputs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    input_places: tuple[int, ...]
    constraints: Bounds


class HeldMemory(Record):
    """Memory that a program holds as long as it lives.

    Attributes:
        addresses: of weights, state and prepared values, by place in the pointer table.
        owners: what that memory belongs to.
        weight_bytes, state_bytes, prepared_bytes: how much it is; tied weights count once.
    """

    addresses: Mapping[int, int]
    owners: tuple[object, ...]
    weight_bytes: int
    state_bytes: int
    prepared_bytes: int


class PlannedExecutable:
    """What a `Program` runs: implements `runtime.interface.Executable`."""

    __slots__ = ("_arenas", "_checks", "_decisions", "_frames", "_held", "_interface", "_main", "_result_sizes")

    def __init__(
        self,
        main: Function,
        interface: ProgramInterface,
        held: HeldMemory,
        checks: Checks,
        result_sizes: Evaluates,
        decisions: Sequence[Decision] = (),
        shared: Shared | None = None,
    ) -> None:
        """`result_sizes` are those of all dimensions of the results, one after the other."""
        self._main = main
        self._interface = interface
        self._held = held
        self._decisions = tuple(decisions)
        self._frames = Frames(self._frame, core_count())
        self._arenas = (shared or Shared()).arenas
        self._checks = checks
        self._result_sizes = result_sizes

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        return self._interface.inputs

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        return self._interface.results

    @property
    def held(self) -> Mapping[int, int]:
        """The results that lie in the memory of donated inputs, by number, each with the number of the input."""
        places = self._interface.input_places
        return {number: places.index(place) for number, place in held_results(self._main.lowered).items()}

    @property
    def constraints(self) -> Bounds:
        return self._interface.constraints

    def bind(self, symbols: Mapping[str, int]) -> Binding:
        """Plans for one value of the symbols; the arena is made when something runs in it.

        Raises ShapeError when a check of the program on its sizes does not hold.
        """
        self._check_sizes(symbols)
        layout = self._main.layout(symbols)
        memory = self._memory(layout)
        return Binding(dict(symbols), self._shapes(symbols), memory, layout)

    def details(self, binding: Binding) -> Details:
        from hotdesk.runtime.plans.describing import at_peak, buffer_lines, shared_decisions

        layout = binding.layout
        names = {place: spec.name for place, spec in zip(self._interface.input_places, self.inputs, strict=True)}
        lines = buffer_lines(self._main.lowered, layout, names, binding.symbols)
        shared = shared_decisions(self._main.lowered, layout, names)
        return Details(at_peak(lines), (*self._decisions, *shared), lines, tuple(self._main.lowered.sources))

    def certificate(self, binding: Binding) -> Certificate:
        from hotdesk.runtime.plans.describing import certified

        layout = binding.layout
        return certified(self._main.lowered, layout.sizes, layout.plan)

    @property
    def plans(self) -> tuple[int, bool]:
        return self._main.planner.made, self._main.planner.serves_all_sizes

    def worst(self, ranges: Mapping[str, tuple[int, int]]) -> WorstCase:
        """The most that a call takes, for all values of the symbols in range. Raises OptionError where a size has no limit."""
        raise OptionError("the worst case", expected="a program that `hotdesk.compile` made", got="one from a file")

    def run(self, binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
        layout = binding.layout
        taken, arena = self._take()
        try:
            taken.place(layout, arena)
            taken.set_inputs(inputs)
            taken.frame.run(layout, results)
        finally:
            self._arenas.give(arena)
            self._frames.give(taken)

    def profile(self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int) -> KernelTimes:
        raise OptionError("a profile", expected="a program that `hotdesk.compile` made", got="one from a file")

    def times(
        self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int
    ) -> list[list[tuple[float, int]]]:
        """For each run, the seconds of each kernel call, and how often it was made."""
        layout = binding.layout
        taken, arena = self._take()
        try:
            taken.place(layout, arena)
            taken.set_inputs(inputs)
            return [taken.frame.profile(layout, results) for _ in range(runs)]
        finally:
            self._arenas.give(arena)
            self._frames.give(taken)

    @property
    def arenas(self) -> int:
        """How many arenas there are: as many as calls ran at once, and no more than processor cores."""
        return self._arenas.made

    @property
    def grown(self) -> int:
        return self._main.grown

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
        frame.set_pointers(tuple(self._held.addresses), tuple(self._held.addresses.values()))
        return _PlacedFrame(frame, self._interface.input_places)

    def _check_sizes(self, symbols: Mapping[str, int]) -> None:
        check = self._checks.failed(symbols)
        if check is not None:
            raise ShapeError(
                "the sizes of the arguments do not go together",
                expected=f"{spelled(check.relation)} ({check.message})",
                got=", ".join(f"{k} = {v}" for k, v in symbols.items()),
                where=check.source.location,
            )

    def _shapes(self, symbols: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        rest = iter(self._result_sizes.at(symbols))
        return tuple(tuple(next(rest) for _ in spec.shape) for spec in self.results)

    def _memory(self, layout: Layout) -> Memory:
        from hotdesk.report.memory import Memory

        lowered, arena = self._main.lowered, layout.plan.arena
        outputs = sum(layout.sizes[place] for place in own_results(lowered))
        return Memory(
            arena=arena,
            peak=arena + outputs,
            lower_bound=layout.plan.bound.bytes,
            no_reuse=layout.plan.no_reuse + outputs,
            weights=self._held.weight_bytes,
            prepared=self._held.prepared_bytes + self._main.constant_bytes,
            inputs=sum(layout.sizes[place] for place in self._interface.input_places),
            outputs=outputs,
            allocations=len(layout.in_arena) + len(layout.lent),
            donated=sum(layout.sizes[place] for place in lowered.donated),
            lent=sum(layout.sizes[place] for place, lender, _ in layout.lent if lender in lowered.donated),
            state=self._held.state_bytes,
        )


class _PlacedFrame:
    """A frame, and where its buffers were put last."""

    __slots__ = ("_address", "_layout", "frame", "set_inputs")

    def __init__(self, frame: Frame, input_places: Sequence[int]) -> None:
        self.frame = frame
        self.set_inputs = frame.writer(input_places)
        self._layout: Layout | None = None
        self._address = 0

    def place(self, layout: Layout, arena: Arena) -> None:
        """Gives the buffers of a plan their places in an arena. Raises OutOfMemoryError."""
        if layout.plan.arena > arena.size:
            arena.reserve(layout.plan.arena)
        if self._layout is layout and self._address == arena.address:
            return
        self._layout = None  # until all have theirs: Ctrl-C may come between
        self.frame.set_arena(layout, arena.address)
        self._layout, self._address = layout, arena.address
