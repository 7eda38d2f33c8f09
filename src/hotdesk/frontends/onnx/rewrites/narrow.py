"""Casts from and to element types of 8 bits and less, whose values are kept as codes: a table decodes, rounding encodes.

A float type with m bits of mantissa has 2^m codes between a power of two and the next, and as many below the least one. So

    code(x) = (e - least) * 2^m + round(|x| / 2^(e - m)),     e the exponent of x, but no less than that of `least`
"""

from __future__ import annotations

from functools import cache
from typing import Any
from typing import cast as cast_type

import numpy as np

from hotdesk.frontends.onnx.elements import (
    F4E2M1FN,
    F8E5M2,
    F8E8M0FNU,
    F32,
    I2,
    I4,
    I32,
    I64,
    U2,
    U4,
    U8,
    U16,
    is_narrow,
)
from hotdesk.frontends.onnx.rewrites.nodes import GraphWriter, NotRewritten, OnnxNode, OnnxTensor, Rewrites

_BITS = {U4: 4, I4: 4, U2: 2, I2: 2}
_INFINITE = {F8E5M2: 0x7C}
"""The code of infinity, in types that have one."""


def seen_as(value: OnnxTensor, element: int) -> OnnxTensor:
    """The same bytes as a value of another element type of 8 bits."""
    from onnx import helper

    constant: Any = value.constant
    if constant is not None:
        constant = constant.view(helper.tensor_dtype_to_np_dtype(element))
    kind = type(value.type)()
    kind.CopyFrom(value.type)
    kind.tensor_type.elem_type = element
    return OnnxTensor(value.graph, value.name, kind, constant)


def decoded(value: OnnxTensor) -> OnnxTensor:
    """The numbers that codes stand for, as 32-bit floats, or 32-bit integers where those are."""
    codes = seen_as(value, U8).cast(I32)
    bits = _BITS.get(value.element)
    if bits is None:
        return value.graph.floats(_table(value.element)).gather(codes)
    low = codes % (1 << bits)
    return low if value.element in (U4, U2) else (low >= 1 << (bits - 1)).where(low - (1 << bits), low)


def encoded(x: OnnxTensor, element: int, saturate: bool = True, mode: str = "up") -> OnnxTensor:
    """The codes of numbers: those of integers wrap around, floats are rounded to the nearest, to even between two.

    Args:
        x: 32-bit floats, or 32-bit integers.
        saturate: whether floats beyond the greatest become that, and not infinity or no number.
        mode: how powers of two are rounded, "up", "down" or "nearest".
    """
    bits = _BITS.get(element)
    if bits is not None:
        return seen_as((x.cast(I32) % (1 << bits)).cast(U8), element)
    magnitude = x.graph.op("Abs", x.cast(F32))
    codes = (
        _powers(magnitude, saturate, mode)
        if element == F8E8M0FNU
        else _floats(x.cast(F32), magnitude, element, saturate)
    )
    return seen_as(codes.cast(U8), element)


def _floats(x: OnnxTensor, magnitude: OnnxTensor, element: int, saturate: bool) -> OnnxTensor:
    info: Any = _info(element)
    mantissa, least = int(info.nmant), _least(element)
    greatest = int(_codes(np.array([info.max], np.float32), element)[0])
    finite = magnitude.clip(0.0, float(info.max) * 2)
    exponent = _exponent(finite, least, int(np.log2(float(info.max))) + 1)
    unit = _power(exponent - mantissa)
    codes = (exponent - least) * (1 << mantissa) + x.graph.op("Round", finite / unit).cast(I32)
    over = _INFINITE.get(element, _no_number(element))
    codes = (codes > greatest).where(greatest if saturate or element == F4E2M1FN else over, codes)
    sign = 1 << (7 if element != F4E2M1FN else 3)
    if _has_negative_zero(element):
        negative = (x < 0.0) | (x.equals(0.0) & (x.graph.floats(1.0) / x < 0.0))
        codes = negative.where(codes + sign, codes)
    else:  # the code of the sign alone is no number
        codes = ((x < 0.0) & (codes > 0) & (codes < sign)).where(codes + sign, codes)
    return x.graph.op("IsNaN", x).where(_no_number(element), codes)


def _powers(magnitude: OnnxTensor, saturate: bool, mode: str) -> OnnxTensor:
    """Codes of the exponents of powers of two: 127 stands for 1, 255 for no number."""
    graph = magnitude.graph
    exponent = _exponent(magnitude, -127, 127)
    power = _power(exponent)
    over: Any = {
        "up": magnitude > power,
        "down": magnitude < 0.0,
        "nearest": magnitude >= power * 1.5,
    }.get(mode)
    if over is None:
        raise NotRewritten("round_mode up, down or nearest", repr(mode))
    codes = exponent + 127 + over.cast(I32)
    codes = codes.clip(0, 254) if saturate else codes
    special = graph.op("IsNaN", magnitude) | graph.op("IsInf", magnitude)
    return special.where(255, codes)


def _exponent(x: OnnxTensor, least: int, greatest: int) -> OnnxTensor:
    """The exponents of positive numbers, between two: what a logarithm says is set right by comparing."""
    graph = x.graph
    guess = graph.op("Floor", graph.op("Log", x.clip(2.0 ** max(least, -126), 3.0e38)) * float(1 / np.log(2)))
    guess = guess.cast(I32).clip(least, greatest)
    guess = guess - (x < _power(guess)).cast(I32)
    guess = guess + (x >= _power(guess + 1)).cast(I32)
    return guess.clip(least, greatest)


def _power(exponent: OnnxTensor) -> OnnxTensor:
    """Powers of two, exactly, from -149 to 127; beyond, the last."""
    table = 2.0 ** np.arange(-149, 128)
    return exponent.graph.floats(table).gather(exponent.clip(-149, 127) + 149)


@cache
def _info(element: int) -> Any:
    import ml_dtypes
    from onnx import helper

    return cast_type(Any, ml_dtypes).finfo(helper.tensor_dtype_to_np_dtype(element))


def _least(element: int) -> int:
    """The exponent of the least number whose mantissa is whole."""
    info: Any = _info(element)
    return int(np.log2(float(info.smallest_subnormal))) + int(info.nmant)


def _codes(numbers: Any, element: int) -> Any:
    from onnx import helper

    return numbers.astype(helper.tensor_dtype_to_np_dtype(element)).view(np.uint8)


@cache
def _table(element: int) -> Any:
    from onnx import helper

    codes: Any = np.arange(256, dtype=np.uint8)
    return codes.view(helper.tensor_dtype_to_np_dtype(element)).astype(np.float32)


def _no_number(element: int) -> int:
    return int(_codes(np.array([np.nan], np.float32), element)[0])


def _has_negative_zero(element: int) -> bool:
    return bool(_codes(np.array([-0.0], np.float32), element)[0])


def _cast(op: OnnxNode) -> Any:
    return NotImplemented if op.x.constant is not None else cast(op.x, op.attribute("to"), op)


def cast(x: OnnxTensor, element: int, op: OnnxNode) -> Any:
    """A cast from or to a narrow type, or to unsigned integers of 16 bits; others stay as they are."""
    if element == x.element:
        return x
    if element == U16:
        return _halfwords(decoded(x) if is_narrow(x.element) else x)
    if is_narrow(element):
        saturate, mode = bool(op.attribute("saturate", 1)), op.attribute("round_mode", "up")
        return encoded(decoded(x) if is_narrow(x.element) else x, element, saturate, mode)
    return decoded(x).cast(element) if is_narrow(x.element) else NotImplemented


def _halfwords(x: OnnxTensor) -> OnnxTensor:
    """Numbers as unsigned integers of 16 bits, which wrap around: the sum of what two tables of 256 have for their bytes."""
    code = x.cast(I64) % (1 << 16)
    low, high = (_of_u16(x.graph, np.arange(256) * step) for step in (1, 256))
    return high.gather(code / 256) + low.gather(code % 256)


def _of_u16(graph: GraphWriter, numbers: Any) -> OnnxTensor:
    return graph.value(numbers.astype(np.uint16))


def _cast_like(op: OnnxNode) -> Any:
    x, element = op.x, op.tensor(1).element
    made = cast(x, element, op)
    return x.cast(element) if made is NotImplemented else made


REWRITES: Rewrites = {"Cast": _cast, "CastLike": _cast_like}
