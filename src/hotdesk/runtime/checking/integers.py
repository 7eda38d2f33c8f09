"""Functions of integers, by the names of `arith` and `math`. They wrap around; operands are scalars or arrays with a sign."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hotdesk.runtime.checking.elements import xp

Function = Callable[..., Any]


def _unsigned(value: Any) -> Any:
    return value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _on_unsigned(function: Function) -> Function:
    """A function of the same bits without a sign."""

    def wrapped(*values: Any) -> Any:
        return function(*map(_unsigned, values)).view(values[0].dtype)

    return wrapped


def _shifted(function: Function) -> Function:
    """A shift by as many bits as there are, or more, is undefined; this one shifts by that modulo the bits."""

    def wrapped(a: Any, b: Any) -> Any:
        return function(a, b & b.dtype.type(8 * b.dtype.itemsize - 1))

    return wrapped


def _toward_zero(a: Any, b: Any) -> Any:
    quotient = a // b
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0))).astype(a.dtype)


def _up(a: Any, b: Any) -> Any:
    quotient = a // b
    return quotient + (quotient * b != a).astype(a.dtype)


def _power(a: Any, b: Any) -> Any:
    positive = np.power(a, np.maximum(b, b.dtype.type(0)))
    fraction = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0)).astype(a.dtype)
    return np.where(b < 0, fraction, positive)[()]


def _bits(count: Callable[[int, int], int]) -> Function:
    def wrapped(a: Any) -> Any:
        width = 8 * a.dtype.itemsize

        def counted(x: Any) -> int:
            return count(int(x), width)

        return xp.vectorize(counted, otypes=[a.dtype])(_unsigned(a))[()]

    return wrapped


INTEGERS: dict[str, Function] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "andi": xp.bitwise_and,
    "ori": xp.bitwise_or,
    "xori": xp.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": _on_unsigned(np.maximum),
    "minui": _on_unsigned(np.minimum),
    "shli": _shifted(xp.left_shift),
    "shrsi": _shifted(xp.right_shift),
    "shrui": _on_unsigned(_shifted(xp.right_shift)),
    "absi": np.abs,
    "ctlz": _bits(lambda x, width: width - x.bit_length()),
    "cttz": _bits(lambda x, width: (x & -x).bit_length() - 1 if x else width),
    "ctpop": _bits(lambda x, width: bin(x).count("1")),
    "ipowi": _power,
}
DIVISIONS: dict[str, Function] = {
    "divsi": _toward_zero,
    "remsi": np.fmod,
    "floordivsi": xp.floor_divide,
    "ceildivsi": _up,
}
UNSIGNED_DIVISIONS: dict[str, Function] = {
    "divui": _on_unsigned(xp.floor_divide),
    "remui": _on_unsigned(operator.mod),
    "ceildivui": _on_unsigned(_up),
}
