"""Calls of @ApproxTopK, the `approx_max_k` and `approx_min_k` of JAX, as the first elements of a sort: exact, as on its CPU.

    %k = custom_call @ApproxTopK(%x, %places, …) by GT   ->   %k = slice(sort(%x, %places) by GT)

1. What is called compares elements by `<` or `>`, and sizes are known; another one raises UnsupportedOpError.
2. There are as many elements as the call gives: more than those asked for where JAX leaves it to others to choose among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.mlir.stablehlo_sorts import rewrite_sort
from hotdesk.frontends.mlir.stablehlo_writing import is_known, take_away
from hotdesk.ir.building import clone_with, create
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import attributes_of

TARGET = "ApproxTopK"
"""The name of what is called."""


def rewrite_top_k(op: ir.Operation, functions: Mapping[str, ir.Operation]) -> None:
    """Writes such a call so; `functions` are those of the module.

    Raises:
        UnsupportedOpError: it is of another kind.
    """
    attributes, count = attributes_of(op), len(op.results)
    settings: Any = attributes.get("mhlo.backend_config", attributes.get("backend_config"))
    called: Any = attributes.get("called_computations", ())
    is_whole = all(map(is_known, (*op.operands, *op.results))) and len(op.operands) == 2 * count
    if not is_whole or len(called) != 1 or not isinstance(settings, ir.DictAttr) or "reduction_dim" not in settings:
        raise _refused(op, "a function that compares, a dimension and known sizes")
    given = list(op.operands)[:count]
    how = {"dimension": settings["reduction_dim"], "is_stable": ir.BoolAttr.get(True)}
    kinds = [each.type for each in given]
    ordered = create("stablehlo.sort", given, kinds, how, regions=1, before=op)
    _compare_by(functions[called[0].value], ordered)
    kept = [_first(value, result.type, op) for value, result in zip(ordered.results, op.results, strict=True)]
    if not rewrite_sort(ordered):
        raise _refused(op, "elements that are compared by < or >")
    take_away(op, kept)


def _compare_by(function: ir.Operation, ordered: ir.Operation) -> None:
    """Gives a sort the body of a function as what compares."""
    body = function.regions[0].blocks[0]
    block = ordered.regions[0].blocks.append(*(each.type for each in body.arguments))
    known: dict[ir.Value, ir.Value] = dict(zip(body.arguments, block.arguments, strict=True))
    *ops, end = (each.operation for each in body.operations)
    for each in ops:
        clone_with(each, known, ir.InsertionPoint(block))
    with ir.InsertionPoint(block):
        ir.Operation.create("stablehlo.return", operands=[known[each] for each in end.operands])


def _first(value: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """The first elements along each dim, as many as a type has."""
    sizes: list[int] = [int(size or 0) for size in shape_of(kind)]
    numbers = {"start_indices": [0] * len(sizes), "limit_indices": sizes, "strides": [1] * len(sizes)}
    attributes = {name: ir.DenseI64ArrayAttr.get(each) for name, each in numbers.items()}
    return create("stablehlo.slice", [value], [kind], attributes, before=before).results[0]


def _refused(op: ir.Operation, expected: str) -> UnsupportedOpError:
    got = ", ".join(str(each.type) for each in op.operands)
    where = python_line(op.location) or None
    return UnsupportedOpError(f"`{op.name}` of @{TARGET}", expected=expected, got=f"another one, of {got}", where=where)
