"""Every module that runs by machine code runs under the memory checker as well, for `--check-memory=all`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from hotdesk.checker import CheckReport, FaultKind, Settings, check_module
from hotdesk.ir.context import entered, make_context
from hotdesk.runtime.checked_program import CheckedProgram
from tests import harness
from tests.harness import Compiled
from tests.reference import Array
from tests.running.executable import Executable, Run

_CARRIED = Settings(deallocated=False, undefined="carry")
"""Programs may compute with memory that nobody wrote; whether they free all, the run by machine code has told."""
_make, _call, _check = Executable.__init__, Executable.__call__, harness.check


def install() -> None:
    """Sees to it that whatever runs from now on runs under the checker too: once for all poisons."""
    Executable.__init__ = _init
    Executable.__call__ = _run
    harness.check = _check_compiled


def _init(self: Executable, module: ir.Module) -> None:
    self.text = str(module)  # pyright: ignore[reportAttributeAccessIssue]
    _make(self, module)


def _run(self: Any, inputs: Sequence[Any], shapes: Sequence[Sequence[int]], poison: int = harness.POISONS[0]) -> Run:
    run = _call(self, inputs, shapes, poison)
    text = self.text
    if poison == harness.POISONS[0] and self.is_ours:
        with make_context() as context:
            context.allow_unregistered_dialects = True
            module = ir.Module.parse(text)
            known = dict(enumerate(tuple(shape) for shape in shapes))
            report = check_module(module, "main", inputs, result_shapes=known, read_only=True, settings=_CARRIED)
        assert report.clean, f"under the memory checker: {report}\n{text}"
    return run


def _check_compiled(compiled: Compiled, inputs: Sequence[Array], name: str = "everything") -> None:
    _check(compiled, inputs, name)
    report = planned(compiled, inputs)
    excused = {FaultKind.UNWRITTEN}
    if not all(want.defined.all() for want in compiled.expected(inputs)):
        excused.add(
            FaultKind.OVERLAP
        )  # what `tensor.empty` holds may be what lay there before, and change while it is read
    faults = [fault for fault in report.faults if fault.kind not in excused]
    assert not faults, f"under the memory checker, {name}: {report}"


def planned(compiled: Compiled, inputs: Sequence[Array]) -> CheckReport:
    """A program of the harness under the checker, each buffer where the plan puts it."""
    held = [np.array(array, order="C") for array in inputs]
    given = [i for i, argument in enumerate(compiled.arguments) if argument.kind != "weight"]
    weights = {i: int(held[i].ctypes.data) for i in range(len(held)) if i not in given}
    lowered = compiled.lowered
    program = CheckedProgram(compiled.module, lowered.main, lowered.prepare, tuple(given), weights, {})
    symbols = compiled.symbols(inputs)
    with entered(compiled.module.operation):
        return program.check(
            symbols,
            [(int(held[i].ctypes.data), tuple(held[i].shape)) for i in given],
            compiled.result_shapes(inputs),
        )
