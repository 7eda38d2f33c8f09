"""Sizes of allocations that are known where an arena is made.

Where the function makes its arena, that is in front of the first op that is or has inside an allocation, a size is known if it is
defined there, or follows from what is by index arithmetic that cannot fail. Where the caller makes it, sizes follow from the
arguments (`ir.recompute`).

Allocations that may not run count as well: nothing says that their sizes are not negative then, so each is made at least 0.
Two allocations have one *measure* if their bytes are proven equal: by their expressions if no size may be negative, else by
having the same operands.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.hoisting import is_not_negative
from hotdesk.analysis.allocations.uses import bytes_of_element
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.recompute import Recomputation
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defining_op, entry_block, walk
from hotdesk.models.new_memory import allocated, dynamic_sizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size, is_opaque

_TYPICAL = 1009
"""What a symbol is estimated at, about: a prime, so that no quotient is by chance a whole number."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The bytes of an allocation, rounded up to its alignment.

    Attributes:
        sizes: the dynamic sizes.
        unsure: for each whether it may be negative.
        static: bytes of an element times all other sizes.
        alignment: in bytes, a power of two.
    """

    sizes: tuple[ir.Value, ...]
    unsure: tuple[bool, ...]
    static: int
    alignment: int


class ArenaSizes:
    """Which sizes of a function's allocations are known where its arena is made, and a measure for each.

    Attributes:
        before: the op in front of which the function makes its arena; its first one if the caller does so, and if it allocates
            nothing.
        measures: those asked for so far, each once.
    """

    def __init__(self, function: ir.Operation, *, by_caller: bool) -> None:
        ops = [op.operation for op in entry_block(function).operations]
        self.before = ops[0] if by_caller else next((op for op in ops if _allocates(op)), ops[-1])
        above = OpSet(() if by_caller else ops[: ops.index(self.before)])
        self._recomputation = Recomputation(function, lambda value: defining_op(value) in above)
        self.measures: list[Measure] = []
        self._numbers: dict[Hashable, int] = {}
        self._sure: list[Size | None] = []
        self._symbols: dict[str, int] = {}
        self._not_negative: set[object] = set()

    @property
    def recomputation(self) -> Recomputation:
        """What computes the sizes there."""
        return self._recomputation

    def are_known(self, memref: ir.Value) -> bool:
        """Whether the sizes of an allocation are numbers, or known where the arena is made."""
        return all(map(self._recomputation.follows, _dynamic_sizes(memref)))

    def measure(self, memref: ir.Value, shape: tuple[Size, ...], alignment: int) -> int:
        """The number of the measure of an allocation of these sizes."""
        sizes, element = _dynamic_sizes(memref), bytes_of_element(memref.type)
        unsure = tuple(not is_not_negative(size) for size in sizes)
        static = cast(int, product([element, *(size for size in shape_of(memref.type) if size is not None)]))
        total = product([*shape, element])
        key: Hashable = (sizes, static, alignment) if any(unsure) else (total, alignment)
        self._not_negative.update(() if any(unsure) else shape)
        if key not in self._numbers:
            self._numbers[key] = len(self.measures)
            self.measures.append(Measure(sizes, unsure, static, alignment))
            self._sure.append(None if any(unsure) else total)
        return self._numbers[key]

    def is_at_least(self, a: int, b: int) -> bool:
        """Whether one measure is proven to be at least another one."""
        large, small = self._sure[a], self._sure[b]
        if large is None or small is None or self.measures[a].alignment < self.measures[b].alignment:
            return False
        prover = SizeProver(may_be_negative=lambda symbol: is_opaque(symbol) and symbol not in self._not_negative)
        return prover.is_never_less(large, small)

    def estimate(self, total: Size) -> int:
        """A number for symbolic bytes: each symbol is a thousand or so."""
        if isinstance(total, int):
            return total
        symbols = cast("set[sympy.Symbol]", cast(Any, total).free_symbols)
        for symbol in sorted(symbols, key=lambda each: each.name):
            self._symbols.setdefault(symbol.name, _TYPICAL + 2 * len(self._symbols))
        value = cast(Any, total).subs({symbol: self._symbols[symbol.name] for symbol in symbols})
        return max(int(value), 0) if value.is_number and value.is_finite else 0


def _dynamic_sizes(memref: ir.Value) -> tuple[ir.Value, ...]:
    return tuple(dynamic_sizes(memref) or ())


def _allocates(op: ir.Operation) -> bool:
    """Whether an op allocates, or has one inside that does."""
    if allocated(op) or not len(op.regions):
        return bool(allocated(op))
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if not allocated(inner.operation):
            return ir.WalkResult.ADVANCE
        found.append(inner.operation)
        return ir.WalkResult.INTERRUPT

    walk(op, visit)
    return bool(found)
