"""One entry function with its tables: pointers, numbers and the status word."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from hotdesk.errors import ExecutionError
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.runtime.evaluating import Evaluator
from hotdesk.runtime.jit import Machine
from hotdesk.runtime.layout import Layout
from hotdesk.runtime.planner import Planner


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
        self._packed = (ctypes.c_void_p * 2)(
            ctypes.addressof(self._table_address), ctypes.addressof(self._number_address)
        )

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
        for place, address in zip(self.lowered.result_places, results, strict=True):
            self._table[place] = address
        for place, lender, offset in layout.lent:
            self._table[place] = cast(int, self._table[lender]) + offset
        self._status[0] = 0
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
