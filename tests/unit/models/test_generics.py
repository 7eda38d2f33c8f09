"""Linalg ops as loops: what their payloads ask for, and what it costs."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function, nested_ops, top_level_ops
from hotdesk.models.generics import index_ops, is_dear, is_linalg

_TEXT = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    outs(%x : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %e = math.exp %f : f32
    %d = arith.divf %e, %a : f32
    linalg.yield %d : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


def test_payloads_are_read() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_TEXT)
        generic, end = top_level_ops(main_function(module))
        assert [(op.name, loop) for op, loop in index_ops(generic)] == [("linalg.index", 1)]
        assert [op.name for op in nested_ops(generic) if is_dear(op)] == ["math.exp", "arith.divf"]
        assert [op.name for op in (generic, end, *nested_ops(generic)) if is_linalg(op)] == ["linalg.generic"]
