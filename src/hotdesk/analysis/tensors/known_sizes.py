"""Sizes that are known wherever a function is: numbers, those of its arguments, and sums and products of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.ir.argument_sizes import argument_name, dim_name
from hotdesk.ir.types import is_tensor
from hotdesk.sizes.expressions import is_sum_of_products, replaced
from hotdesk.sizes.size import Size, is_opaque

NUMBER, VALUE = -1, -1
"""In place of an argument, of a size that is a number; in place of a dim, of an argument that is the size."""


class KnownSizes:
    """Where the sizes of one function come from."""

    def __init__(self, function: TensorProgram) -> None:
        self._function = function

    @cached_property
    def _sources(self) -> dict[object, tuple[int, int]]:
        function = self._function
        found: dict[object, tuple[int, int]] = {}
        arguments = list(function.ops[0].operation.block.arguments)[: len(function.arguments)] if function.ops else []
        for number, argument in enumerate(arguments):
            if is_tensor(argument.type):
                found.update((size, (number, i)) for i, size in enumerate(function.sizes.shape(argument)))
            elif isinstance(argument.type, ir.IndexType):
                found[function.sizes.value(argument)] = (number, VALUE)
        return found

    def source(self, size: Size) -> tuple[int, int] | None:
        """The argument that has a size, and its dim; or `NUMBER` and the size; None if no argument has it."""
        return (NUMBER, size) if isinstance(size, int) else self._sources.get(size)

    def named(self, size: Size) -> Size:
        """A size with symbols that nobody wrote replaced by the arguments that they follow from, as far as there are any."""
        if not is_opaque(size):
            return size
        names: dict[Any, sympy.Symbol] = {}
        for symbol in cast(Any, size).free_symbols:
            source = self._sources.get(symbol)
            if is_opaque(symbol) and source is not None:
                number, dim = source
                names[symbol] = sympy.Symbol(argument_name(number) if dim == VALUE else dim_name(number, dim))
        return replaced(size, names)

    def are_known(self, value: int) -> bool:
        """Whether all sizes of a tensor are known."""
        if value == NOT_A_TENSOR:
            return False
        return all(self._is_known(size) for size in self._function.values[value].shape)

    def _is_known(self, size: Size) -> bool:
        if self.source(size) is not None:
            return True
        return is_sum_of_products(size) and all(symbol in self._sources for symbol in cast(Any, size).free_symbols)
