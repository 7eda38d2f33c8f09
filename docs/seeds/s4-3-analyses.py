"""Live ranges, alias sets and candidates of the document's example, as plain values."""

from torch_mlir import ir

from hotdesk.analysis.in_place.plain_values import alias_sets, in_place_candidates, live_ranges
from hotdesk.ir.context import make_context

T = "tensor<32x64xf32>"
PROGRAM = f"""
func.func @main(%x: {T} loc("x")) -> {T} {{
  %e = tensor.empty() : {T} loc("e")
  %y1 = linalg.add ins(%x, %x : {T}, {T}) outs(%e : {T}) -> {T} loc("y1")
  %y2 = linalg.mul ins(%y1, %x : {T}, {T}) outs(%e : {T}) -> {T} loc("y2")
  return %y2 : {T}
}}"""

module = ir.Module.parse(PROGRAM, make_context())
for analysis in (live_ranges, alias_sets, in_place_candidates):
    print(f"{analysis.__name__}:")
    for name, value in analysis(module).items():
        print(f"  {name}: {value}")
