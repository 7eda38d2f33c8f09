"""Inputs that a forward graph changes in place and the backward graph reads: what they were before is copied and saved.

    copy_(%x, %y); return %y, %x    ->    %before = clone(%x); copy_(%x, %y); return %y, %before

AOTAutograd saves such an input itself, which holds the new values by the time that the backward graph reads it. Views of one
are saved as views of its copy. An input is left alone if nothing of it is saved.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, cast

import torch
from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput
from torch._ops import OpOverload

aten: Any = torch.ops.aten


def save_what_inputs_were(forward: torch.fx.GraphModule, results: int) -> None:
    """Changes a forward graph of AOTAutograd's, of which `results` results come before those that are saved."""
    graph = forward.graph
    (output,) = graph.find_nodes(op="output")
    returned = list(cast("list[Any]", output.args[0]))
    changed = _changed(graph, output)
    for place in range(results, len(returned)):
        views = _views(returned[place])
        if views and views[-1] in changed:
            returned[place] = _of_a_copy(views)
    output.args = (tuple(returned),)
    forward.recompile()


def _changed(graph: torch.fx.Graph, output: torch.fx.Node) -> set[torch.fx.Node]:
    """The inputs that are changed: within the graph, or by AOTAutograd, to one of its results."""
    written = {each.args[0] for each in graph.find_nodes(op="call_function", target=aten.copy_.default)}
    told = output.meta.get("desc") or ()
    later = {each.mutated_input for each in told if isinstance(each, InputMutationAOTOutput)}
    return {each for each in graph.find_nodes(op="placeholder") if each in written or each.meta.get("desc") in later}


def _views(node: Any) -> list[torch.fx.Node]:
    """A tensor, what it is a view of, what that is a view of, and so on."""
    found: list[torch.fx.Node] = []
    while isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor):
        found.append(node)
        if not (isinstance(node.target, OpOverload) and node.target.is_view):
            break
        node = node.args[0]
    return found


def _of_a_copy(views: list[torch.fx.Node]) -> torch.fx.Node:
    """The first of `views`, made of a copy of the last that nothing else is a view of: it may be donated."""
    *steps, source = views
    first_op = next(each for each in source.graph.nodes if each.op != "placeholder")
    with source.graph.inserting_before(first_op):
        made = _like(source.graph.call_function(aten.clone.default, (source,)), source)
    for step in reversed(steps):
        with source.graph.inserting_after(step):
            new = source.graph.call_function(cast(Any, step.target), (made, *step.args[1:]), step.kwargs)
        made = _like(new, step)
    return made


def _like(node: torch.fx.Node, other: torch.fx.Node) -> torch.fx.Node:
    """`node`, described as `other` is, but in memory of its own."""
    node.meta.update({key: held for key, held in other.meta.items() if key != "tensor_meta"})
    value = other.meta["val"]
    with value.fake_mode:
        node.meta["val"] = value.clone()
    return node
