"""What the harness for bufferized programs counts, and that it tells every mistake: each is planted in IR that was right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.running import MLIR, Executable, RefusedError, Run, Subject, Traffic, agree, assert_no_more, check, wanted

_SOURCE = """
func.func @main(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 7.0 : f32
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %w = tensor.insert %s into %x[%i] : tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}"""
_RIGHT = """
memref.global "private" constant @k : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @main(%a: memref<4xf32>, %n: index, %out: memref<4xf32> {bufferize.result = 0}) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 7.0 : f32
  %k = memref.get_global @k : memref<4xf32>
  %x = memref.alloc() : memref<4xf32>
  memref.copy %a, %x : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %s, %x[%i] : memref<4xf32>
  }
  memref.copy %x, %out : memref<4xf32> to memref<4xf32>
  memref.dealloc %x : memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  memref.copy %k, %r : memref<4xf32> to memref<4xf32>
  return %r : memref<4xf32>
}"""
_DEALLOC = "  memref.dealloc %x : memref<4xf32>\n"
_INPUTS = [np.arange(4, dtype=np.float32), np.int64(2)]


def _run(text: str, inputs: list[Any] = _INPUTS, source: str = _SOURCE, *, frees: bool = True) -> Run:
    with make_context(), ir.Location.unknown():
        executable = Executable(ir.Module.parse(text))
        return agree(executable, inputs, wanted(source, inputs), frees=frees)


def test_counts() -> None:
    run = _run(_RIGHT)
    assert run.allocations == Traffic(3, 48)  # the caller's memory for a result is one
    assert run.copies == Traffic(3, 48)
    assert (run.frees, run.leaks) == (1, 0)
    np.testing.assert_array_equal(run.results[0], [7, 7, 2, 3])


def test_counts_each_trip() -> None:
    inside = "    memref.copy %a, %out : memref<4xf32> to memref<4xf32>\n    memref.store"
    assert _run(_RIGHT.replace("    memref.store", inside)).copies == Traffic(5, 80)


def test_copy_that_is_a_generic_counts() -> None:
    copy = (
        "linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], "
        'iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%x : memref<4xf32>) {\n'
        "  ^bb0(%one: f32, %old: f32):\n    linalg.yield %one : f32\n  }"
    )
    assert _run(_RIGHT.replace("memref.copy %a, %x : memref<4xf32> to memref<4xf32>", copy)).copies == Traffic(3, 48)


FAULTS = {
    "written in place although it is an argument": (
        ("memref.store %s, %x[%i]", "memref.store %s, %a[%i]"),
        ("memref.copy %x, %out", "memref.copy %a, %out"),
        "an argument changed",
    ),
    "not copied before it is written": (("memref.copy %a, %x : memref<4xf32> to memref<4xf32>", ""), "is wrong"),
    "copied behind the write": (
        ("  memref.copy %a, %x : memref<4xf32> to memref<4xf32>\n", ""),
        ("  memref.copy %x, %out", "  memref.copy %a, %x : memref<4xf32> to memref<4xf32>\n  memref.copy %x, %out"),
        "is wrong",
    ),
    "a result nobody writes": (("  memref.copy %x, %out : memref<4xf32> to memref<4xf32>\n", ""), "is wrong"),
    "a constant written": (
        ("memref.copy %k, %r", "memref.store %s, %k[%c1] : memref<4xf32>\n  memref.copy %k, %r"),
        "constant changed",
    ),
    "written outside": (
        ("scf.for %i = %c0 to %n", "%c6 = arith.constant 6 : index\n  scf.for %i = %c0 to %c6"),
        "written outside",
    ),
    "read behind free": (
        (_DEALLOC, ""),
        ("  memref.copy %x, %out", f"{_DEALLOC}  memref.copy %x, %out"),
        "is wrong",
    ),
    "written behind free": ((_DEALLOC, f"{_DEALLOC}  memref.store %s, %x[%c0] : memref<4xf32>\n"), "written after it was freed"),
    "freed twice": ((_DEALLOC, _DEALLOC * 2), "freed twice"),
    "an argument freed": ((_DEALLOC, f"{_DEALLOC}  memref.dealloc %a : memref<4xf32>\n"), "freed what nobody allocated"),
    "never freed": ((_DEALLOC, ""), "never freed"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_tells(name: str) -> None:
    *edits, message = FAULTS[name]
    text = _RIGHT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(AssertionError, match=str(message)):
        _run(text)


def test_donated_argument_may_change() -> None:
    text = _RIGHT.replace("%a: memref<4xf32>", "%a: memref<4xf32> {hotdesk.donated}")
    text = text.replace("memref.store %s, %x[%i]", "memref.store %s, %a[%i]").replace(
        "memref.copy %x, %out", "memref.copy %a, %out"
    )
    assert _run(text).results[0].tolist() == [7, 7, 2, 3]


def test_wrong_decision_of_a_pipeline() -> None:
    """A copy that MLIR's pass decided on, taken out of its result."""
    with make_context(), ir.Location.unknown():
        source = _SOURCE.replace("tensor<4xf32>, %n", "tensor<4xf32> {bufferization.writable = false}, %n")
        module = ir.Module.parse(source)
        parse_pipeline("builtin.module(one-shot-bufferize{bufferize-function-boundaries},canonicalize)").run(module)
        text = str(module)
    copy = next(line for line in text.splitlines() if "memref.copy %arg0" in line)
    _run(text, frees=False)
    with pytest.raises(AssertionError, match="is wrong"):
        _run(text.replace(copy, ""), frees=False)


def test_subjects() -> None:
    run = check(_SOURCE, _INPUTS, MLIR)
    assert run.leaks == 0
    refused = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.constant dense<4> : tensor<1xindex>
  %u = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  %r = tensor.reshape %u(%s) : (tensor<*xf32>, tensor<1xindex>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
    nothing = Subject("nobody's", "builtin.module(hotdesk-one-shot-bufferize)")
    with pytest.raises(RefusedError):
        check(refused, [np.zeros(4, np.float32)], nothing, [])


def test_more_is_told() -> None:
    little, much = (Run((), Traffic(1, n), Traffic(1, n), 0, 0) for n in (4, 8))
    assert_no_more(little, much)
    with pytest.raises(AssertionError, match="copies"):
        assert_no_more(much, little)
