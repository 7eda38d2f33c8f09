"""One run of a program under the memory checker: the bytes that it holds at once, the checks it comes by, and its faults.

Bytes are those that `memref.alloc`, `memref.alloca` and clones ask for, without those of the lists in which MLIR's deallocation
keeps addresses and flags. Arguments and globals count nothing; a result that is returned counts to the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.deallocation.checks import count_executed
from hotdesk._bindings import ir
from hotdesk.checker import FaultKind, Settings, interpreter_for, run
from hotdesk.checker.arguments import drawn, passed
from hotdesk.checker.buffers import CheckedBuffer
from hotdesk.checker.interpreter import Interpreter
from hotdesk.checker.memory import AddressSpace
from hotdesk.checker.parameters import parameters
from hotdesk.explain import Source
from hotdesk.ir.context import entered

_LIST = re.compile(r"memref<\d+x(index|i1)>")
_UNALIGNED = 16  # bytes; bufferization asks for more
OWN = frozenset(
    {
        *(FaultKind.USE_AFTER_FREE, FaultKind.DOUBLE_FREE, FaultKind.INVALID_FREE),
        *(FaultKind.LEAK, FaultKind.OWNERSHIP, FaultKind.OVERLAP, FaultKind.OUT_OF_BOUNDS),
    }
)
"""Faults that freeing can make; what a program does wrong before is not asked here."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run took: bytes at once, checks, copies, allocations without bookkeeping; its faults as text, what it computed."""

    peak: int
    checks: int
    copies: int
    allocations: int
    faults: tuple[str, ...]
    results: tuple[Any, ...]


class _Watched(AddressSpace):
    """Memory that also counts without bookkeeping."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter.findings, interpreter.settings.poison)
        self._sizes: dict[int, int] = {}
        self.level = self.peak = self.allocations = 0

    def allocate(self, size: int, kind: str, name: str, at: Source, alignment: int = 1) -> CheckedBuffer:
        buffer = super().allocate(size, kind, name, at, alignment)
        if alignment > _UNALIGNED or not _LIST.fullmatch(name):
            self._sizes[buffer.number] = size
            self.level += size
            self.peak = max(self.peak, self.level)
            self.allocations += 1
        return buffer

    def bury(self, buffer: CheckedBuffer, at: Source) -> None:
        super().bury(buffer, at)
        self.level -= self._sizes.pop(buffer.number, 0)


def run_program(module: ir.Module, sizes: Sequence[int] = (), freed: bool = True) -> Ran:
    """Runs `@main` on drawn arguments; `sizes` are its dynamic sizes and scalar integers, in order. The module is changed."""
    count_executed(module)
    with entered(module.operation):
        interpreter, entry = interpreter_for(module, "main", Settings(deallocated=freed, undefined="carry"))
        watched = interpreter.memory = _Watched(interpreter)
        found = parameters(entry, False)
        given = passed(interpreter, entry, found, drawn(entry, found, sizes, 0))
        slots = {p.result: v for p, v in zip(found, given, strict=True) if p.result is not None}
        report = run(interpreter, "main", given, slots)
    faults = tuple(str(fault) for fault in report.faults if fault.kind in OWN)
    if report.stopped:
        return Ran(watched.peak, 0, 0, watched.allocations, faults or ("the run ended at a fault",), ())
    *results, checks, copies = report.results
    return Ran(watched.peak, int(checks.values), int(copies.values), watched.allocations, faults, tuple(results))


def same_results(ours: Ran, before: Ran) -> bool:
    """Whether two runs computed the same where the second one's values were written."""
    return len(ours.results) == len(before.results) and all(
        np.array_equal(a.values[b.written], b.values[b.written], equal_nan=b.values.dtype.kind == "f")
        for a, b in zip(ours.results, before.results, strict=True)
    )
