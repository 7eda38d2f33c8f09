"""Tensors without elements, settled before import: torch-mlir's passes divide by their sizes.

    %b = view(%a, [0])        of a tensor without elements    ->    %b = full([0], 0)
    %b = sum(%a)              of a tensor without elements    ->    %b = full([], 0.0)      what PyTorch gives
    %c = cat([%a, %b])        where %a has no elements        ->    %c = cat([%b])
    %c = scatter(%x, 0, %a, %b)  where %a has no elements     ->    %x

1. A result without elements, of static sizes, is made anew, whatever it would have been computed from.
2. A result that reads nothing but tensors without elements is what PyTorch makes of them, if that is one repeated value.
3. Joining leaves out what has no elements.
4. An op that changes a tensor where indices say changes nothing where there are none.

What reads tensors without elements beside others, in another way, is left to torch-mlir.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

aten: Any = torch.ops.aten

_CHANGES: dict[Any, int] = {  # where the argument is without which nothing changes
    aten.index_add.default: 2,
    aten.index_copy.default: 2,
    aten.index_fill.int_Scalar: 2,
    aten.index_fill.int_Tensor: 2,
    aten.index_put.default: 1,
    aten._unsafe_index_put.default: 1,
    aten.index_reduce.default: 2,
    aten.scatter.src: 2,
    aten.scatter.value: 2,
    aten.scatter.reduce: 2,
    aten.scatter.value_reduce: 2,
    aten.scatter_add.default: 2,
    aten.scatter_reduce.two: 2,
    aten.slice_scatter.default: 1,
}


def settle_empties(graph: torch.fx.Graph) -> None:
    """Replaces what results in tensors without elements, or reads nothing else; see the module."""
    for node in list(graph.nodes):
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or not _is_computed(node):
            continue
        new = _settled(graph, node, value)
        if new is not None:
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _is_computed(node: torch.fx.Node) -> bool:
    """Whether a node is an op with one result, or one result of an op with several."""
    made = node.all_input_nodes[0] if node.target is operator.getitem else node
    return isinstance(made.target, OpOverload) and node.target is not aten.full.default


def _settled(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.Tensor) -> torch.fx.Node | None:
    if not _is_static(value):
        return None
    if value.numel() == 0:
        return _full(graph, node, value, 0)
    if node.target is operator.getitem:
        return None
    operands = [each for each in node.all_input_nodes if isinstance(each.meta.get("val"), torch.Tensor)]
    empty = [each for each in operands if _is_empty(each)]
    if not empty:
        return None
    if len(empty) == len(operands):
        return _constant(graph, node, value)
    if node.target is aten.cat.default:
        joined: Any = node.args[0]
        kept = [each for each in joined if not _is_empty(each)]
        dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
        with graph.inserting_before(node):
            new = graph.call_function(aten.cat.default, (kept, dim))
        new.meta.update(node.meta)
        return new
    deciding = _CHANGES.get(node.target)
    if deciding is None or not any(_is_empty(each) for each in pytree.tree_leaves(node.args[deciding])):
        return None
    changed = node.args[0]
    return changed if isinstance(changed, torch.fx.Node) and changed.meta["val"].shape == value.shape else None


def _is_static(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and all(isinstance(size, int) for size in value.shape)


def _is_empty(node: Any) -> bool:
    value: Any = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    return _is_static(value) and value.numel() == 0


def _constant(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.Tensor) -> torch.fx.Node | None:
    """What PyTorch gives for tensors without elements, if it is one repeated value."""
    given = map_arg((node.args, node.kwargs), lambda each: _alike(each.meta.get("val")))
    with torch.no_grad():
        result = node.target(*given[0], **given[1])
    first = result.flatten()[:1]
    if not torch.equal(torch.nan_to_num(result), torch.nan_to_num(first).expand(result.numel()).reshape(result.shape)):
        return None
    if result.dtype.is_floating_point and bool(torch.isnan(result).any()) != bool(torch.isnan(result).all()):
        return None
    return _full(graph, node, value, first.item())


def _alike(value: Any) -> Any:
    return torch.zeros(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def _full(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.Tensor, fill: Any) -> torch.fx.Node:
    with graph.inserting_before(node):
        options = {"dtype": value.dtype, "device": torch.device("cpu"), "pin_memory": False}
        new = graph.call_function(aten.full.default, ([int(size) for size in value.shape], fill), options)
    new.meta.update(node.meta)
    return new
