"""Arguments and results that are tuples, or of other types that a decomposition is registered for, as their parts.

func.func @main(%p: tuple<tensor<5xf32>, i1>)    ->    func.func @main(%p_0: tensor<5xf32>, %p_1: i1)

Where another argument has such a name, the part has `_` behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import main_function, nested_values
from hotdesk.passes.bufferize.decompose_types import DecomposeTypes, innermost_types


def take_tuples_apart(module: ir.Module, names: Sequence[str]) -> tuple[str, ...]:
    """Passes on the parts of tuples in their place; returns the names that the arguments have then, from those that they had."""
    kinds = signature(main_function(module)).inputs
    if all(innermost_types(kind) == [kind] for kind in {value.type for value in nested_values(module.operation)}):
        return tuple(names)
    parts = [innermost_types(kind) for kind in kinds]
    DecomposeTypes().apply(module)
    taken, found = set(names), list[str]()
    for name, kind, own in zip(names, kinds, parts, strict=True):
        if own == [kind]:
            found.append(name)
            continue
        for number in range(len(own)):
            part = f"{name}_{number}"
            while part in taken:
                part += "_"
            taken.add(part)
            found.append(part)
    return tuple(found)
