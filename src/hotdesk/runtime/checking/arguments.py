"""What a function under check is called with, and whether it may write it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.errors import ArgumentCountError, ArgumentTypeError, DtypeError, ShapeError
from hotdesk.explain import Source
from hotdesk.ir.locations import python_line
from hotdesk.runtime.checking.blocks import View
from hotdesk.runtime.checking.elements import Array, dtype_of, xp
from hotdesk.runtime.checking.machine import Machine
from hotdesk.runtime.checking.parameters import Parameter

_DEFAULT_SIZE = 4


def drawn(found: Sequence[Parameter], sizes: Sequence[int], seed: int) -> list[Any]:
    """Random values for each argument: small whole numbers for integers, so that they may be indices.

    `sizes` are for dynamic sizes and scalar integers, in order; 4 where there are no more. A result or an arena is an array
    of its sizes that nobody has written.

    Raises:
        ShapeError: a size is negative.
        DtypeError: an integer is none of its type.
    """
    generator, rest = np.random.default_rng(seed), iter(sizes)
    return [_drawn(parameter, rest, generator) for parameter in found]


def _drawn(parameter: Parameter, rest: Iterator[int], generator: np.random.Generator) -> Any:
    dtype = dtype_of(parameter.type)
    if not parameter.is_memref:
        if dtype.kind in "iu":
            return _integer(parameter, next(rest, _DEFAULT_SIZE), dtype)
        return _numbers(generator, (), dtype)[()]
    shape = tuple(next(rest, _DEFAULT_SIZE) if size is None else size for size in parameter.shape)
    if min(shape, default=0) < 0:
        given = ", ".join(map(str, shape))
        raise ShapeError(f"argument {parameter.number}", expected=f"sizes of {parameter.type}, 0 or more", got=given)
    return _numbers(generator, shape, dtype)


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


def passed(machine: Machine, function: ir.Operation, found: Sequence[Parameter], values: Sequence[Any]) -> list[Any]:
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
            value = np.zeros(int(machine.call(parameter.sized_by, given)[0]), np.int8)
        given.append(_passed(machine, parameter, value, at))
    return given


def _passed(machine: Machine, parameter: Parameter, value: Any, at: Source) -> Any:
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
        data.fill(machine.settings.poison)
    kind = "argument" if parameter.result is None else "result"
    name = what if parameter.result is None else f"result {parameter.result}"
    block = machine.memory.hold(
        data, kind, name, at, written=not unwritten, writable=parameter.writable, alignment=parameter.alignment
    )
    return View.of(block, array.shape, dtype)


def slots_of(found: Sequence[Parameter], given: Sequence[Any], shapes: Mapping[int, Sequence[int]]) -> dict[int, View]:
    """The results, by number, that are arguments or lie in the memory of one; the latter of the shapes given, or the argument's.

    Raises:
        ShapeError: an argument has not as many elements as the result that lies in it is said to have.
    """
    slots: dict[int, View] = {}
    for parameter, view in zip(found, given, strict=True):
        if parameter.result is not None:
            slots[parameter.result] = view
        for number in parameter.holds:
            shape = shapes.get(number, view.sizes)
            if math.prod(shape) != math.prod(view.sizes):
                message = f"the sizes of {math.prod(view.sizes)} elements, those of argument {parameter.number}"
                raise ShapeError(f"result {number}", expected=message, got=str(tuple(shape)))
            slots[number] = View.of(view.block, shape, view.dtype)
    return slots


def empty(found: Sequence[Parameter], inputs: Sequence[Any], shapes: Mapping[int, Sequence[int]]) -> list[Any]:
    """`inputs` for the arguments that are neither results nor arenas, and arrays for those that are: results of the shapes given,
    arenas of the sizes that their types state, or of none if a function tells it."""
    rest = iter(inputs)
    values: list[Any] = []
    for parameter in found:
        if parameter.result is None and not parameter.arena:
            values.append(next(rest, None))
            continue
        stated = (0,) if parameter.sized_by else None if parameter.result is None else shapes.get(parameter.result)
        shape = tuple(stated if stated is not None else [_known(size, parameter) for size in parameter.shape])
        values.append(np.zeros(shape, dtype_of(parameter.type)))
    left = sum(1 for _ in rest)
    if left or any(value is None for value in values):
        count = sum(parameter.result is None and not parameter.arena for parameter in found)
        raise ArgumentCountError("arguments", expected=str(count), got=str(len(inputs)))
    return values


def _known(size: int | None, parameter: Parameter) -> int:
    if size is None:
        what = f"argument {parameter.number}" if parameter.result is None else f"result {parameter.result}"
        raise ShapeError(what, expected="its sizes", got=str(parameter.type))
    return size
