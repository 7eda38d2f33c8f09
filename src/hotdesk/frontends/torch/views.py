"""Views whose sizes vary, spelled out as merging and splitting of neighbouring dims.

    %y = view(%x, [a * b, 32])      of [a, b, 32]     ->    %y = flatten(%x, 0, 1)
    %y = view(%x, [a, b, 4, 8])     of [a * b, 32]    ->    %y = unflatten(unflatten(%x, 1, [4, 8]), 0, [a, b])

torch-mlir guesses which dims of a `view` belong together and guesses wrong when several vary: it casts `b` above to 1. Here
they are found by their number of elements, as expressions. Views with static sizes before and after are left alone.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false, reportOptionalSubscript=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch

from hotdesk.sizes.reshaping import matching

aten: Any = torch.ops.aten


def spell_out_views(graph: torch.fx.Graph) -> None:
    """Replaces every view from or to sizes that vary; see the module."""
    for node in list(graph.nodes):
        if node.target in (aten.view.default, aten._unsafe_view.default, aten.reshape.default):
            source = node.args[0]
            before, after = source.meta["val"].shape, node.meta["val"].shape
            if len(before) and len(after) and not all(isinstance(size, int) for size in (*before, *after)):
                _replace(graph, node, source, before, after)


def _replace(
    graph: torch.fx.Graph, node: torch.fx.Node, source: torch.fx.Node, before: Sequence[Any], after: Sequence[Any]
) -> None:
    groups = matching(_expressions(before), _expressions(after))
    given = node.args[1]
    sizes = list(before)
    with graph.inserting_before(node):
        for merged, split in reversed(groups):  # from the back: the places before stay
            if len(merged) > 1:
                sizes[merged[0] : merged[-1] + 1] = [_product(after[i] for i in split)]
                source = _call(graph, node, aten.flatten.using_ints, (source, merged[0], merged[-1]), sizes)
        for place, (_, split) in reversed(list(enumerate(groups))):
            if len(split) > 1:
                parts = _parts(graph, node, source, place, [given[i] for i in split], [after[i] for i in split])
                sizes[place : place + 1] = [after[i] for i in split]
                source = _call(graph, node, aten.unflatten.int, (source, place, parts), sizes)
    node.replace_all_uses_with(source)
    graph.erase_node(node)


def _parts(
    graph: torch.fx.Graph, node: torch.fx.Node, source: torch.fx.Node, place: int, given: list[Any], sizes: list[Any]
) -> list[Any]:
    """The sizes that a dim is split in, without one that is told as -1: torch-mlir takes that for a size."""
    found = [size if isinstance(size, int) else told for told, size in zip(given, sizes, strict=True)]
    if not any(isinstance(each, int) and each == -1 for each in found):
        return found
    open_place = found.index(-1)

    def number(target: Any, args: tuple[Any, ...], value: Any) -> Any:
        new = graph.call_function(target, args)
        new.meta.update({key: held for key, held in node.meta.items() if key != "tensor_meta"}, val=value)
        return new

    whole: Any = source.meta["val"].shape[place]
    if not isinstance(whole, int):
        whole = number(aten.sym_size.int, (source, place), whole)
    others: Any = 1
    total: Any = 1
    for position, (part, size) in enumerate(zip(found, sizes, strict=True)):
        if position != open_place:
            total = total * size
            is_first = isinstance(others, int) and others == 1
            others = part if is_first else number(operator.mul, (others, part), total)
    found[open_place] = number(operator.floordiv, (whole, others), sizes[open_place])
    return found


def _call(
    graph: torch.fx.Graph, node: torch.fx.Node, target: Any, args: tuple[Any, ...], sizes: list[Any]
) -> torch.fx.Node:
    new = graph.call_function(target, args)
    new.meta.update(node.meta)
    new.meta.pop("tensor_meta", None)
    new.meta["val"] = node.meta["val"].new_empty(sizes)
    return new


def _expressions(sizes: Sequence[Any]) -> list[Any]:
    return [size if isinstance(size, int) else size.node.expr for size in sizes]


def _product(sizes: Any) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total
