"""Ops that compute: functions of NumPy scalars, and of arrays element by element.

A computation on a value that nobody has written is told, and goes on with what happens to be there (`undefined="carry"` keeps the
mark instead). Choosing between values and passing one on is no computation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from hotdesk.checker.interpreter import Frame, Implementation, Interpreter, OpReader, Step
from hotdesk.checker.values import Unwritten, Value, dtype_of, plain, xp
from hotdesk.explain import Source

Function: TypeAlias = Callable[..., Any]


def computing(make: Callable[[OpReader], Function]) -> Implementation:
    """The meaning of an op that computes its result from its operands."""

    def implementation(reader: OpReader) -> Step:
        return compute(reader.interpreter, make(reader), reader.operands, reader.results[0], reader.at)

    return implementation


def compute(interpreter: Interpreter, function: Function, operands: Sequence[int], result: int, at: Source) -> Step:
    """Applies a function to slots."""
    if len(operands) == 1:
        (a,) = operands

        def one(frame: Frame) -> None:
            x = frame[a]
            frame[result] = marked(interpreter, function, (x,), at) if type(x) is Unwritten else function(x)

        return one
    if len(operands) == 2:
        a, b = operands

        def two(frame: Frame) -> None:
            x, y = frame[a], frame[b]
            if type(x) is Unwritten or type(y) is Unwritten:
                frame[result] = marked(interpreter, function, (x, y), at)
            else:
                frame[result] = function(x, y)

        return two

    def more(frame: Frame) -> None:
        values = [frame[slot] for slot in operands]
        if any(type(x) is Unwritten for x in values):
            frame[result] = marked(interpreter, function, values, at)
        else:
            frame[result] = function(*values)

    return more


def marked(interpreter: Interpreter, function: Function, values: Sequence[Value], at: Source) -> Value:
    """A function of values of which some were never written."""
    result = function(*map(plain, values))
    marks = [value for value in values if type(value) is Unwritten]
    if interpreter.settings.undefined == "refuse":
        for mark in marks:
            interpreter.tell(mark, at)
        return result
    where: Any = np.False_
    for mark in marks:
        where = where | mark.where
    return Unwritten(result, xp.broadcast_to(where, xp.shape(result)), marks[0].reader, marks[0].buffer)


def of_floats(function: Function) -> Implementation:
    """A function of floating numbers, rounded to the type of the result."""

    def make(reader: OpReader) -> Function:
        dtype = dtype_of(reader.result_type())

        def rounded(*values: Any) -> Any:
            result = function(*values)
            return result if result.dtype == dtype else result.astype(dtype)

        return rounded

    return computing(make)


def of_integers(function: Function) -> Implementation:
    """A function of integers that wraps around; operands have a sign."""

    def make(reader: OpReader) -> Function:
        if dtype_of(reader.result_type()).kind != "b":
            return function

        def on_truth(*values: Any) -> Any:
            """On the bytes 0 and −1, of which the lowest bit is the result."""
            return (function(*(-v.astype(np.int8) for v in values)) & np.int8(1)).astype(np.bool_)

        return on_truth

    return computing(make)


def unsigned(value: Any) -> Any:
    """The same bits without a sign."""
    return value.view(np.dtype(f"u{value.dtype.itemsize}")) if value.dtype.kind == "i" else value
