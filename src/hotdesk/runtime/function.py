"""One entry function with its tables: pointers, numbers and the status word."""

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
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.runtime.evaluating import Evaluator
from hotdesk.runtime.jit import Machine
from hotdesk.runtime.layout import Layout
from hotdesk.runtime.planner import Planner

_PROFILED = "hotdesk_profiled"


class Function:
    """One entry function and its tables."""

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
        self._machine = machine
        self._entry = machine.entry(lowered.entry)
        self._assertions = {a.code: a for a in assertions}
        self._sizes = Evaluator([b.bytes for b in lowered.buffers])
        self._numbers = Evaluator(lowered.numbers)
        self._status = np.zeros(1, dtype=np.int32)
        self._constants = lowered.constants
        self._table = (ctypes.c_void_p * (len(lowered.buffers) + 1))()
        for place, data in self._constants.items():
            self._table[place] = data.ctypes.data
        self._table[len(lowered.buffers)] = self._status.ctypes.data
        self._table_address = ctypes.c_void_p(ctypes.addressof(self._table))
        self._number_address = ctypes.c_void_p()
        self._stamp_address = ctypes.c_void_p()
        addresses = (self._table_address, self._number_address, self._stamp_address)
        self._packed = (ctypes.c_void_p * 3)(*map(ctypes.addressof, addresses))

    @property
    def constant_bytes(self) -> int:
        return sum(int(data.nbytes) for data in self._constants.values())

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

    def set_arena(self, layout: Layout, arena: int) -> None:
        for place, offset in layout.in_arena:
            self._table[place] = arena + offset
        self._number_address.value = ctypes.addressof(layout.numbers)

    def set_pointers(self, places: Sequence[int], addresses: Sequence[int]) -> None:
        for place, address in zip(places, addresses, strict=True):
            self._table[place] = address

    def run(self, layout: Layout, results: Sequence[int]) -> None:
        """Runs with the pointers set; raises ExecutionError when an assertion of the program fails.

        `results` has an address for each result; one that lies in a donated input has that of the input.
        """
        self._run(self._entry, layout, results)

    def profile(self, layout: Layout, results: Sequence[int]) -> list[float]:
        """Runs like `run`, and returns the seconds that each kernel call took, in order."""
        stamps = np.zeros((len(self.lowered.calls) + 1, 2), dtype=np.int64)
        self._stamp_address.value = stamps.ctypes.data
        self._run(self._profiled.entry(_PROFILED), layout, results)
        nanoseconds: npt.NDArray[np.int64] = stamps[:, 0] * 1_000_000_000 + stamps[:, 1]
        return cast("list[float]", (np.diff(nanoseconds) / 1e9).tolist())

    @cached_property
    def _profiled(self) -> Machine:
        """The entry function with the time taken around each call. It is compiled here; the kernels are those of the program."""
        clock = getattr(time, "CLOCK_MONOTONIC", None)
        if clock is None:
            raise OptionError("profile", expected="a system with `clock_gettime`", got=sys.platform)
        kernels, calls = kernels_of(self.lowered.calls), self.lowered.calls
        addresses = (ctypes.c_int64 * max(1, len(kernels)))()
        self._machine.call(KERNELS, ctypes.addressof(addresses))
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(entry_text(_PROFILED, calls, NumberTable(), clock))
        return Machine(module, [_PROFILED], dict(zip(kernels, addresses, strict=False)))

    def _run(self, entry: Callable[[int], None], layout: Layout, results: Sequence[int]) -> None:
        for place, address in zip(self.lowered.result_places, results, strict=True):
            self._table[place] = address
        for place, lender, offset in layout.lent:
            self._table[place] = cast(int, self._table[lender]) + offset
        self._status[0] = 0
        entry(ctypes.addressof(self._packed))
        if self._status[0]:
            failed = self._assertions[int(self._status[0])]
            raise ExecutionError(
                "a check of the program failed",
                expected=failed.message,
                got="values that do not fulfil it",
                where=failed.source.location or None,
                hint="The results of this call are not valid.",
            )
