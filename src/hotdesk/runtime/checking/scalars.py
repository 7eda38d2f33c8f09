"""`arith`, `math`, and the parts of `complex` numbers: functions of NumPy scalars, and of arrays element by element.

A computation on a value that nobody has written is told, and goes on with what happens to be there (`undefined="carry"` keeps the
mark instead). Choosing between values and handing one on is no computation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from hotdesk.explain import Source
from hotdesk.runtime.checking.blocks import View
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.comparisons import compared, unsigned
from hotdesk.runtime.checking.constants import dense, number
from hotdesk.runtime.checking.elements import Unwritten, Value, dtype_of, plain, xp
from hotdesk.runtime.checking.functions import FUNCTIONS
from hotdesk.runtime.checking.integers import DIVISIONS, INTEGERS, UNSIGNED_DIVISIONS
from hotdesk.runtime.checking.machine import Machine
from hotdesk.runtime.checking.report import FaultKind

Function: TypeAlias = Callable[..., Any]


def _float(reading: Reading) -> Function:
    function, dtype = FUNCTIONS[reading.name.split(".")[1]], dtype_of(reading.result_type())

    def rounded(*values: Any) -> Any:
        result = function(*values)
        return result if result.dtype == dtype else result.astype(dtype)

    return rounded


def _integer(reading: Reading) -> Function:
    function, dtype = INTEGERS[reading.name.split(".")[1]], dtype_of(reading.result_type())
    if dtype.kind != "b":
        return function

    def on_truth(*values: Any) -> Any:
        """On the bytes 0 and −1, of which the lowest bit is the result."""
        return (function(*(-v.astype(np.int8) for v in values)) & np.int8(1)).astype(np.bool_)

    return on_truth


def _converted(reading: Reading) -> Callable[[Any], Any]:
    name, dtype = reading.name.split(".")[1], dtype_of(reading.result_type())
    source = dtype_of(reading.operand_type(0))
    if name == "bitcast":
        return lambda a: a.view(dtype)
    if dtype.kind == "b":  # the lowest bit
        return lambda a: (a.astype(np.int64) & 1).astype(np.bool_)
    if source.kind == "b" and name in ("extsi", "sitofp", "index_cast"):
        return lambda a: (-a.astype(np.int8)).astype(dtype)
    if name in ("extui", "uitofp", "index_castui"):
        return lambda a: unsigned(a).astype(dtype)
    if name == "fptoui":
        return lambda a: a.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)
    return lambda a: a.astype(dtype)


def computing(make: Callable[[Reading], Function]) -> Meaning:
    """The meaning of an op that computes its result from its operands."""

    def meaning(reading: Reading) -> Step:
        return compute(reading.machine, make(reading), reading.operands, reading.results[0], reading.at)

    return meaning


def compute(machine: Machine, function: Function, operands: Sequence[int], result: int, at: Source) -> Step:
    """Applies a function to slots."""
    if len(operands) == 1:
        (a,) = operands

        def one(frame: Frame) -> None:
            x = frame[a]
            frame[result] = marked(machine, function, (x,), at) if type(x) is Unwritten else function(x)

        return one
    if len(operands) == 2:
        a, b = operands

        def two(frame: Frame) -> None:
            x, y = frame[a], frame[b]
            if type(x) is Unwritten or type(y) is Unwritten:
                frame[result] = marked(machine, function, (x, y), at)
            else:
                frame[result] = function(x, y)

        return two

    def more(frame: Frame) -> None:
        values = [frame[slot] for slot in operands]
        if any(type(x) is Unwritten for x in values):
            frame[result] = marked(machine, function, values, at)
        else:
            frame[result] = function(*values)

    return more


def marked(machine: Machine, function: Function, values: Sequence[Value], at: Source) -> Value:
    """A function of values of which some were never written."""
    result = function(*map(plain, values))
    marks = [value for value in values if type(value) is Unwritten]
    if machine.settings.undefined == "refuse":
        for mark in marks:
            machine.tell(mark, at)
        return result
    where: Any = np.False_
    for mark in marks:
        where = where | mark.where
    return Unwritten(result, xp.broadcast_to(where, xp.shape(result)), marks[0].reader, marks[0].buffer)


def _divided(unsigned_too: bool) -> Meaning:
    """Integer division, which has no meaning when the divisor is zero."""

    def meaning(reading: Reading) -> Step:
        table = UNSIGNED_DIVISIONS if unsigned_too else DIVISIONS
        function, at, findings = table[reading.name.split(".")[1]], reading.at, reading.machine.findings
        truth = dtype_of(reading.result_type()).kind == "b"

        def divide(a: Any, b: Any) -> Any:
            if truth:
                a, b = a.astype(np.int8), b.astype(np.int8)
            if np.any(b == 0):
                findings.add(FaultKind.ARITHMETIC, at, "divides by zero")
                b = xp.where(b == 0, xp.ones_like(b), b)[()]
            result = function(a, b)
            return result.astype(np.bool_) if truth else result

        return compute(reading.machine, divide, reading.operands, reading.results[0], at)

    return meaning


def _select(reading: Reading) -> Step:
    condition, a, b = reading.operands
    (result,) = reading.results
    machine, at = reading.machine, reading.at
    for source in (a, b):
        reading.code.join([source], [result])

    def step(frame: Frame) -> None:
        chosen = frame[condition]
        is_value = not isinstance(frame[a], View)
        if type(chosen) is Unwritten and is_value and machine.settings.undefined == "carry":
            frame[result] = _mixed(chosen, frame[a], frame[b])
        elif np.ndim(plain(chosen)) == 0:
            frame[result] = frame[a] if machine.defined(chosen, at) else frame[b]
        else:
            frame[result] = _mixed(machine.defined(chosen, at), frame[a], frame[b])

    return step


def _mixed(condition: Value, a: Value, b: Value) -> Value:
    """Of each element one or the other; not defined where that is not, or what decides."""
    chosen = plain(condition)
    values = xp.where(chosen, plain(a), plain(b))[()]  # an array, or a NumPy scalar
    missing = [x.where if type(x) is Unwritten else np.False_ for x in (a, b)]
    where = xp.where(chosen, *missing) | (condition.where if type(condition) is Unwritten else np.False_)
    if not where.any():
        return values
    mark = next(x for x in (condition, a, b) if type(x) is Unwritten)
    return Unwritten(values, np.broadcast_to(where, values.shape)[()], mark.reader, mark.buffer)


def _complex(reading: Reading) -> Function:
    dtype = dtype_of(reading.result_type())

    def made(*parts: Any) -> Any:
        return xp.ascontiguousarray(xp.stack(xp.broadcast_arrays(*parts), -1)).view(dtype)[..., 0]

    return made


def _part(reading: Reading) -> Function:
    return xp.real if reading.name == "complex.re" else xp.imag


def _constant(reading: Reading) -> Step:
    kind, attribute, (result,) = reading.result_type(), reading.attribute("value"), reading.results
    dtype = dtype_of(kind)
    shaped = hasattr(kind, "shape")  # a complex number has an element type too
    value: Any = dense(attribute, dtype, list(kind.shape), reading.at) if shaped else number(attribute, dtype)

    def step(frame: Frame) -> None:
        frame[result] = value

    return step


def _poison(reading: Reading) -> Step:
    value = Unwritten(dtype_of(reading.result_type()).type(0), np.True_, reading.at, None)
    (result,) = reading.results

    def step(frame: Frame) -> None:
        frame[result] = value

    return step


_CONVERSIONS = (
    "bitcast", "extf", "extsi", "extui", "fptosi", "fptoui", "index_cast", "index_castui", "sitofp", "truncf", "trunci", "uitofp",
)  # fmt: skip
_ARITH = (
    "addf", "subf", "mulf", "divf", "remf", "negf", "maximumf", "minimumf", "maxnumf", "minnumf",
)  # fmt: skip

MEANINGS: dict[str, Meaning] = {
    **{f"arith.{name}": computing(_float) for name in _ARITH},
    **{f"math.{name}": computing(_float) for name in FUNCTIONS if name not in _ARITH},
    **{
        f"arith.{name}": computing(_integer)
        for name in INTEGERS
        if name not in ("absi", "ctlz", "cttz", "ctpop", "ipowi")
    },
    **{f"math.{name}": computing(_integer) for name in ("absi", "ctlz", "cttz", "ctpop", "ipowi")},
    **{f"arith.{name}": computing(_converted) for name in _CONVERSIONS},
    **{f"arith.{name}": _divided(False) for name in DIVISIONS},
    **{f"arith.{name}": _divided(True) for name in UNSIGNED_DIVISIONS},
    "arith.cmpi": computing(compared),
    "arith.cmpf": computing(compared),
    "arith.select": _select,
    "arith.constant": _constant,
    "complex.constant": _constant,
    "complex.create": computing(_complex),
    "complex.re": computing(_part),
    "complex.im": computing(_part),
    "ub.poison": _poison,
}
VECTORISED = frozenset(MEANINGS)
"""Ops that take arrays as they take scalars."""
