"""What passes make of a program is in no reference cycle: it is freed as soon as a pass is done with it."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

from hotdesk._bindings import ir
from hotdesk.passes.textual import parse_pipeline
from tests.unit.parsing import parse

_ON_TENSORS = """
func.func private @g(%x: tensor<?xf32>, %c: f32, %i: index) -> tensor<?xf32> {
  %0 = tensor.insert %c into %x[%i] : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: f32, %p: i1, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (tensor<?xf32>, tensor<?xf32>) {
    %e = tensor.empty(%d) : tensor<?xf32>
    %1 = linalg.exp ins(%u : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %v, %1 : tensor<?xf32>, tensor<?xf32>
  }
  %2 = scf.if %p -> tensor<?xf32> {
    %3 = func.call @g(%a, %c, %c0) : (tensor<?xf32>, f32, index) -> tensor<?xf32>
    scf.yield %3 : tensor<?xf32>
  } else {
    scf.yield %b : tensor<?xf32>
  }
  return %2, %a : tensor<?xf32>, tensor<?xf32>
}
"""
_PASSES = (
    "hotdesk-eliminate-empty-tensors",
    "hotdesk-choose-destinations",
    "hotdesk-use-inplace-calls",
    "hotdesk-one-shot-bufferize",
    "hotdesk-one-shot-bufferize{results=returned}",
)


@pytest.fixture(autouse=True)
def kept_garbage() -> Generator[None]:
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.parametrize("name", _PASSES)
def test_on_tensors(name: str) -> None:
    module = parse(_ON_TENSORS)
    assert _left_by(name, module) == []


@pytest.mark.parametrize("mode", ["", "{mode=copies}"])
def test_deallocation(mode: str) -> None:
    module = parse(_ON_TENSORS)
    parse_pipeline("builtin.module(hotdesk-one-shot-bufferize{results=returned})").run(module)
    assert _left_by(f"hotdesk-buffer-deallocation{mode}", module) == []


def _left_by(name: str, module: ir.Module) -> list[str]:
    """The types, of Hotdesk's own, of what a pass leaves that only garbage collection would free."""
    gc.collect()
    gc.garbage.clear()
    parse_pipeline(f"builtin.module({name})").run(module)
    gc.collect()
    return sorted({type(each).__name__ for each in gc.garbage if type(each).__module__.partition(".")[0] == "hotdesk"})
