"""A lowered program with memory: weights, prepared values, one arena, and a plan for each value of the symbols."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import sympy

from hotdesk.errors import ExecutionError, ShapeError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.symbolic import Size
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.planning import Buffer, Plan, Pool, Problem, plan
from hotdesk.report.records import BufferLine, Memory
from hotdesk.runtime.interface import Binding, TensorSpec
from hotdesk.runtime.jit import Machine, use_blas_threads

ALIGNMENT = 64

Bytes = npt.NDArray[np.uint8]


def aligned(size: int) -> tuple[Bytes, int]:
    """Uninitialised memory and the address in it that is aligned to `ALIGNMENT`."""
    memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
    return memory, -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT


class Sizes:
    """Evaluates many size expressions at once."""

    def __init__(self, expressions: Sequence[Size]) -> None:
        self._names = sorted({str(s) for e in expressions if isinstance(e, sympy.Expr) for s in e.free_symbols})
        symbols = [sympy.Symbol(name) for name in self._names]
        self._function: Any = cast(Any, sympy).lambdify(symbols, list(expressions), modules="math", cse=True)

    def at(self, symbols: Mapping[str, int]) -> list[int]:
        return [int(value) for value in self._function(*(symbols[name] for name in self._names))]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies for one value of the symbols: arena offsets and result offsets by place in the pointer table."""

    plan: Plan
    in_arena: tuple[tuple[int, int], ...]
    in_result: tuple[tuple[int, int, int], ...]
    numbers: Any
    products: int
    sizes: tuple[int, ...]


class Function:
    """One entry function and its tables."""

    def __init__(self, lowered: LoweredFunction, machine: Machine, assertions: Sequence[Assertion]) -> None:
        self.lowered = lowered
        self._entry = machine.entry(lowered.entry)
        self._assertions = {a.code: a for a in assertions}
        self._sizes = Sizes([b.bytes for b in lowered.buffers])
        self._numbers = Sizes(lowered.numbers)
        self._products = Sizes(list(dict.fromkeys(call.products for call in lowered.calls)))
        self._status = np.zeros(1, dtype=np.int32)
        self._constants = lowered.constants
        self._table = (ctypes.c_void_p * (len(lowered.buffers) + 1))()
        for place, data in self._constants.items():
            self._table[place] = data.ctypes.data
        self._table[len(lowered.buffers)] = self._status.ctypes.data
        self._table_address = ctypes.c_void_p(ctypes.addressof(self._table))
        self._number_address = ctypes.c_void_p()
        self._packed = (ctypes.c_void_p * 2)(
            ctypes.addressof(self._table_address), ctypes.addressof(self._number_address)
        )

    @property
    def constant_bytes(self) -> int:
        return sum(int(data.nbytes) for data in self._constants.values())

    def layout(self, symbols: Mapping[str, int]) -> Layout:
        """Plans the buffers for one value of the symbols."""
        lowered = self.lowered
        sizes = tuple(self._sizes.at(symbols))
        allocations = [i for i, b in enumerate(lowered.buffers) if b.kind == "alloc"]
        pools = [
            Pool(place, sizes[place], ((0, lowered.buffers[place].lower),))
            for place in lowered.result_places
            if lowered.buffers[place].lower > 0 and sizes[place] > 0
        ]
        problem = Problem(
            tuple(
                Buffer(i, lowered.buffers[i].lower, lowered.buffers[i].upper, sizes[i], ALIGNMENT) for i in allocations
            ),
            tuple(pools),
        )
        made = plan(problem)
        numbers = (ctypes.c_int64 * max(1, len(lowered.numbers)))(*self._numbers.at(symbols))
        return Layout(
            made,
            tuple((cast(int, p.buffer_id), p.offset) for p in made.placements if p.pool is None),
            tuple((cast(int, p.buffer_id), cast(int, p.pool), p.offset) for p in made.placements if p.pool is not None),
            numbers,
            max(self._products.at(symbols), default=0),
            sizes,
        )

    def set_arena(self, layout: Layout, arena: int) -> None:
        for place, offset in layout.in_arena:
            self._table[place] = arena + offset
        self._number_address.value = ctypes.addressof(layout.numbers)

    def set_pointers(self, places: Sequence[int], addresses: Sequence[int]) -> None:
        for place, address in zip(places, addresses, strict=True):
            self._table[place] = address

    def run(self, layout: Layout, results: Sequence[int]) -> None:
        """Runs with the pointers set; raises ExecutionError when an assertion of the program fails."""
        for place, address in zip(self.lowered.result_places, results, strict=True):
            self._table[place] = address
        for place, result, offset in layout.in_result:
            self._table[place] = cast(int, self._table[result]) + offset
        self._status[0] = 0
        use_blas_threads(layout.products)
        self._entry(ctypes.addressof(self._packed))
        if self._status[0]:
            failed = self._assertions[int(self._status[0])]
            raise ExecutionError(
                "a check of the program failed",
                expected=failed.message,
                got="values that do not fulfil it",
                where=failed.source.location or None,
                hint="The results of this call are not valid.",
            )


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
    ) -> None:
        """`fixed` are addresses by place (weights, prepared values); `keep` is what their memory belongs to."""
        self._main = main
        self._inputs = tuple(inputs)
        self._results = tuple(results)
        self._constraints = dict(constraints)
        self._input_places = tuple(input_places)
        self._keep = tuple(keep)
        self._weight_bytes = weight_bytes
        self._prepared_bytes = prepared_bytes
        self._decisions = tuple(decisions)
        self._arena, self._arena_address = aligned(0)
        self._arena_size = 0
        self._current: Layout | None = None
        self._result_sizes = Sizes([dim for spec in results for dim in spec.shape])
        main.set_pointers(tuple(fixed), tuple(fixed.values()))

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        return self._inputs

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        return self._results

    @property
    def constraints(self) -> Mapping[str, tuple[int, int | None]]:
        return self._constraints

    def bind(self, symbols: Mapping[str, int]) -> Binding:
        """Plans for one value of the symbols and makes sure that the arena is large enough.

        Raises ShapeError when a check of the program on its sizes does not hold.
        """
        self._check_sizes(symbols)
        layout = self._main.layout(symbols)
        if layout.plan.arena > self._arena_size:
            self._arena, self._arena_address = aligned(layout.plan.arena)
            self._arena_size = layout.plan.arena
            self._current = None
        lines = _buffer_lines(self._main.lowered, layout)
        return PlannedBinding(
            dict(symbols),
            self._shapes(symbols),
            self._memory(layout),
            _at_peak(lines),
            (*self._decisions, *_shared(self._main.lowered, layout)),
            lines,
            layout=layout,
        )

    def run(self, binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
        layout = cast(PlannedBinding, binding).layout
        if layout is not self._current:
            self._main.set_arena(layout, self._arena_address)
            self._current = layout
        self._main.set_pointers(self._input_places, inputs)
        self._main.run(layout, results)

    def _check_sizes(self, symbols: Mapping[str, int]) -> None:
        for check in self._main.lowered.checks:
            relation = check.relation.subs({sympy.Symbol(k): v for k, v in symbols.items()})
            if relation is not sympy.true:
                raise ShapeError(
                    "the sizes of the arguments do not go together",
                    expected=f"{check.relation} ({check.message})",
                    got=", ".join(f"{k} = {v}" for k, v in symbols.items()),
                    where=check.source.location or None,
                )

    def _shapes(self, symbols: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        rest = iter(self._result_sizes.at(symbols))
        return tuple(tuple(next(rest) for _ in spec.shape) for spec in self._results)

    def _memory(self, layout: Layout) -> Memory:
        outputs = sum(layout.sizes[place] for place in self._main.lowered.result_places)
        arena = layout.plan.arena
        return Memory(
            arena=arena,
            peak=arena + outputs,
            lower_bound=layout.plan.bound.bytes,
            no_reuse=layout.plan.no_reuse + outputs,
            weights=self._weight_bytes,
            prepared=self._prepared_bytes + self._main.constant_bytes,
            inputs=sum(layout.sizes[place] for place in self._input_places),
            outputs=outputs,
            allocations=len(layout.in_arena) + len(layout.in_result),
        )


@dataclass(frozen=True, slots=True)
class PlannedBinding(Binding):
    """A binding with the layout it stands for."""

    layout: Layout = field(kw_only=True)


def _buffer_lines(lowered: LoweredFunction, layout: Layout) -> tuple[BufferLine, ...]:
    """Every buffer of the arena and every result, in the order of first use. Results live to the end."""
    end = len(lowered.sources)
    lines = [_line(lowered, layout, place, "arena", offset) for place, offset in layout.in_arena]
    for place, result, offset in layout.in_result:
        lines.append(_line(lowered, layout, place, f"lent by result {lowered.result_places.index(result)}", offset))
    for number, place in enumerate(lowered.result_places):
        lines.append(replace(_line(lowered, layout, place, f"result {number}", 0), upper=end))
    return tuple(sorted(lines, key=lambda line: (line.lower, line.upper)))


def _line(lowered: LoweredFunction, layout: Layout, place: int, where: str, offset: int) -> BufferLine:
    use = lowered.buffers[place]
    source = lowered.sources[use.lower] if use.lower < use.upper else None
    name = source.op if source is not None else use.kind
    location = source.location if source is not None else ""
    return BufferLine(name, layout.sizes[place], location, use.lower, use.upper, where, offset)


def _at_peak(lines: Sequence[BufferLine]) -> tuple[BufferLine, ...]:
    """The buffers in use at the step where most bytes are, largest first."""
    changes: dict[int, int] = {}
    for line in lines:
        changes[line.lower] = changes.get(line.lower, 0) + line.bytes
        changes[line.upper] = changes.get(line.upper, 0) - line.bytes
    step, live, most = 0, 0, -1
    for moment in sorted(changes):
        live += changes[moment]
        if live > most:
            step, most = moment, live
    present = [line for line in lines if line.lower <= step < line.upper and line.bytes]
    return tuple(sorted(present, key=lambda line: (-line.bytes, line.lower)))


def _shared(lowered: LoweredFunction, layout: Layout) -> list[Decision]:
    """Which buffers took over bytes of one that died before, or of a result that is written later."""
    decisions: list[Decision] = []
    for place, result, _ in layout.in_result:
        source = lowered.sources[lowered.buffers[place].lower]
        subject = f"{source.op} in result {lowered.result_places.index(result)}"
        decisions.append(Decision(subject, Outcome.LENT, Reason.RESULT_SLOT, (source,), layout.sizes[place]))
    earlier: list[tuple[int, int, int]] = []
    for place, offset in sorted(layout.in_arena, key=lambda entry: lowered.buffers[entry[0]].lower):
        use, size = lowered.buffers[place], layout.sizes[place]
        source = lowered.sources[use.lower]
        previous = [other for start, stop, other in earlier if start < offset + size and offset < stop]
        if previous and size:
            before = lowered.sources[lowered.buffers[previous[-1]].lower]
            decisions.append(Decision(source.op, Outcome.SHARED, Reason.LIVE_RANGE_ENDED, (source, before), size))
        earlier.append((offset, offset + size, place))
    return decisions
