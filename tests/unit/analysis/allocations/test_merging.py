"""Merged allocations of static and dynamic size: the same numbers, no fault under the memory checker, and one allocation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.errors import MissingExtraError, OptionError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.merge import MergeAllocations
from hotdesk.passes.buffers.share import ShareBuffers
from hotdesk.planning.placement import cpsat, dive
from tests.unit.analysis.allocations.test_sharing import CHAIN, inputs, step
from tests.unit.parsing import parse
from tests.unit.passes.buffers.running import same
from tests.unit.passes.memory import text_after

DRAWN = np.random.default_rng(7)

SIZES = f"""
func.func private @scaled(%x: memref<?xf32>, %y: memref<?xf32>) {{
  %i0 = arith.constant 0 : index
  %n = memref.dim %x, %i0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  {step("exp", "%x", "%a", "?xf32")}
  {step("sqrt", "%a", "%y", "?xf32")}
  memref.dealloc %a : memref<?xf32>
  return
}}
func.func @main(%c: i1, %k: index, %t: index, %x: memref<?xf32>, %o: memref<?xf32> {{bufferize.result = 0}}) {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %n = memref.dim %x, %i0 : memref<?xf32>
  %s = memref.alloc() : memref<4xf64>
  %one = arith.constant 1.0 : f64
  linalg.fill ins(%one : f64) outs(%s : memref<4xf64>)
  %a = memref.alloc(%n) : memref<?xf32>
  {step("exp", "%x", "%a", "?xf32")}
  %b = memref.alloc(%n) : memref<?xf32>
  func.call @scaled(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.dealloc %a : memref<?xf32>
  scf.for %i = %i0 to %t step %i1 {{
    %m = arith.muli %k, %k : index
    scf.if %c {{
      %d = memref.alloc(%m) : memref<?x3xf32>
      %z = arith.constant 2.0 : f32
      linalg.fill ins(%z : f32) outs(%d : memref<?x3xf32>)
      memref.dealloc %d : memref<?x3xf32>
    }} else {{
      %e = memref.alloc(%n) : memref<?xf32>
      {step("tanh", "%b", "%e", "?xf32")}
      memref.copy %e, %b : memref<?xf32> to memref<?xf32>
      memref.dealloc %e : memref<?xf32>
    }}
    %u = memref.load %s[%i0] : memref<4xf64>
    %v = arith.addf %u, %one : f64
    linalg.fill ins(%v : f64) outs(%s : memref<4xf64>)
  }}
  memref.dealloc %s : memref<4xf64>
  %f = memref.alloc(%n) : memref<?xf32>
  {step("sqrt", "%b", "%f", "?xf32")}
  memref.copy %f, %o : memref<?xf32> to memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %f : memref<?xf32>
  return
}}"""
GIVEN = [(True, 2, 2, 5), (False, 3, 3, 7), (True, 0, 1, 0), (False, 0, 1, 0), (True, -3, 0, 4), (False, -3, 2, 40)]
"""Condition, a size, iterations and the length of the input. A negative size is never allocated."""


def given(condition: bool, k: int, times: int, length: int) -> list[Any]:
    return [np.bool_(condition), np.int64(k), np.int64(times), DRAWN.random(length, np.float32)]


def checked(text: str, arguments: Sequence[Any], length: int) -> CheckReport:
    """What the checker tells of a program, each view of an arena being a buffer of its own."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        report = check_module(module, "main", arguments, result_shapes={0: (length,)}, settings=Settings(arenas=True))
    assert report.clean, str(report)
    return report


@pytest.mark.parametrize("alignment", [1, 8, 64])
@pytest.mark.parametrize("condition", [False, True])
def test_merge(condition: bool, alignment: int) -> None:
    changed, run = same(CHAIN, [MergeAllocations(alignment=alignment)], inputs(condition, 2), [(8,), (4,)])
    assert re.findall(r"memref.alloc\(\).* : memref<(\d+)xi8>", changed) == [str(max(64, 2 * alignment))]
    assert run.frees == 1


@pytest.mark.parametrize("sizes", GIVEN, ids=str)
def test_dynamic_sizes_run(sizes: tuple[bool, int, int, int]) -> None:
    changed, run = same(SIZES, [MergeAllocations()], given(*sizes), [sizes[3:]])
    assert changed.count("memref.alloc(") == 2  # one for each function
    assert run.frees == 2


@pytest.mark.parametrize("strategy", ["portfolio", "no-reuse", "greedy/size"])
@pytest.mark.parametrize("arena", ["allocate", "argument"])
def test_dynamic_sizes_under_the_checker(arena: str, strategy: str) -> None:
    changed = text_after(SIZES, MergeAllocations(arena=arena, strategy=strategy))
    assert changed.count("memref.alloc(") == (2 if arena == "allocate" else 0)
    for sizes in GIVEN:
        arguments = given(*sizes)
        wanted = checked(SIZES, arguments, sizes[3]).results[0].values
        np.testing.assert_array_equal(checked(changed, arguments, sizes[3]).results[0].values, wanted)


@pytest.mark.parametrize("length", [0, 1, 16, 100])
def test_an_arena_is_no_larger_than_its_buffers(length: int) -> None:
    arguments = given(False, 3, 1, length)
    shared, apart = (
        checked(text_after(SIZES, MergeAllocations(strategy=s)), arguments, length) for s in ("portfolio", "no-reuse")
    )
    assert shared.traffic.bytes <= apart.traffic.bytes
    up = -(-4 * length // 64) * 64
    assert (
        apart.traffic.bytes == 64 + 4 * up + 128 + up
    )  # @main's own, the nine numbers of the branch not taken, @scaled's
    assert shared.traffic.bytes == 64 + up + max(up, 128) + up


@pytest.mark.parametrize(
    "options", [{"arena": "stack"}, {"alignment": 0}, {"alignment": 48}, {"strategy": "luck"}], ids=str
)
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="hotdesk-merge-allocations"):
        MergeAllocations(**options)  # pyright: ignore[reportArgumentType]


def test_a_solver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "available", lambda: False)
    module = parse(CHAIN)
    before = str(module)
    with entered(module.operation), pytest.raises(MissingExtraError, match=r"ortools.*pip install 'hotdesk\[exact\]'"):
        MergeAllocations(strategy="cp-sat").run(module)
    assert str(module) == before


@pytest.mark.parametrize("strategy", ["exact", "portfolio"])
def test_other_strategies_need_no_extra(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "available", lambda: False)
    monkeypatch.setattr(dive, "available", lambda: False)
    changed, run = same(CHAIN, [MergeAllocations(strategy=strategy)], inputs(True, 2), [(8,), (4,)])
    assert changed.count("memref.alloc(") == run.frees == 1


@pytest.mark.parametrize(("size", "alignment"), [(1 << 62, 64), (1 << 56, 64), (8, 1 << 60), (8, 1 << 62)])
def test_what_no_machine_has_stays(size: int, alignment: int) -> None:
    text = _two(size)
    made = MergeAllocations(alignment=alignment)
    module = parse(text)
    with entered(module.operation):
        decisions = made.run(module)
    assert [(d.outcome, d.reason) for d in decisions] == [(Outcome.ALLOCATED, Reason.TOO_LARGE)] * 2
    assert str(module) == str(parse(text))


@pytest.mark.parametrize("size", [1 << 60, 1 << 61, 1 << 62])
def test_what_no_machine_has_is_shared(size: int) -> None:
    text = text_after(_two(size), ShareBuffers())
    assert text.count("memref.alloc()") == text.count("memref.dealloc") == 1


def _two(size: int) -> str:
    kind = f"memref<{size}xf32>"
    one = f"""
      %a = memref.alloc() : {kind}
      memref.copy %x, %a : {kind} to {kind}
      memref.copy %a, %y : {kind} to {kind}
      memref.dealloc %a : {kind}"""
    return f"func.func @main(%x: {kind}, %y: {kind}) {{{one}{one.replace('%a', '%b')}\n  return\n}}"
