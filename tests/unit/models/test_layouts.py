"""Which ops take memrefs of any layout, and which memrefs lie in one order."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function, top_level_ops
from hotdesk.models.layouts import have_one_order, takes_any_layout

_TEXT = """
func.func @main(%m: memref<4x4xf32>, %i: index, %f: f32) {{
  %c = arith.constant 0 : index
  {op}
  return
}}
"""


@pytest.mark.parametrize(
    ("op", "takes"),
    [
        ("%0 = memref.load %m[%i, %i] : memref<4x4xf32>", True),
        ("%0 = affine.load %m[%i, %i] : memref<4x4xf32>", True),
        ("%0 = memref.rank %m : memref<4x4xf32>", True),
        ("memref.dealloc %m : memref<4x4xf32>", True),
        ("linalg.fill ins(%f : f32) outs(%m : memref<4x4xf32>)", True),
        ("%0 = vector.transfer_read %m[%i, %i], %f : memref<4x4xf32>, vector<4xf32>", True),
        ("%0 = memref.collapse_shape %m [[0, 1]] : memref<4x4xf32> into memref<16xf32>", False),
        ("%0 = memref.cast %m : memref<4x4xf32> to memref<?x4xf32>", False),
    ],
    ids=lambda each: each if isinstance(each, bool) else each.split(" %m")[0].split(" = ")[-1],
)
def test_ops_take_any_layout_or_ask_for_one(op: str, takes: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_TEXT.format(op=op))
        assert takes_any_layout(top_level_ops(main_function(module))[1]) == takes


@pytest.mark.parametrize(
    ("kind", "alike"),
    [("memref<?x4xf32>", True), ("memref<?x4xf32, strided<[?, 1]>>", False), ("memref<*xf32>", False)],
)
def test_slices_of_a_row_major_buffer_have_one_order(kind: str, alike: bool) -> None:
    """What was cast from a memref without a rank may have any layout."""
    text = f"""
    func.func @main(%m: {kind}) {{
      %c = memref.cast %m : {kind} to memref<6x4xf32, strided<[?, 1]>>
      %a = memref.subview %c[0, 1] [5, 3] [1, 1] : memref<6x4xf32, strided<[?, 1]>> to memref<5x3xf32, strided<[?, 1], offset: 1>>
      return
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        cast, part = top_level_ops(main_function(module))[:2]
        assert have_one_order(cast.results[0], part.results[0]) is alike
