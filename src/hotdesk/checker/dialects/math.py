"""`math`: functions of floating numbers and of integers. NumPy's, rounded to the type of the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hotdesk.checker.dialects.elementwise import Function, compute, of_floats, of_integers, unsigned
from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step
from hotdesk.checker.values import xp


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function that NumPy does not have."""
    return np.vectorize(function, otypes=[np.float64])


def _away_from_zero(a: Any) -> Any:
    return np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)), a)


def _clamped(a: Any, low: Any, high: Any) -> Any:
    return xp.minimum(xp.maximum(a, low), high)


def _multiplied_and_added(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _reciprocal_root(a: Any) -> Any:
    return a.dtype.type(1) / xp.sqrt(a)


def _to_integer_power(a: Any, b: Any) -> Any:
    return np.power(a, b.astype(a.dtype))


def _integer_power(a: Any, b: Any) -> Any:
    positive = np.power(a, np.maximum(b, b.dtype.type(0)))
    fraction = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0)).astype(a.dtype)
    return np.where(b < 0, fraction, positive)[()]


def _bits(count: Callable[[int, int], int]) -> Function:
    def wrapped(a: Any) -> Any:
        width = 8 * a.dtype.itemsize

        def counted(x: Any) -> int:
            return count(int(x), width)

        return xp.vectorize(counted, otypes=[a.dtype])(unsigned(a))[()]

    return wrapped


_FLOATS: dict[str, Function] = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "clampf": _clamped,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _elementwise(math.erf),
    "erfc": _elementwise(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "fma": _multiplied_and_added,
    "fpowi": _to_integer_power,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": np.power,
    "round": _away_from_zero,
    "roundeven": np.rint,
    "rsqrt": _reciprocal_root,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
_INTEGERS: dict[str, Function] = {
    "absi": np.abs,
    "ctlz": _bits(lambda x, width: width - x.bit_length()),
    "cttz": _bits(lambda x, width: (x & -x).bit_length() - 1 if x else width),
    "ctpop": _bits(lambda x, width: bin(x).count("1")),
    "ipowi": _integer_power,
}


def _sine_and_cosine(reader: OpReader) -> Step:
    interpreter, at = reader.interpreter, reader.at
    parts = [
        compute(interpreter, function, reader.operands, slot, at)
        for function, slot in zip((np.sin, np.cos), reader.results, strict=True)
    ]

    def step(frame: Frame) -> None:
        for part in parts:
            part(frame)

    return step


def _is_normal(a: Any) -> Any:
    return np.isfinite(a) & (np.abs(a) >= xp.finfo(a.dtype).tiny)


OPS: dict[str, Implementation] = {
    **{f"math.{name}": of_floats(function) for name, function in _FLOATS.items()},
    **{f"math.{name}": of_integers(function) for name, function in _INTEGERS.items()},
    "math.isnormal": of_floats(_is_normal),
    "math.sincos": _sine_and_cosine,
}
