"""One entry function, and the frames it runs in: tables of pointers and numbers, and the status word."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from hotdesk._bindings import ir
from hotdesk.errors import ExecutionError, OptionError
from hotdesk.ir.context import make_context
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.entry import KERNELS, NumberTable, entry_text, kernels_of
from hotdesk.passes.lower.flow_profile import profiled_flow
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.runtime.code import foreign
from hotdesk.runtime.code.jit import Machine
from hotdesk.runtime.plans.evaluating import Evaluator
from hotdesk.runtime.plans.layout import Layout
from hotdesk.runtime.plans.planner import Planner

_PROFILED = "hotdesk_profiled"


class Function:
    """One entry function: plans its buffers and makes frames to run it in."""

    def __init__(
        self,
        lowered: LoweredFunction,
        machine: Machine,
        assertions: Sequence[Assertion],
        bounds: Mapping[str, tuple[int, int | None]] | None = None,
    ) -> None:
        """`bounds` are the least and greatest value of each symbol in sizes."""
        self.lowered = lowered
        self.planner = Planner(lowered, bounds or {})
        self.entry = machine.entry(lowered.entry)
        self._machine = machine
        self._assertions = {a.code: a for a in assertions}
        self._sizes = Evaluator([b.bytes for b in lowered.buffers])
        self._numbers = Evaluator(lowered.numbers)

    def frame(self) -> Frame:
        """What one run at a time needs; any number of them may run at once."""
        return Frame(self)

    @property
    def constant_bytes(self) -> int:
        return sum(int(data.nbytes) for data in self.lowered.constants.values())

    @property
    def code_bytes(self) -> int:
        """The memory of its module's machine code; 0 where LLVM's engine keeps it."""
        code = self._machine.object
        return 0 if code is None else code.bytes

    def sizes(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The bytes of each buffer, by place in the pointer table."""
        return tuple(self._sizes.at(symbols))

    def layout(self, symbols: Mapping[str, int]) -> Layout:
        """Plans the buffers for one value of the symbols."""
        sizes = self.sizes(symbols)
        made = self.planner.plan(sizes)
        numbers = (ctypes.c_int64 * max(1, len(self.lowered.numbers)))(*self._numbers.at(symbols))
        return Layout(
            made,
            tuple((cast(int, p.buffer_id), p.offset) for p in made.placements if p.pool is None),
            tuple((cast(int, p.buffer_id), cast(int, p.pool), p.offset) for p in made.placements if p.pool is not None),
            numbers,
            sizes,
        )

    @cached_property
    def profiled(self) -> Callable[[int], None]:
        """The entry function with the time taken around each call. It is compiled here; the kernels are those of the program."""
        clock = getattr(time, "CLOCK_MONOTONIC", None)
        if clock is None:
            raise OptionError("profile", expected="a system with `clock_gettime`", got=sys.platform)
        kernels, calls = kernels_of(self.lowered.calls), self.lowered.calls
        addresses = (ctypes.c_int64 * max(1, len(kernels)))()
        self._machine.call(KERNELS, ctypes.addressof(addresses))
        with make_context(), ir.Location.unknown():
            if self.lowered.flow:
                module = profiled_flow(self.lowered.flow, self.lowered.entry, _PROFILED, clock)
            else:
                module = ir.Module.parse(entry_text(_PROFILED, calls, NumberTable(), clock))
        self._profiling = Machine(module, [_PROFILED], dict(zip(kernels, addresses, strict=False)))
        return self._profiling.entry(_PROFILED)

    def failure(self, code: int) -> ExecutionError:
        """What an assertion of the program says that has failed with this status."""
        failed = self._assertions[code]
        changed = "" if not self.lowered.state else ", and what it changes in place may be half written"
        op = f"`{failed.source.op}`"
        return ExecutionError(
            f"a check of {op} failed",
            expected=failed.message.removeprefix(f"{op}: "),
            got="values that do not fulfil it",
            where=failed.source.location or None,
            hint=f"The results of this call are not valid{changed}.",
        )


class Frame:
    """The tables that one run at a time reads: addresses of all buffers, symbolic sizes, and the status word it writes."""

    def __init__(self, function: Function) -> None:
        lowered = function.lowered
        self._function = function
        self._entry = function.entry
        self._result_places = lowered.result_places
        self._status = ctypes.c_int32()
        self._table = (ctypes.c_void_p * (len(lowered.buffers) + 1))()
        for place, data in lowered.constants.items():
            self._table[place] = data.ctypes.data
        self._table[len(lowered.buffers)] = ctypes.addressof(self._status)
        self._table_address = ctypes.c_void_p(ctypes.addressof(self._table))
        self._number_address = ctypes.c_void_p()
        self._stamp_address = ctypes.c_void_p()
        addresses = (self._table_address, self._number_address, self._stamp_address)
        self._packed = (ctypes.c_void_p * 3)(*map(ctypes.addressof, addresses))
        self._packed_address = ctypes.addressof(self._packed)

    def set_arena(self, layout: Layout, arena: int) -> None:
        for place, offset in layout.in_arena:
            self._table[place] = arena + offset
        self._number_address.value = ctypes.addressof(layout.numbers)

    def set_pointers(self, places: Sequence[int], addresses: Sequence[int]) -> None:
        table = self._table
        for place, address in zip(places, addresses, strict=True):
            table[place] = address

    def run(self, layout: Layout, results: Sequence[int]) -> None:
        """Runs with the pointers set; raises ExecutionError when an assertion of the program fails.

        `results` has an address for each result; one that lies in a donated input has that of the input.
        """
        self._run(self._entry, layout, results)

    def profile(self, layout: Layout, results: Sequence[int]) -> list[tuple[float, int]]:
        """Runs like `run`, and returns the seconds that each kernel call took, and how often it was made."""
        stamps = np.zeros((len(self._function.lowered.calls) + 1, 2), dtype=np.int64)
        self._stamp_address.value = stamps.ctypes.data
        self._run(self._function.profiled, layout, results)
        if self._function.lowered.flow:
            return [(int(taken) / 1e9, int(count)) for taken, count in stamps[1:]]
        nanoseconds: npt.NDArray[np.int64] = stamps[:, 0] * 1_000_000_000 + stamps[:, 1]
        return [(taken, 1) for taken in cast("list[float]", (np.diff(nanoseconds) / 1e9).tolist())]

    def _run(self, entry: Callable[[int], None], layout: Layout, results: Sequence[int]) -> None:
        self.set_pointers(self._result_places, results)
        table = self._table
        for place, lender, offset in layout.lent:
            table[place] = (table[lender] or 0) + offset
        self._status.value = 0
        entry(self._packed_address)
        code = int(self._status.value)
        if code == foreign.FAILED:
            raise foreign.raised(ctypes.addressof(self._status))
        if code:
            raise self._function.failure(code)
