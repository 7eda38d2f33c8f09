"""What a function under check is called with, and whether it may write it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import sympy

from hotdesk._bindings import ir
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.interpreter import Interpreter
from hotdesk.checker.parameters import Parameter
from hotdesk.checker.values import Array, dtype_of, xp
from hotdesk.errors import ArgumentCountError, ArgumentTypeError, DtypeError, ShapeError
from hotdesk.explain import Source
from hotdesk.ir.argument_sizes import argument_name, declared_bounds, dim_name, is_derived
from hotdesk.ir.locations import python_line
from hotdesk.sizes.size import Bounds, evaluate, symbols_of

_DEFAULT_SIZE = 4


class _Sizes:
    """Sizes of arguments, as far as those that are known tell them: by the symbols of `hotdesk.shape`, by the dims of other
    arguments, or by integers that are passed."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def tell(self, parameter: Parameter, shape: Sequence[int]) -> None:
        """An argument has these sizes."""
        for i, size in enumerate(shape):
            self._known[dim_name(parameter.number, i)] = size
        for stated, size in zip(parameter.stated, shape, strict=False):
            if isinstance(stated, sympy.Symbol):
                self._known.setdefault(stated.name, size)

    def tell_number(self, parameter: Parameter, value: int) -> None:
        self._known[argument_name(parameter.number)] = value

    def find(self, parameter: Parameter, dim: int) -> int | None:
        """The size of a dim, or None if nothing tells it."""
        size = parameter.shape[dim]
        if size is not None or not parameter.stated:
            return size
        stated = parameter.stated[dim]
        if isinstance(stated, int):
            return stated
        return evaluate(stated, self._known) if self._known.keys() >= {*symbols_of(stated)} else None


def drawn(function: ir.Operation, found: Sequence[Parameter], sizes: Sequence[int], seed: int) -> list[Any]:
    """Random values for each argument: small whole numbers for integers, so that they may be indices.

    `sizes` are for the dynamic sizes that do not follow from others and for scalar integers, in order; where there are no more,
    4, or what is nearest to it in the range that the function declares of a symbol (`hotdesk.bounds`). A result or an arena is an
    array of its sizes that nobody has written.

    Raises:
        ShapeError: a size is negative.
        DtypeError: an integer is none of its type.
        InvalidIRError: the declared ranges are none.
    """
    generator, rest, bounds = np.random.default_rng(seed), iter(sizes), declared_bounds(function)
    known = _Sizes()
    shapes: dict[int, tuple[int, ...]] = {}
    numbers: dict[int, int] = {}
    for parameter in sorted(found, key=_depends):
        if parameter.is_memref:
            shapes[parameter.number] = _chosen(parameter, known, rest, bounds)
        elif dtype_of(parameter.type).kind in "iu":
            numbers[parameter.number] = value = next(rest, _DEFAULT_SIZE)
            known.tell_number(parameter, value)
    values: list[Any] = []
    for parameter in found:
        dtype = dtype_of(parameter.type)
        if parameter.number in numbers:
            values.append(_integer(parameter, numbers[parameter.number], dtype))
        elif parameter.is_memref:
            values.append(_numbers(generator, shapes[parameter.number], dtype))
        else:
            values.append(_numbers(generator, (), dtype)[()])
    return values


def _depends(parameter: Parameter) -> bool:
    """Whether a size of an argument is stated as computed from others, so that they come first."""
    return any(
        isinstance(stated, sympy.Expr) and (not isinstance(stated, sympy.Symbol) or is_derived(stated.name))
        for stated in parameter.stated
    )


def _chosen(parameter: Parameter, known: _Sizes, rest: Iterator[int], bounds: Bounds) -> tuple[int, ...]:
    shape: list[int] = []
    for i in range(len(parameter.shape)):
        size = known.find(parameter, i)
        if size is None:
            low, high = bounds.get(str(parameter.stated[i]), (0, None)) if parameter.stated else (0, None)
            default = max(low, _DEFAULT_SIZE if high is None else min(high, _DEFAULT_SIZE))
            size = next(rest, default)
        shape.append(size)
        known.tell(parameter, shape)
    if min(shape, default=0) < 0:
        given = ", ".join(map(str, shape))
        raise ShapeError(f"argument {parameter.number}", expected=f"sizes of {parameter.type}, 0 or more", got=given)
    return tuple(shape)


def _integer(parameter: Parameter, value: int, dtype: np.dtype[Any]) -> Any:
    known = np.iinfo(dtype)
    if not known.min <= value <= known.max:
        expected = f"a number of type {parameter.type}, {known.min} to {known.max}"
        raise DtypeError(f"argument {parameter.number}", expected=expected, got=str(value))
    return dtype.type(value)


def _numbers(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return generator.integers(0, _DEFAULT_SIZE, shape).astype(dtype)
    return np.asarray(generator.standard_normal(shape)).astype(dtype)


def passed(
    interpreter: Interpreter, function: ir.Operation, found: Sequence[Parameter], values: Sequence[Any]
) -> list[Any]:
    """A view for each memref, of memory that the caller owns; scalars as they are.

    Raises:
        CallError: the number, the type or the sizes of the values are not those of the arguments.
    """
    if len(values) != len(found):
        raise ArgumentCountError("arguments", expected=str(len(found)), got=str(len(values)))
    at = Source("func.func", python_line(function.location))
    given: list[Any] = []
    for parameter, value in zip(found, values, strict=True):
        if parameter.sized_by:  # the arena is the last argument
            value = np.zeros(int(interpreter.call(parameter.sized_by, given)[0]), np.int8)
        given.append(_passed(interpreter, parameter, value, at))
    return given


def _passed(interpreter: Interpreter, parameter: Parameter, value: Any, at: Source) -> Any:
    what, dtype = f"argument {parameter.number}", dtype_of(parameter.type)
    if not parameter.is_memref:
        return dtype.type(value)
    if not isinstance(value, np.ndarray):
        raise ArgumentTypeError(what, expected="a numpy.ndarray", got=type(value).__name__)
    array = cast(Array, value)
    if array.dtype != dtype:
        raise DtypeError(what, expected=str(dtype), got=str(array.dtype))
    fits = len(array.shape) == len(parameter.shape) and all(
        want in (None, size) for want, size in zip(parameter.shape, array.shape, strict=True)
    )
    if not fits:
        raise ShapeError(what, expected=str(parameter.type), got=str(array.shape))
    rows = xp.ascontiguousarray(array).reshape(-1)
    data = (rows.copy() if parameter.writable else rows).view(np.uint8)
    unwritten = parameter.result is not None or parameter.arena
    if unwritten:
        data.fill(interpreter.settings.poison)
    kind = "argument" if parameter.result is None else "result"
    name = what if parameter.result is None else f"result {parameter.result}"
    buffer = interpreter.memory.hold(
        data, kind, name, at, written=not unwritten, writable=parameter.writable, alignment=parameter.alignment
    )
    return MemRef.of(buffer, array.shape, dtype)


def slots_of(
    found: Sequence[Parameter], given: Sequence[Any], shapes: Mapping[int, Sequence[int]]
) -> dict[int, MemRef]:
    """The results, by number, that are arguments or lie in the memory of one; the latter of the shapes given, or the argument's.

    Raises:
        ShapeError: an argument has not as many elements as the result that lies in it is said to have.
    """
    slots: dict[int, MemRef] = {}
    for parameter, view in zip(found, given, strict=True):
        if parameter.result is not None:
            slots[parameter.result] = view
        for number in parameter.holds:
            shape = shapes.get(number, view.sizes)
            if math.prod(shape) != math.prod(view.sizes):
                message = f"the sizes of {math.prod(view.sizes)} elements, those of argument {parameter.number}"
                raise ShapeError(f"result {number}", expected=message, got=str(tuple(shape)))
            slots[number] = MemRef.of(view.buffer, shape, view.dtype)
    return slots


def empty(found: Sequence[Parameter], inputs: Sequence[Any], shapes: Mapping[int, Sequence[int]]) -> list[Any]:
    """`inputs` for the arguments that are neither results nor arenas, and arrays for those that are: results of the shapes given,
    or of those that follow from the inputs; arenas of the sizes that their types state, or of none if a function tells it."""
    wanted = [parameter for parameter in found if parameter.result is None and not parameter.arena]
    if len(inputs) != len(wanted):
        raise ArgumentCountError("arguments", expected=str(len(wanted)), got=str(len(inputs)))
    values: dict[int, Any] = {parameter.number: value for parameter, value in zip(wanted, inputs, strict=True)}
    known = _Sizes()
    for parameter in wanted:
        value: Any = values[parameter.number]
        if parameter.is_memref:
            known.tell(parameter, xp.shape(value))
        elif dtype_of(parameter.type).kind in "iu":
            known.tell_number(parameter, int(value))
    for parameter in found:
        if parameter.number not in values:
            values[parameter.number] = np.zeros(_room(parameter, known, shapes), dtype_of(parameter.type))
    return [values[parameter.number] for parameter in found]


def _room(parameter: Parameter, known: _Sizes, shapes: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    if parameter.sized_by:
        return (0,)
    if parameter.result is not None and parameter.result in shapes:
        return tuple(shapes[parameter.result])
    shape: list[int] = []
    for i in range(len(parameter.shape)):
        size = known.find(parameter, i)
        if size is None:
            what = f"argument {parameter.number}" if parameter.result is None else f"result {parameter.result}"
            raise ShapeError(what, expected="its sizes", got=str(parameter.type))
        shape.append(size)
    return tuple(shape)
