"""Functions of floating numbers, by the names of `arith` and `math`. On scalars and arrays; callers round the result."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hotdesk.runtime.checking.elements import xp


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


def _power(a: Any, b: Any) -> Any:
    return np.power(a, b.astype(a.dtype))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": xp.true_divide,
    "remf": np.fmod,
    "negf": operator.neg,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
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
    "fpowi": _power,
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
