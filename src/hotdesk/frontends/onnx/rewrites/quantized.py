"""Quantised tensors as what they mean: scales by tensor, axis or block, of 8, 4 and 2 bits and of narrow floats."""

from __future__ import annotations

from typing import Any

from hotdesk.frontends.onnx.elements import F32, I2, I4, I8, I16, I32, U2, U4, U8, U16, is_narrow
from hotdesk.frontends.onnx.rewrites.narrow import decoded, encoded
from hotdesk.frontends.onnx.rewrites.nodes import OnnxNode, OnnxTensor, Rewrites

_RANGES = {
    U8: (0, 255),
    I8: (-128, 127),
    U16: (0, 65535),
    I16: (-32768, 32767),
    U4: (0, 15),
    I4: (-8, 7),
    U2: (0, 3),
    I2: (-2, 1),
}
"""The least and the greatest integer of the types that numbers are quantised to."""


def _numbers(x: OnnxTensor) -> OnnxTensor:
    return decoded(x) if is_narrow(x.element) else x


def _along(value: OnnxTensor, x: OnnxTensor, axis: int, block: int) -> OnnxTensor:
    """A scale or zero point by tensor, axis or block, in a shape that goes with a tensor's."""
    if value.rank == 0 or value.shape == (1,):
        return value.reshape()
    axis %= x.rank
    if not block:
        return value.reshape(*[-1 if each == axis else 1 for each in range(x.rank)])
    sizes = value.sizes
    spread = value.unsqueeze(axis + 1).expand(*sizes[: axis + 1], block, *sizes[axis + 1 :])
    whole = spread.reshape(*sizes[:axis], sizes[axis] * block, *sizes[axis + 1 :])
    return whole.slice(axis, 0, x.sizes[axis])


def _dequantize(op: OnnxNode) -> Any:
    x, scale, zero = op.x, op.tensor(1), op.optional(2)
    axis, block = op.attribute("axis", 1), op.attribute("block_size", 0)
    kind = op.attribute("output_dtype", 0) or scale.element
    y = _numbers(x).cast(F32)
    if zero is not None and (x.element in _RANGES or x.element == I32):
        y = _numbers(x).cast(I32) - _along(_numbers(zero).cast(I32), x, axis, block)
        y = y.cast(F32)
    return (y * _along(scale.cast(F32), x, axis, block)).cast(kind)


def _quantize(op: OnnxNode) -> Any:
    x, scale, zero = op.x, op.tensor(1), op.optional(2)
    axis, block = op.attribute("axis", 1), op.attribute("block_size", 0)
    kind = zero.element if zero is not None else op.attribute("output_dtype", 0) or U8
    precision = op.attribute("precision", 0) or (x.element if x.is_float else F32)
    y = (x.cast(precision) / _along(scale.cast(precision), x, axis, block)).cast(F32)
    shift = None if zero is None else _along(_numbers(zero), x, axis, block)
    if kind not in _RANGES:
        return encoded(y, kind, bool(op.attribute("saturate", 1)))
    return _rounded(y, shift, kind)


def _rounded(y: OnnxTensor, zero: OnnxTensor | None, kind: int) -> OnnxTensor:
    """Numbers rounded to integers, to even between two, and moved by a zero point, within the range of a type."""
    far = float(1 << 20)
    whole = y.graph.op("Round", y.clip(-far, far)).cast(I32)
    whole = whole if zero is None else whole + zero.cast(I32)
    whole = whole.clip(*_RANGES[kind])
    return encoded(whole, kind) if is_narrow(kind) else whole.cast(kind)


def _matrix_product(op: OnnxNode) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (op.tensor(number) for number in range(8))
    if a_scale.rank > 1 or a_zero.rank > 1 or b_scale.rank > 1:
        return NotImplemented
    rows, columns = (
        each.reshape(-1, 1) if each.rank and each.shape != (1,) else each.reshape() for each in (a_zero, a_scale)
    )
    left = a.cast(I32) - rows.cast(I32)
    right = b.cast(I32) - b_zero.cast(I32)
    product = op.graph.op("MatMul", left, right)
    factor = columns * b_scale / y_scale
    return _rounded((product.cast(F32) * factor.cast(F32)), y_zero, y_zero.element)


REWRITES: Rewrites = {
    "DequantizeLinear": _dequantize,
    "QLinearMatMul": _matrix_product,
    "QuantizeLinear": _quantize,
}
