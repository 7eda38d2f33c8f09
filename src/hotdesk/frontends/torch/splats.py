"""Tensors of one repeated value, computed by PyTorch before import.

    %a = full([2, 3], 7.0)    %b = remainder(%a, -2)    ->    %b = full([2, 3], -1.0)

Legal iff the result has static sizes and every tensor operand is such a tensor of one value, of `where` the condition and what
it takes; the value is what the op gives on one element. torch-mlir folds these as well, but in places wrongly: `full(7.0) + -2`
as if unsigned, `full(7.0) % -2` as `fmod`, `full(6, bool)` to false, and `full(1) < 1.5` takes the process down. `full(2.0) < 0`
is true or false by what lies in memory. As it finds tensors of one value that are none before, integers that floats are
computed with become floats, which it folds rightly.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx.node import map_arg

aten: Any = torch.ops.aten

_CREATIONS: dict[Any, float | int] = {  # the value, or the place of the argument that has it
    aten.full.default: 1,
    aten.full_like.default: 1,
    aten.new_full.default: 2,
    aten.scalar_tensor.default: 0,
    **dict.fromkeys((aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default), 0.0),
    **dict.fromkeys((aten.ones.default, aten.ones_like.default, aten.new_ones.default), 1.0),
}
_REARRANGEMENTS = {
    aten.alias.default,
    aten.clone.default,
    aten.expand.default,
    aten.permute.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.unsqueeze.default,
    aten.view.default,
}


def fold_splats(graph: torch.fx.Graph) -> None:
    """Replaces every op on tensors of one value by its result; see the module."""
    values: dict[torch.fx.Node, torch.Tensor] = {}
    for node in list(graph.nodes):
        meta = node.meta.get("val")
        if not isinstance(node.target, OpOverload) or not isinstance(meta, torch.Tensor):
            continue
        _give_a_float(node)
        value = _value(node, meta, values)
        if value is None or value.dtype != meta.dtype:
            continue
        if node.target in _CREATIONS:
            _spell_out(node, value)
        else:
            if not all(isinstance(size, int) for size in meta.shape):
                continue
            node = _replaced(graph, node, value)
        values[node] = value


def _value(node: torch.fx.Node, meta: torch.Tensor, values: dict[torch.fx.Node, torch.Tensor]) -> torch.Tensor | None:
    """The value in a tensor of as many dimensions as `node` has, each of size 1; None if there is none."""
    ones = [1] * meta.dim()
    if node.target in _CREATIONS:
        given = _CREATIONS[node.target]
        fill = given if isinstance(given, float) else node.args[given]
        return torch.full(ones, fill, dtype=meta.dtype) if isinstance(fill, bool | int | float) else None
    operands = node.all_input_nodes
    if node.target is aten.where.self and node.args[0] in values:
        taken = node.args[1 if values[node.args[0]].item() else 2]
        return values[taken].reshape(ones).to(meta.dtype) if taken in values else None
    if not operands or any(operand not in values for operand in operands):
        return None
    if node.target in _REARRANGEMENTS:
        return values[operands[0]].reshape(ones)
    target: Any = node.target
    if torch.Tag.pointwise not in target.tags and target is not aten._to_copy.default:
        return None
    args, kwargs = map_arg((node.args, node.kwargs), lambda operand: values[operand])
    return target(*args, **kwargs)


def _give_a_float(node: torch.fx.Node) -> None:
    """Gives an op on a tensor of floats and an integer, `x < 0`, the float that PyTorch makes of it: `x < 0.0`."""
    target: Any = node.target
    given = target._schema.arguments
    if len(node.args) < 2 or given[1].name != "other" or type(node.args[1]) is not int or abs(node.args[1]) > 2**53:
        return
    tensor = node.args[0].meta.get("val") if isinstance(node.args[0], torch.fx.Node) else None
    if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
        node.update_arg(1, float(node.args[1]))


def _spell_out(node: torch.fx.Node, value: torch.Tensor) -> None:
    """Gives a creation the value that its type makes of the number: 1 for a 6 in a tensor of bools."""
    given = _CREATIONS[node.target]
    if isinstance(given, int):
        node.update_arg(given, value.item())


def _replaced(graph: torch.fx.Graph, node: torch.fx.Node, value: torch.Tensor) -> torch.fx.Node:
    with graph.inserting_before(node):
        sizes = [int(size) for size in node.meta["val"].shape]
        options = {"dtype": value.dtype, "device": torch.device("cpu"), "pin_memory": False}
        new = graph.call_function(aten.full.default, (sizes, value.item()), options)
    new.meta.update(node.meta)
    node.replace_all_uses_with(new)
    graph.erase_node(node)
    return new
