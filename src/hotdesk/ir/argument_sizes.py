"""The sizes that a function states of its arguments, and the ranges of symbols in them: promises of whoever calls.

    func @f(%x: memref<?xf32> {hotdesk.shape = ["n"]}, %y: memref<?xf32> {hotdesk.shape = ["2*n"]})
    func @g(%arg0: memref<?xf32>, %arg1: index, %y: memref<?x?xf32> {hotdesk.shape = ["dim 0 of %arg0", "%arg1"]})
    attributes {hotdesk.bounds = {n = [1, 512], m = [2]}}

A size is named by whoever wrote the function, or after the argument that it follows from. A range is the least and the greatest
value of a symbol; nothing checks it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import SHAPE, signature
from hotdesk.ir.types import shape_of
from hotdesk.sizes.reading import parsed
from hotdesk.sizes.size import OPAQUE, Size, is_opaque, spelled, symbols_of

_DIM = re.compile(r"dim (\d+) of %arg(\d+)")


def argument_shapes(function: ir.Operation) -> dict[int, tuple[Size, ...]]:
    """The sizes of arguments, by number; equal names are equal sizes.

    Raises:
        InvalidIRError: the attribute is no list of sizes, or not those of the argument's type.
    """
    shapes: dict[int, tuple[Size, ...]] = {}
    arguments = signature(function).arguments
    for number, argument in enumerate(arguments):
        if SHAPE in argument.attributes:
            shapes[number] = _stated(function, argument.attributes[SHAPE], argument.type)
    for number in _followed(shapes) - shapes.keys():
        if number < len(arguments) and isinstance(arguments[number].type, (ir.RankedTensorType, ir.MemRefType)):
            static = enumerate(shape_of(arguments[number].type))
            shapes[number] = tuple(sympy.Symbol(dim_name(number, i)) if size is None else size for i, size in static)
    return shapes


def dim_name(argument: int, dim: int) -> str:
    """The name of a size that is a dim of an argument."""
    return f"dim {dim} of {argument_name(argument)}"


def argument_name(argument: int) -> str:
    """The name of a size that is an argument: what MLIR prints."""
    return f"%arg{argument}"


class Stating:
    """Sizes of arguments as `hotdesk.shape` has them. One that nobody named is called after the first argument that has it."""

    def __init__(self) -> None:
        self._names: dict[Any, Any] = {}

    def of(self, number: int, shape: Sequence[Size]) -> list[str]:
        """The entries of the attribute of an argument, by its number."""
        own = {size: sympy.Symbol(dim_name(number, dim)) for dim, size in reversed(list(enumerate(shape)))}
        self._names = {size: name for size, name in own.items() if is_opaque(size)} | self._names
        return [spelled(self._names.get(size, size)) for size in shape]


def is_derived(name: str) -> bool:
    """Whether a size is named after the argument that it follows from."""
    return "%" in name


def _followed(shapes: dict[int, tuple[Size, ...]]) -> set[int]:
    """The arguments after whose dims sizes are named."""
    names = {name for shape in shapes.values() for size in shape for name in symbols_of(size)}
    return {int(found[2]) for name in names if (found := _DIM.fullmatch(name)) is not None}


def _stated(function: ir.Operation, given: Any, kind: Any) -> tuple[Size, ...]:
    entries = list(given) if isinstance(given, ir.ArrayAttr) else [given]
    try:
        if not isinstance(given, ir.ArrayAttr) or not all(isinstance(entry, ir.StringAttr) for entry in entries):
            raise ValueError(str(given))
        sizes = tuple(parsed(cast(Any, entry).value) for entry in entries)
    except ValueError as error:
        raise _invalid(function, SHAPE, 'a size in quotes for each dim, such as ["s0", "100"]', str(given)) from error
    if isinstance(kind, (ir.RankedTensorType, ir.MemRefType)):
        shape: Any = kind
        known = [None if shape.is_dynamic_dim(i) else shape.get_dim_size(i) for i in range(shape.rank)]
        if len(known) != len(sizes) or any(dim not in (None, size) for dim, size in zip(known, sizes, strict=True)):
            raise _invalid(function, SHAPE, f"the sizes of a {kind}", str(given))
    return sizes


def _invalid(function: ir.Operation, attribute: str, expected: str, got: str) -> InvalidIRError:
    where = python_line(function.location)
    return InvalidIRError(f"attribute '{attribute}'", expected=expected, got=got, where=where)


def last_opaque(shapes: dict[int, tuple[Size, ...]]) -> int:
    """The greatest number of an opaque symbol among the sizes of arguments, so that new ones differ from them."""
    names = {name for shape in shapes.values() for size in shape for name in symbols_of(size)}
    numbers = [name.removeprefix(OPAQUE) for name in names if name.startswith(OPAQUE)]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


BOUNDS = "hotdesk.bounds"
_RANGES = "a dictionary of ranges such as {s0 = [1, 512], s1 = [2]}"


def declared_bounds(function: ir.Operation) -> dict[str, tuple[int, int | None]]:
    """The least and the greatest value of symbols, by name, None where no greatest one is declared.

    Raises:
        InvalidIRError: the attribute is no such dictionary, or a range is empty or begins below 0.
    """
    if BOUNDS not in function.attributes:
        return {}
    given: Any = function.attributes[BOUNDS]
    if not isinstance(given, ir.DictAttr):
        raise _invalid(function, BOUNDS, _RANGES, str(given))
    found: dict[str, tuple[int, int | None]] = {}
    for entry in cast(Any, given):
        ends = list(entry.attr) if isinstance(entry.attr, ir.ArrayAttr) else []
        numbers = [int(cast(Any, end).value) for end in ends if isinstance(end, ir.IntegerAttr)]
        if len(numbers) != len(ends) or len(numbers) not in (1, 2) or sorted([0, *numbers]) != [0, *numbers]:
            raise _invalid(function, BOUNDS, _RANGES, f"{entry.name} = {entry.attr}")
        found[str(entry.name)] = (numbers[0], numbers[1] if len(numbers) == 2 else None)
    return found
