"""`arith` and `math`, on scalars and, element by element, on tensors and vectors; `complex` on scalars."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.reference.interpreter import Interpreter, Meaning
from tests.reference.values import Operation, Values, dtype_of, points


def wrapped(value: int, dtype: np.dtype[Any]) -> Any:
    """An integer modulo 2 to the bits of its type."""
    if dtype.kind == "b":
        return np.bool_(value & 1)
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


def _signed(value: Any) -> int:
    """An integer; a true `i1` is −1."""
    return -int(value) if value.dtype.kind == "b" else int(value)


def _unsigned(value: Any) -> int:
    return int(value) if value.dtype.kind == "b" else int(value) % (1 << value.dtype.itemsize * 8)


def _itself(a: Any) -> Any:
    return a


def _rounded_to_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


def _rounded_up(a: int, b: int) -> int:
    return -(-a // b)


def _reciprocal_root(a: Any) -> Any:
    return 1 / np.sqrt(a)


def _multiplied_and_added(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _rounded(a: Any) -> Any:
    """To the nearest, and halves away from zero."""
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


_FLOATS: dict[str, Any] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": operator.truediv,
    "remf": np.fmod,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "negf": operator.neg,
    "absf": np.abs,
    "sqrt": np.sqrt,
    "rsqrt": _reciprocal_root,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "erf": math.erf,
    "round": _rounded,
    "powf": np.power,
    "fma": _multiplied_and_added,
    "extf": _itself,
    "truncf": _itself,
    "sitofp": _signed,
    "uitofp": _unsigned,
}
_SIGNED: dict[str, Any] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "maxsi": max,
    "minsi": min,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "shli": operator.lshift,
    "shrsi": operator.rshift,
    "floordivsi": operator.floordiv,
    "ceildivsi": _rounded_up,
    "divsi": _rounded_to_zero,
    "remsi": _rest,
    "absi": abs,
    "index_cast": _itself,
    "extsi": _itself,
    "trunci": _itself,
    "fptosi": _itself,
}
_UNSIGNED: dict[str, Any] = {
    "maxui": max,
    "minui": min,
    "divui": operator.floordiv,
    "ceildivui": _rounded_up,
    "remui": operator.mod,
    "shrui": operator.rshift,
    "extui": _itself,
    "index_castui": _itself,
}
_COMPARISONS: tuple[Callable[..., Any], ...] = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip
_FLOAT_COMPARISONS: dict[int, Callable[..., Any]] = {
    1: operator.eq,
    2: operator.gt,
    3: operator.ge,
    4: operator.lt,
    5: operator.le,
    13: operator.ne,
}


def _scalar(name: str, predicate: int, dtype: np.dtype[Any], operands: Sequence[Any]) -> Any:
    """What an op makes of scalars."""
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    if name == "cmpf":
        return np.bool_(_FLOAT_COMPARISONS[predicate](*operands))
    if name == "cmpi":
        read = _unsigned if predicate > 5 else _signed
        return np.bool_(_COMPARISONS[predicate - 4 if predicate > 5 else predicate](*(read(x) for x in operands)))
    if name in _FLOATS:
        return dtype.type(_FLOATS[name](*operands))
    read, table = (_unsigned, _UNSIGNED) if name in _UNSIGNED else (_signed, _SIGNED)
    return wrapped(table[name](*(read(x) for x in operands)), dtype)


def _meaning(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    name = op.name.split(".")[1]
    predicate = int(op.attributes["predicate"].value) if name.startswith("cmp") else 0
    dtype = dtype_of(op.results[0].type)
    if all(np.ndim(x) == 0 and not isinstance(x, np.ndarray) for x in operands):
        return [_scalar(name, predicate, dtype, operands)]
    result: Any = np.empty(operands[0].shape, dtype)
    for point in points(result.shape):
        result[point] = _scalar(name, predicate, dtype, [x[point] for x in operands])
    return [result]


def _select(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    condition, a, b = operands
    if isinstance(condition, np.ndarray):
        return _meaning(machine, op, [condition, machine.read(a), machine.read(b)], values)
    return [a if condition else b]


def _constant(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    attribute, result = op.attributes["value"], op.results[0].type
    dtype = dtype_of(result)
    if not hasattr(result, "element_type"):
        value = attribute.value
        return [wrapped(int(value), dtype) if dtype.kind in "bi" else dtype.type(value)]
    if dtype.kind == "c":
        numbers = [
            complex(*(float(n) for n in pair)) for pair in re.findall(r"\(([^,()]+),([^,()]+)\)", str(attribute))
        ]
        shape = list(result.shape)
        return [np.full(shape, numbers[0], dtype) if attribute.is_splat else np.array(numbers, dtype).reshape(shape)]
    if attribute.is_splat:
        return [np.full(list(result.shape), attribute.get_splat_value().value, dtype)]
    elements: Any = np.array([attribute[i] for i in range(len(attribute))], dtype)
    return [elements.reshape(list(result.shape))]


def _complex(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    real, imaginary = operands
    return [np.complex64(complex(real, imaginary))]


def _real(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.float32(operands[0].real)]


def _imaginary(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.float32(operands[0].imag)]


_MATH = (
    "absf",
    "sqrt",
    "rsqrt",
    "exp",
    "log",
    "tanh",
    "sin",
    "cos",
    "floor",
    "ceil",
    "erf",
    "round",
    "powf",
    "fma",
    "absi",
)


def _witness(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """That an assumption holds: nothing else has a meaning."""
    assert bool(op.attributes["passing"].value), "an assumption that does not hold"
    return [np.bool_(True)]


def _extended_product(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """Both halves of a product of integers."""
    low: Any = np.array(operands[0], copy=True)
    high: Any = np.array(operands[0], copy=True)
    for point in points(low.shape):
        product = int(operands[0][point]) * int(operands[1][point])
        low[point] = wrapped(product, low.dtype)
        high[point] = wrapped(product >> low.dtype.itemsize * 8, low.dtype)
    return [low, high]


MEANINGS: dict[str, Meaning] = {
    "arith.mulsi_extended": _extended_product,
    **{f"{'math' if n in _MATH else 'arith'}.{n}": _meaning for n in (*_FLOATS, *_SIGNED, *_UNSIGNED, "cmpi", "cmpf")},
    "arith.select": _select,
    "arith.constant": _constant,
    "complex.create": _complex,
    "complex.re": _real,
    "complex.im": _imaginary,
    "shape.const_witness": _witness,
}
