"""Operands of an op in control flow as its kernel sees them: numbers where types say them, symbols for what the call passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.building import index_constant
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import constant_of, defining_op, is_function, values_read
from hotdesk.models.memref import VIEWS, viewed
from hotdesk.models.new_memory import BASES
from hotdesk.passes.lower.unpacked_memrefs import metadata
from hotdesk.passes.lower.views import ResolvedMemref, seen_by_type
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size


class KnownExtents:
    """The sizes of memrefs, as far as they follow from those of the arguments: what the work of an op is told by."""

    def __init__(self, sizes: SymbolicSizes) -> None:
        self._sizes = sizes

    def of(self, value: ir.Value) -> ResolvedMemref:
        shape = self._sizes.shape(value)
        return replace(seen_by_type(value, value, lambda number: 1), sizes=tuple(shape))


class NumberSource(NamedTuple):
    """Where a number that is passed to a kernel comes from: a value, or a result of a memref's metadata."""

    value: ir.Value
    result: int | None = None


class FlowOperands:
    """What the kernel of one op sees of its operands: numbers where types say them, symbols for what the call passes.

    Serves `build_loop_kernel` as places and as sizes.
    """

    def __init__(self, op: ir.Operation) -> None:
        self._sources: dict[Any, NumberSource] = {}
        self._known: dict[ir.Value, ResolvedMemref] = {}
        touched = values_read(op)
        memrefs = [value for value in touched if is_memref(value.type)]
        found = {value: base_of(value) for value in memrefs}
        known = {value: base for value, base in found.items() if base is not None}
        self._bases = known if len(known) == len(found) else dict.fromkeys(memrefs, memrefs[0])  # maybe all in one

    def of(self, value: ir.Value) -> ResolvedMemref:
        """The place of a memref."""
        if value not in self._known:
            self._known[value] = seen_by_type(
                value, self._bases[value], lambda number: self._named(NumberSource(value, 2 + number))
            )
        return self._known[value]

    def value(self, value: ir.Value) -> Size:
        """A number that the op captures."""
        known = constant_of(value)
        if isinstance(known, int):
            return known
        return self._named(NumberSource(value))

    def number(self, size: Size, before: ir.Operation) -> ir.Value:
        """The value behind a number or symbol, in front of an op."""
        if isinstance(size, int):
            return index_constant(size, before)
        value, result = self._sources[size]
        return value if result is None else metadata(value, before).results[result]

    def _named(self, source: NumberSource) -> Size:
        symbol = sympy.Symbol(f"passed{len(self._sources)}")
        self._sources[symbol] = source
        return cast(Size, symbol)


def base_of(value: ir.Value) -> ir.Value | None:
    """The allocation, argument or global that a memref leads back to; None where control flow chooses one."""
    value = viewed(value, VIEWS)
    op = defining_op(value)
    if op is not None:
        return value if op.name in BASES else None
    owner = cast(ir.Block, value.owner)
    return value if is_function(owner.owner.operation) and owner == owner.region.blocks[0] else None
