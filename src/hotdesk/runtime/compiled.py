"""Programs that this process has compiled: sizes are SymPy's expressions, and their code can be made again for a profile."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Source
from hotdesk.ir.context import make_context
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.entry import KERNELS, NumberTable, entry_text, kernels_of
from hotdesk.passes.lower.flow_profile import profiled_flow
from hotdesk.passes.lower.function import LoweredFunction, SizeCheck
from hotdesk.report.memory import WorstCase
from hotdesk.report.profile import KernelTimes
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.profiling import kernel_times
from hotdesk.runtime.code.roof import measured_roof
from hotdesk.runtime.executable import HeldMemory, PlannedExecutable, ProgramInterface
from hotdesk.runtime.function import Function, Profiled
from hotdesk.runtime.interface import Binding
from hotdesk.runtime.plans.planner import Planner
from hotdesk.runtime.plans.worst import worst_case
from hotdesk.runtime.shared import Shared
from hotdesk.sizes.expressions import Evaluator
from hotdesk.sizes.size import Bounds

_PROFILED = "hotdesk_profiled"


def compiled_function(
    lowered: LoweredFunction, machine: CompiledCode, assertions: Sequence[Assertion], bounds: Bounds | None = None
) -> Function:
    """The function with what plans for it; `bounds` are the least and greatest value of each symbol in sizes."""
    planner, numbers = Planner(lowered, bounds or {}), Evaluator(lowered.numbers)
    return Function(lowered, machine, assertions, planner, planner.sizes, numbers, lambda: _profiled(lowered, machine))


class CompiledProgram(PlannedExecutable):
    """A program that this process has compiled: the worst case of its memory can be told, and where its time goes."""

    def __init__(
        self,
        main: Function,
        interface: ProgramInterface,
        held: HeldMemory,
        decisions: Sequence[Decision],
        assumptions: Sequence[Any] = (),
        shared: Shared | None = None,
    ) -> None:
        """`assumptions` are relations that the sizes of a call must fulfil besides those that the program itself checks."""
        self._lowered = cast(LoweredFunction, main.lowered)
        checks = SizeChecks(self._lowered.checks, assumptions)
        sizes = Evaluator([dim for spec in interface.results for dim in spec.shape])
        super().__init__(main, interface, held, checks, sizes, decisions, shared)

    def worst(self, ranges: Mapping[str, tuple[int, int]]) -> WorstCase:
        """The most that a call takes, for all values of the symbols in range. Raises OptionError where a size has no limit."""
        prepared = self._held.prepared_bytes + self._main.constant_bytes
        corner = {name: high for name, (_, high) in ranges.items()}
        is_allowed = self._checks.failed(corner) is None
        planner, given = (
            cast(Planner, self._main.planner),
            (self._interface.input_places, self._held.weight_bytes, prepared),
        )
        found = worst_case(self._lowered, planner, ranges, *given, is_allowed=is_allowed)
        return replace(found, memory=replace(found.memory, state=self._held.state_bytes))

    def profile(self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int) -> KernelTimes:
        times = self.times(binding, inputs, results, 1 + runs)
        return kernel_times(self._lowered.calls, times[1:], binding.symbols, measured_roof())


class SizeChecks:
    """The checks of a program on its sizes, and what was assumed when it was captured, each relation once."""

    def __init__(self, checks: Sequence[SizeCheck], assumptions: Sequence[Any] = ()) -> None:
        found: dict[object, SizeCheck] = {}
        for check in (*checks, *map(_assumption, assumptions)):
            found.setdefault(check.relation, check)  # layers that are alike ask the same many times
        self.all = tuple(found.values())

    def failed(self, symbols: Mapping[str, int]) -> SizeCheck | None:
        """The first check that does not hold for these sizes."""
        values = {sympy.Symbol(name): value for name, value in symbols.items()}
        return next((check for check in self.all if not _holds(check.relation, values)), None)


def _holds(relation: Any, values: Mapping[sympy.Symbol, int]) -> bool:
    try:
        return relation.subs(values) is sympy.true
    except (ZeroDivisionError, TypeError):  # it has no value for these sizes, or compares none
        return False


def _assumption(relation: Any) -> SizeCheck:
    if isinstance(relation, SizeCheck):
        return relation
    return SizeCheck(relation, "assumed when the model was captured", Source("capture"))


def _profiled(lowered: LoweredFunction, machine: CompiledCode) -> Profiled:
    """The entry function with the time taken around each call. It is compiled here; the kernels are those of the program."""
    clock = getattr(time, "CLOCK_MONOTONIC", None)
    if clock is None:
        raise OptionError("profile", expected="a system with `clock_gettime`", got=sys.platform)
    kernels, calls = kernels_of((*lowered.calls, *lowered.undo)), lowered.calls
    addresses = (ctypes.c_int64 * max(1, len(kernels)))()
    machine.call(KERNELS, ctypes.addressof(addresses))
    with make_context(), ir.Location.unknown():
        if lowered.flow:
            module = profiled_flow(lowered.flow, lowered.entry, _PROFILED, clock)
        else:
            numbers, status = NumberTable(), len(lowered.buffers) if lowered.undo else None
            text = entry_text(_PROFILED, calls, numbers, status=status, clock=clock, undo=lowered.undo)
            module = ir.Module.parse(text)
    code = CompiledCode(module, [_PROFILED], dict(zip(kernels, addresses, strict=False)))
    return Profiled(code.entry(_PROFILED), len(calls), bool(lowered.flow), code)
