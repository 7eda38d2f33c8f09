"""`complex`: numbers made of two, computed with, and taken apart."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from hotdesk.checker.dialects.arith import constant
from hotdesk.checker.dialects.elementwise import Function, computing, of_floats
from hotdesk.checker.interpreter import Implementation, OpReader
from hotdesk.checker.values import dtype_of, xp


def _created(reader: OpReader) -> Function:
    dtype = dtype_of(reader.result_type())

    def made(*parts: Any) -> Any:
        return xp.ascontiguousarray(xp.stack(xp.broadcast_arrays(*parts), -1)).view(dtype)[..., 0]

    return made


def _part(reader: OpReader) -> Function:
    return xp.real if reader.name == "complex.re" else xp.imag


_FUNCTIONS: dict[str, Function] = {
    "abs": np.abs,
    "add": operator.add,
    "angle": np.angle,
    "conj": np.conj,
    "cos": np.cos,
    "div": xp.true_divide,
    "eq": operator.eq,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "mul": operator.mul,
    "neg": operator.neg,
    "neq": operator.ne,
    "pow": np.power,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sub": operator.sub,
    "tan": np.tan,
    "tanh": np.tanh,
}

OPS: dict[str, Implementation] = {
    **{f"complex.{name}": of_floats(function) for name, function in _FUNCTIONS.items()},
    "complex.constant": constant,
    "complex.create": computing(_created),
    "complex.im": computing(_part),
    "complex.re": computing(_part),
}
