"""Programs that a test compiles are checked behind it, and a fault fails it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from torch_mlir import ir

import hotdesk
from hotdesk.checker import CheckReport, Fault, FaultKind, Traffic
from hotdesk.explain import Source
from hotdesk.ir.context import make_context
from tests import memory_checks
from tests.harness import Compiled, everything
from tests.running import Executable, checked

FAULT = Fault(FaultKind.LEAK, Source("memref.alloc"), "never freed")


@dataclass
class Program:
    """What the checks ask of a program."""

    bytes: int
    faults: tuple[Fault, ...] = ()
    checks: int = 0

    def memory(self) -> Any:
        return type("Memory", (), {"weights": self.bytes, "arena": 0, "inputs": 0, "outputs": 0})

    def check(self) -> CheckReport:
        self.checks += 1
        return CheckReport(self.faults, (), False, Traffic())


def pending(monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    monkeypatch.setattr(memory_checks, "_pending", [(cast(hotdesk.Program, program), (), {})])


def test_whatever_is_compiled_is_noted() -> None:
    compiling = memory_checks._noted(lambda model, args, kwargs: cast(hotdesk.Program, Program(0)))
    before = len(memory_checks._pending)
    compiling(object())
    assert len(memory_checks._pending) == before + 1
    assert hasattr(hotdesk.compile, "__wrapped__")


def test_a_fault_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    pending(monkeypatch, Program(0, (FAULT,)))
    with pytest.raises(AssertionError, match="under the memory checker: leak: never freed"):
        memory_checks.check_pending("small")


@pytest.mark.parametrize(("mode", "size", "checks"), [("small", 1 << 30, 0), ("small", 1, 1), ("all", 1 << 30, 1)])
def test_small_programs_are_checked_each_time(
    mode: str, size: int, checks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(size)
    pending(monkeypatch, program)
    memory_checks.check_pending(mode)
    memory_checks.check_pending(mode)
    assert program.checks == checks


def test_a_program_that_runs_wrong_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads what it has freed, where the memory is still as it was: the run alone would not tell."""
    monkeypatch.setattr(Executable, "__init__", checked._init)
    monkeypatch.setattr(Executable, "__call__", checked._run)
    text = """func.func @main(%x: memref<4xf32>, %out: memref<4xf32> {bufferize.result = 0}) {
      memref.copy %x, %out : memref<4xf32> to memref<4xf32>
      %a = memref.alloc() : memref<4xf32>
      %v = memref.subview %a[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
      memref.dealloc %a : memref<4xf32>
      memref.copy %v, %v : memref<2xf32, strided<[1]>> to memref<2xf32, strided<[1]>>
      return
    }"""
    with make_context(), ir.Location.unknown():
        wrong, right = (
            Executable(ir.Module.parse(each)) for each in (text, text.replace("  memref.copy %v, %v", "//"))
        )
    given = [np.arange(4, dtype=np.float32)]
    right(given, [(4,)])
    with pytest.raises(AssertionError, match="under the memory checker"):
        wrong(given, [(4,)])


def test_a_program_of_the_harness_where_its_plan_puts_it() -> None:
    kind = "tensor<4xf32>"
    text = f"""func.func @main(%x: {kind} {{hotdesk.kind = "input"}}, %w: {kind} {{hotdesk.kind = "weight"}}) -> {kind} {{
      %e = tensor.empty() : {kind}
      %s = linalg.map {{ math.rsqrt }} ins(%w : {kind}) outs(%e : {kind})
      %r = linalg.map {{ arith.mulf }} ins(%x, %s : {kind}, {kind}) outs(%e : {kind})
      return %r : {kind}
    }}"""
    x, w = np.arange(4, dtype=np.float32), np.full(4, 4, np.float32)
    report = checked.planned(Compiled(text, everything), [x, w])
    assert report.clean, str(report)
    np.testing.assert_allclose(report.results[0].values, x / 2, rtol=1e-6)
