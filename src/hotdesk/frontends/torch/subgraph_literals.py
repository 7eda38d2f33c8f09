"""Tensors that subgraphs of Dynamo's graphs make of numbers, as `torch.tensor(2.0)` does in a branch, are made in front of it.

    cond(p, f, g, (x,)), where f calls tensor(2.0)    ->    cond(p, f, g, (x, tensor(2.0))), where f clones its argument

AOTAutograd keeps such a tensor with the subgraph that it traces, and does not find it there when it traces that again.

1. What a subgraph of a subgraph makes goes through both.
2. All subgraphs of an op take the same arguments: a branch gets those of the other one too.
3. A subgraph clones what it is given: it may write over it, or return it.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, cast

import torch
from torch._ops import HigherOrderOperator

from hotdesk.frontends.torch.control_flow import subgraphs
from hotdesk.frontends.torch.subgraph_constants import argument_like, first_op

_OPS = ("cond", "while_loop", "scan", "map_impl", "associative_scan")
"""Those whose last argument is what all their subgraphs take behind the rest."""


def make_literals_outside(owner: torch.fx.GraphModule) -> None:
    """Changes `owner` and the subgraphs of its control flow."""
    for node in [each for each in owner.graph.nodes if _takes_operands(each)]:
        inner = list(dict.fromkeys(subgraphs(node)))
        for subgraph in inner:
            make_literals_outside(subgraph)
        for subgraph in inner:
            for made in [each for each in subgraph.graph.nodes if _is_literal(each)]:
                arguments = [argument_like(first_op(each.graph), made) for each in inner]
                *others, operands = node.args
                node.args = (*others, (*cast("tuple[Any, ...]", operands), _outside(node, made)))
                _read_instead(made, arguments[inner.index(subgraph)])
        for subgraph in inner:
            subgraph.recompile()
    owner.recompile()


def _takes_operands(node: torch.fx.Node) -> bool:
    return isinstance(node.target, HigherOrderOperator) and node.target.name() in _OPS


def _is_literal(node: torch.fx.Node) -> bool:
    """Whether a node makes a tensor of numbers alone."""
    return node.target is torch.tensor and not node.all_input_nodes and not node.kwargs.get("requires_grad")


def _outside(before: torch.fx.Node, made: torch.fx.Node) -> torch.fx.Node:
    with before.graph.inserting_before(before):
        copied = before.graph.call_function(torch.tensor, made.args, made.kwargs)
    copied.meta.update(made.meta)
    return copied


def _read_instead(made: torch.fx.Node, argument: torch.fx.Node) -> None:
    with made.graph.inserting_before(made):
        clone = made.graph.call_function(torch.clone, (argument,))
    clone.meta.update(made.meta)
    made.replace_all_uses_with(clone)
    made.graph.erase_node(made)
