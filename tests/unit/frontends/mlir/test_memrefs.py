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


@pytest.mark.parametrize(("body", "written"), [(SWITCH, {1}), (SCOPE, {1}), (WRITTEN, {0, 2})])
def test_what_is_passed_on_is_not_written_by_that(body: str, written: set[int]) -> None:
    arguments = ", ".join(f"%{name}: memref<4xf32>" for name in "xyz")
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(f"func.func @main({arguments}, %n: i32) {{{body}\n}}")
        assert written_arguments(main_function(module)) == written
