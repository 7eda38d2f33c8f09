"""What bufferization left in a module on memrefs: copies and allocations. One counter for both sides.

A copy is

1. `memref.copy`, `bufferization.clone`, or a `linalg.copy` that converts nothing;
2. a `linalg.transpose` that moves no dimension;
3. each result of a `linalg.generic` whose body only yields, where it yields an input that is read by the very map the result is
   written by. Other maps transpose or broadcast: that is work of the program's, not of bufferization.

An allocation is a `memref.alloc`, a `memref.alloca` or a clone. Each op counts once as it stands in the program, in a loop too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.types import element_bytes, element_of
from hotdesk.ir.walking import defined_functions, int_array, segment_sizes
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product

ALLOCATIONS = ("memref.alloc", "memref.alloca", "bufferization.clone")


@dataclass(frozen=True, slots=True)
class Counts:
    """Copies and allocations of a module, and their bytes."""

    copies: int
    copied: int
    allocations: int
    allocated: int


class Bytes:
    """Sizes of the memrefs of a function in bytes, for given values of the symbols in `hotdesk.shape`."""

    def __init__(self, function: ir.Operation, symbols: Mapping[str, int]) -> None:
        self._sizes = SymbolicSizes(function)
        self._symbols = {sympy.Symbol(name): value for name, value in symbols.items()}

    def of(self, memref: ir.Value) -> int:
        """Bytes of all elements that a memref shows. Raises ValueError for a size that the symbols do not give."""
        size = product([*self._sizes.shape(memref), element_bytes(element_of(memref.type))])
        if isinstance(size, int):
            return size
        known = cast(Any, size).subs(self._symbols)
        if not known.is_Integer:
            raise ValueError(f"expected a size that follows from {sorted(map(str, self._symbols))}, got {known}")
        return int(known)


def count(module: ir.Module, symbols: Mapping[str, int] | None = None) -> Counts:
    """Counts over all functions of a module."""
    copied: list[int] = []
    allocated: list[int] = []
    for function in defined_functions(module):
        sizes = Bytes(function, symbols or {})
        for op in _ops(function):
            copied += [sizes.of(target) for target in copied_into(op)]
            allocated += [sizes.of(op.results[0])] if op.name in ALLOCATIONS else []
    return Counts(len(copied), sum(copied), len(allocated), sum(allocated))


def copied_into(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that an op fills with a plain copy of another one (rules in the module docstring)."""
    match op.name:
        case "memref.copy":
            return [op.operands[1]]
        case "bufferization.clone":
            return [op.results[0]]
        case "linalg.copy":
            source, target = op.operands
            return [target] if element_of(source.type) == element_of(target.type) else []
        case "linalg.transpose":
            order = int_array(op.attributes["permutation"])
            return [op.operands[1]] if order == tuple(range(len(order))) else []
        case "linalg.generic":
            return _yielded_inputs(op)
        case _:
            return []


def _yielded_inputs(op: ir.Operation) -> list[ir.Value]:
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    if len(body) != 1:
        return []
    inputs, _ = segment_sizes(op)
    maps = [each.value for each in cast(Any, op.attributes["indexing_maps"])]
    arguments: dict[ir.Value, int] = {argument: number for number, argument in enumerate(block.arguments)}
    targets: list[ir.Value] = []
    for result, value in enumerate(body[0].operands, start=inputs):
        source = arguments.get(value, inputs)
        if source < inputs and maps[result].is_permutation and maps[source] == maps[result]:
            targets.append(op.operands[result])
    return targets


def _ops(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Every op inside, in order; payloads of linalg ops are left out."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                if not op.operation.name.startswith("linalg."):
                    yield from _ops(op.operation)
