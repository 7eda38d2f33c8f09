"""Builders of ops: slices of numbers and values."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import begins, mixed_sizes, reshaped, slice_parts, sliced
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function, top_level_ops

TEXT = """
func.func @main(%t: tensor<4x?xf32>, %m: memref<6xf32>, %n: index) {
  return
}
"""


def _parts(module: ir.Module) -> tuple[list[ir.Value], ir.Operation]:
    function = main_function(module)
    return list(function.regions[0].blocks[0].arguments), top_level_ops(function)[-1]


def _text(module: ir.Module) -> list[str]:
    return [line.strip() for line in str(module).splitlines()]


def test_what_is_a_value_comes_behind_what_is_given_offsets_first() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(TEXT)
        (tensor, _, n), _ = _parts(module)
        operands, attributes = slice_parts([tensor], [n, 0], [2, n], [1, n])
        assert operands == [tensor, n, n, n]
        assert str(attributes["operandSegmentSizes"]) == "array<i32: 1, 1, 1, 1>"
        free = ir.ShapedType.get_dynamic_size()
        assert list(ir.DenseI64ArrayAttr(attributes["static_offsets"])) == [free, 0]
        assert list(ir.DenseI64ArrayAttr(attributes["static_sizes"])) == [2, free]
        assert list(ir.DenseI64ArrayAttr(attributes["static_strides"])) == [1, free]


def test_slices_in_front_of_an_op() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(TEXT)
        (tensor, memref, n), end = _parts(module)
        kind = ir.RankedTensorType.get([1, ir.ShapedType.get_dynamic_size()], ir.F32Type.get())
        sizes = [1, mixed_sizes(tensor, end)[1]]
        sliced("tensor.extract_slice", [tensor], kind, begins(2, 0, n), sizes, end)
        reshaped(memref, ir.MemRefType.get([2, 3], ir.F32Type.get()), end)
        assert module.operation.verify()
        lines = _text(module)
    assert (
        "%extracted_slice = tensor.extract_slice %arg0[%arg2, 0] [1, %dim] [1, 1] : tensor<4x?xf32> to tensor<1x?xf32>"
        in lines
    )
    assert (
        "%reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [2, 3], strides: [3, 1] : "
        "memref<6xf32> to memref<2x3xf32>"
    ) in lines
