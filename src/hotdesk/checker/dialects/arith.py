"""`arith`: functions of numbers, comparisons, conversions, constants, and sums and products in two parts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.attributes import dense, number
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects.elementwise import (
    Function,
    compute,
    computing,
    marked,
    of_floats,
    of_integers,
    unsigned,
)
from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Unwritten, Value, dtype_of, plain, xp

# Integers


def _on_unsigned(function: Function) -> Function:
    """A function of the same bits without a sign."""

    def wrapped(*values: Any) -> Any:
        return function(*map(unsigned, values)).view(values[0].dtype)

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


def _flushed(a: Any) -> Any:
    """Without numbers that are too small to be normal."""
    return xp.where(xp.abs(a) < xp.finfo(a.dtype).tiny, xp.copysign(a.dtype.type(0), a), a)[()]


_FLOATS: dict[str, Function] = {
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
}
_INTEGERS: dict[str, Function] = {
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
}
_DIVISIONS: dict[str, Function] = {
    "divsi": _toward_zero,
    "remsi": np.fmod,
    "floordivsi": xp.floor_divide,
    "ceildivsi": _up,
}
_UNSIGNED_DIVISIONS: dict[str, Function] = {
    "divui": _on_unsigned(xp.floor_divide),
    "remui": _on_unsigned(operator.mod),
    "ceildivui": _on_unsigned(_up),
}


def _divided(unsigned_too: bool) -> Implementation:
    """Integer division, which has no meaning when the divisor is zero."""

    def implementation(reader: OpReader) -> Step:
        table = _UNSIGNED_DIVISIONS if unsigned_too else _DIVISIONS
        function, at, findings = table[reader.name.split(".")[1]], reader.at, reader.interpreter.findings
        truth = dtype_of(reader.result_type()).kind == "b"

        def divide(a: Any, b: Any) -> Any:
            if truth:
                a, b = a.astype(np.int8), b.astype(np.int8)
            if np.any(b == 0):
                findings.add(FaultKind.ARITHMETIC, at, "divides by zero")
                b = xp.where(b == 0, xp.ones_like(b), b)[()]
            result = function(a, b)
            return result.astype(np.bool_) if truth else result

        return compute(reader.interpreter, divide, reader.operands, reader.results[0], at)

    return implementation


def _converted(reader: OpReader) -> Callable[[Any], Any]:
    name, dtype = reader.name.split(".")[1], dtype_of(reader.result_type())
    source = dtype_of(reader.operand_type(0))
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


# Comparisons

_Comparison: TypeAlias = Callable[[Any, Any], Any]

_FLOAT_COMPARISONS: tuple[_Comparison, ...] = (
    lambda a, b: (a == a) & (a != a),
    lambda a, b: a == b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: (a < b) | (a > b),
    lambda a, b: (a == a) & (b == b),
    lambda a, b: ~((a < b) | (a > b)),
    lambda a, b: ~(a <= b),
    lambda a, b: ~(a < b),
    lambda a, b: ~(a >= b),
    lambda a, b: ~(a > b),
    lambda a, b: a != b,
    lambda a, b: (a != a) | (b != b),
    lambda a, b: (a == a) | (a != a),
)
"""By predicate: false, then ordered ones, then those that hold for a NaN, then true."""
_COMPARISONS: tuple[_Comparison, ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


def _compared(reader: OpReader) -> _Comparison:
    predicate = int(reader.attribute("predicate").value)
    if reader.name == "arith.cmpf":
        return _FLOAT_COMPARISONS[predicate]
    dtype = dtype_of(reader.operand_type(0))
    if predicate < 2:
        return _COMPARISONS[predicate]
    if predicate > 5:  # unsigned
        compare = _COMPARISONS[predicate - 4]
        return compare if dtype.kind == "b" else lambda a, b: compare(unsigned(a), unsigned(b))
    compare = _COMPARISONS[predicate]
    # A true `i1` is −1:
    return compare if dtype.kind != "b" else lambda a, b: compare(b.astype(np.int8), a.astype(np.int8))


# Two results


def _two(make: Callable[[int, np.dtype[Any]], Callable[[int, int], tuple[int, int]]]) -> Implementation:
    """An op on Python integers that do not overflow, whose results are cut to their types."""

    def implementation(reader: OpReader) -> Step:
        dtype, interpreter, at = dtype_of(reader.result_type()), reader.interpreter, reader.at
        bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        function, (a, b) = make(bits, dtype), reader.operands
        kinds = [dtype_of(reader.result_type(number)) for number in (0, 1)]

        def part(number: int) -> Callable[[Any, Any], Any]:
            def apply(x: Any, y: Any) -> Any:
                found = [function(int(p), int(q))[number] for p, q in xp.broadcast(x, y)]
                shape = np.broadcast_shapes(x.shape, y.shape)
                return xp.array([_cut(n, kinds[number]) for n in found], kinds[number]).reshape(shape)[()]

            return apply

        parts = [part(0), part(1)]

        def step(frame: Frame) -> None:
            x, y = frame[a], frame[b]
            for slot, apply in zip(reader.results, parts, strict=True):
                frame[slot] = apply(x, y) if plain(x) is x and plain(y) is y else marked(interpreter, apply, (x, y), at)

        return step

    return implementation


def _cut(value: int, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return bool(value & 1)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _difference(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    mask = (1 << bits) - 1
    return lambda a, b: (a - b, int((a & mask) < (b & mask)))


def _sum(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    mask = (1 << bits) - 1
    return lambda a, b: (a + b, int((a & mask) + (b & mask) > mask))


def _unsigned_product(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    mask = (1 << bits) - 1
    return lambda a, b: (a * b, ((a & mask) * (b & mask)) >> bits)


def _signed_product(bits: int, dtype: np.dtype[Any]) -> Callable[[int, int], tuple[int, int]]:
    if dtype.kind == "b":  # a true `i1` is −1
        return lambda a, b: (a * b, (-a * -b) >> 1)
    return lambda a, b: (a * b, (a * b) >> bits)


# Values as they are


def _index_cast(reader: OpReader) -> Step:
    """Of numbers; or of a memref, whose elements are cast when they are read."""
    if not isinstance(reader.operand_type(0), (ir.MemRefType, ir.UnrankedMemRefType)):
        return computing(_converted)(reader)
    conversion, (source,), (result,) = _converted(reader), reader.operands, reader.results
    reader.function.cast([source], [result])

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]

        def converted(values: Any) -> Any:
            return conversion(values if view.conversion is None else view.conversion(values))

        frame[result] = MemRef(view.buffer, view.start, view.offset, view.sizes, view.strides, view.dtype, converted)

    return step


def _select(reader: OpReader) -> Step:
    condition, a, b = reader.operands
    (result,) = reader.results
    interpreter, at = reader.interpreter, reader.at
    for source in (a, b):
        reader.function.join([source], [result])

    def step(frame: Frame) -> None:
        chosen = frame[condition]
        is_value = not isinstance(frame[a], MemRef)
        if type(chosen) is Unwritten and is_value and interpreter.settings.undefined == "carry":
            frame[result] = _mixed(chosen, frame[a], frame[b])
        elif np.ndim(plain(chosen)) == 0:
            frame[result] = frame[a] if interpreter.defined(chosen, at) else frame[b]
        else:
            frame[result] = _mixed(interpreter.defined(chosen, at), frame[a], frame[b])

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


def constant(reader: OpReader) -> Step:
    kind, attribute, (result,) = reader.result_type(), reader.attribute("value"), reader.results
    dtype = dtype_of(kind)
    shaped = hasattr(kind, "shape")  # a complex number has an element type too
    value: Any = dense(attribute, dtype, list(kind.shape), reader.at) if shaped else number(attribute, dtype)

    def step(frame: Frame) -> None:
        frame[result] = value

    return step


_CONVERSIONS = (
    "bitcast", "convertf", "extf", "extsi", "extui", "fptosi", "fptoui", "sitofp", "truncf", "trunci", "uitofp",
)  # fmt: skip
OPS: dict[str, Implementation] = {
    **{f"arith.{name}": of_floats(function) for name, function in _FLOATS.items()},
    **{f"arith.{name}": of_integers(function) for name, function in _INTEGERS.items()},
    **{f"arith.{name}": _divided(False) for name in _DIVISIONS},
    **{f"arith.{name}": _divided(True) for name in _UNSIGNED_DIVISIONS},
    **{f"arith.{name}": computing(_converted) for name in _CONVERSIONS},
    "arith.addui_extended": _two(_sum),
    "arith.cmpf": computing(_compared),
    "arith.cmpi": computing(_compared),
    "arith.constant": constant,
    "arith.flush_denormals": of_floats(_flushed),
    "arith.index_cast": _index_cast,
    "arith.index_castui": _index_cast,
    "arith.mulsi_extended": _two(_signed_product),
    "arith.mului_extended": _two(_unsigned_product),
    "arith.select": _select,
    "arith.subui_extended": _two(_difference),
}
