"""Programs on memrefs: which of their arguments they write."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.memrefs import written_arguments
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function

SWITCH = """
  cf.switch %n : i32, [default: ^end(%x : memref<4xf32>), 1: ^end(%z : memref<4xf32>)]
^end(%one: memref<4xf32>):
  memref.copy %one, %y : memref<4xf32> to memref<4xf32>
  return"""
SCOPE = """
  %one = memref.alloca_scope -> (memref<4xf32>) {
    memref.alloca_scope.return %x : memref<4xf32>
  }
  memref.copy %one, %y : memref<4xf32> to memref<4xf32>
  return"""
WRITTEN = """
  cf.switch %n : i32, [default: ^end(%x : memref<4xf32>), 1: ^end(%z : memref<4xf32>)]
^end(%one: memref<4xf32>):
  memref.copy %y, %one : memref<4xf32> to memref<4xf32>
  return"""

PAYLOAD = """
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    OP
    linalg.yield %a : f32
  }
  return"""
STORED = PAYLOAD.replace("OP", "affine.store %a, %z[%i] : memref<4xf32>")
LOADED = PAYLOAD.replace("OP", "%c = memref.load %z[%i] : memref<4xf32>")


@pytest.mark.parametrize(
    ("body", "written"), [(SWITCH, {1}), (SCOPE, {1}), (WRITTEN, {0, 2}), (STORED, {1, 2}), (LOADED, {1})]
)
def test_which_arguments_are_written(body: str, written: set[int]) -> None:
    """What is passed on is not written by that; the payload of a linalg op may write."""
    arguments = ", ".join(f"%{name}: memref<4xf32>" for name in "xyz")
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(f"func.func @main({arguments}, %n: i32) {{{body}\n}}")
        assert written_arguments(main_function(module)) == written
