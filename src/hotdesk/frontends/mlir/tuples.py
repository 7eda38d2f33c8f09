"""Tuples, and other types that a decomposition is registered for, as their parts: each is an argument or a result.

func.func @main(%p: tuple<tensor<5xf32>, i1>)    ->    func.func @main(%p_0: tensor<5xf32>, %p_1: i1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hotdesk._bindings import ir
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.passes.bufferize.decompose_types import DecomposeTypes, innermost_types


def take_tuples_apart(module: ir.Module, names: Sequence[str]) -> tuple[str, ...]:
    """Passes on the parts of tuples in their place; returns the names that the arguments have then, from those that they had."""
    kinds = signature(main_function(module)).inputs
    if all(innermost_types(kind) == [kind] for kind in set(_types(module))):
        return tuple(names)
    parts = [innermost_types(kind) for kind in kinds]
    DecomposeTypes().apply(module)
    return tuple(
        each
        for name, kind, own in zip(names, kinds, parts, strict=True)
        for each in ([name] if own == [kind] else [f"{name}_{number}" for number in range(len(own))])
    )


def _types(module: ir.Module) -> Iterator[ir.Type]:
    """The types of all values of a module."""
    for op in nested_ops(module.operation):
        yield from (value.type for value in op.results)
        yield from (value.type for region in op.regions for block in region.blocks for value in block.arguments)
