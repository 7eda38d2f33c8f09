"""Ops of StableHLO that its own passes do not lower, written with others: sorts, scatters, barriers, and tensors of no elements.

1. Sorts (`stablehlo_sorts`), scatters (`stablehlo_scatters`) and `select_and_scatter` (`stablehlo_selections`) become loops and
   sorts of other dialects.
2. Calls of @ApproxTopK (`stablehlo_top_k`) are sorts.
3. What has no elements is an empty tensor, and a reduction over no elements is what it begins with.
4. Where a `dynamic_update_slice` begins is said in 32 bits: its lowering compares it, in its own type, with the last place there
   is, which integers of 8 or 16 bits may not reach.
5. Barriers go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.stablehlo_scatters import rewrite_scatter
from hotdesk.frontends.mlir.stablehlo_selections import rewrite_selection
from hotdesk.frontends.mlir.stablehlo_sorts import rewrite_sort
from hotdesk.frontends.mlir.stablehlo_top_k import TARGET, rewrite_top_k
from hotdesk.frontends.mlir.stablehlo_writing import is_known, spread, take_away, with_element
from hotdesk.ir.building import create
from hotdesk.ir.functions import named_functions
from hotdesk.ir.types import element_of, is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, nested_ops, text_of

_NARROW = ("i8", "ui8", "i16", "ui16")
"""Integers that 32 bits of a sign have all of."""
_KEEP = {"stablehlo.constant", "stablehlo.custom_call", "stablehlo.while", "stablehlo.if", "stablehlo.case"}
"""Ops that stay though what they make has no elements."""


def write_without(module: ir.Module) -> None:
    """Rewrites them all; a sort or a scatter of another kind stays, and so does one whose sizes are open.

    Raises:
        UnsupportedOpError: a `select_and_scatter`, or a call of @ApproxTopK, is of another kind, or of open sizes.
    """
    functions = named_functions(module)
    for op, rewrite in [(op, _rewrite_of(op, functions)) for op in nested_ops(module.operation)]:
        if rewrite is not None:
            rewrite(op)


def _rewrite_of(op: ir.Operation, functions: Mapping[str, ir.Operation]) -> Callable[[ir.Operation], object] | None:
    if op.name == "stablehlo.custom_call" and text_of(op, "call_target_name") == TARGET:
        return partial(rewrite_top_k, functions=functions)
    if op.name in _REWRITES:
        return _REWRITES[op.name]
    if len(op.results) > 0 and all(map(_is_empty, op.results)):
        return _empty if op.name.startswith("stablehlo.") and op.name not in _KEEP else None
    if op.name == "stablehlo.reduce":
        return _begin if any(map(_is_empty, op.operands)) else _combine if _reduces_nothing(op) else None
    if op.name == "stablehlo.select_and_scatter":
        return rewrite_selection
    return _padding if op.name == "stablehlo.pad" and _is_empty(op.operands[0]) else None


def _begin_in_32_bits(op: ir.Operation) -> None:
    for i, place in list(enumerate(op.operands))[2:]:
        if element_of(place.type) in _NARROW:
            wide = with_element(place.type, "i32")
            op.operands[i] = create("stablehlo.convert", [place], [wide], before=op).results[0]


def _unbarred(op: ir.Operation) -> None:
    take_away(op, list(op.operands))


def _is_empty(value: ir.Value) -> bool:
    return is_tensor(value.type) and 0 in shape_of(value.type)


def _empty(op: ir.Operation) -> None:
    if all(map(is_known, op.results)):
        take_away(op, [create("tensor.empty", [], [each.type], before=op).results[0] for each in op.results])


def _begin(op: ir.Operation) -> None:
    """A reduction over no elements."""
    count = len(op.results)
    take_away(
        op,
        [spread(value, result.type, op) for value, result in zip(list(op.operands)[count:], op.results, strict=True)],
    )


def _reduces_nothing(op: ir.Operation) -> bool:
    """Whether a reduction with one result is over no dimension."""
    return len(op.results) == 1 and shape_of(op.operands[0].type) == shape_of(op.results[0].type)


def _combine(op: ir.Operation) -> None:
    """A reduction over no dimension, by one op of two elements: each element with what the reduction begins with."""
    block = op.regions[0].blocks[0]
    made = defining_op(list(block.operations)[-1].operation.operands[0])
    if made is None or list(made.operands) not in (list(block.arguments), list(block.arguments)[::-1]):
        return
    operands = [spread(op.operands[1], op.results[0].type, op), op.operands[0]]
    take_away(op, [create(made.name, operands, [op.results[0].type], attributes_of(made), before=op).results[0]])


def _padding(op: ir.Operation) -> None:
    take_away(op, [spread(op.operands[1], op.results[0].type, op)])


_REWRITES: Mapping[str, Callable[[ir.Operation], object]] = {
    "stablehlo.dynamic_update_slice": _begin_in_32_bits,
    "stablehlo.optimization_barrier": _unbarred,
    "stablehlo.scatter": rewrite_scatter,
    "stablehlo.sort": rewrite_sort,
}
