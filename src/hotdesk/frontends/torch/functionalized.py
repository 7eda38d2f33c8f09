"""Repairs of exported graphs before torch.export makes them functional, of two ops whose changes it drops.

* `copy_` is given what has the type and the sizes of its target: else that is taken for the new contents as it is, a float64 for
  those of a float32, one row for all rows;
* dropout that drops nothing gives its argument itself, which an op in place behind it changes: else there are two tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch._ops import OpOverload

from hotdesk.frontends.torch.lines import place_like

aten: Any = torch.ops.aten
_DROPOUTS = (
    aten.dropout.default,
    aten.alpha_dropout.default,
    aten.feature_dropout.default,
    aten.feature_alpha_dropout.default,
)


def prepare(graphs: Iterable[torch.fx.Graph]) -> None:
    """Makes graphs that are not functional yet what they say."""
    for graph in graphs:
        _complete_copies(graph)
        _pass_through_dropouts(graph)


def is_mutable(node: torch.fx.Node) -> bool:
    """Whether a node is an op that changes arguments."""
    target: Any = node.target
    return isinstance(target, OpOverload) and bool(cast(Any, target)._schema.is_mutable)


def _complete_copies(graph: torch.fx.Graph) -> None:
    for copy in graph.find_nodes(op="call_function", target=aten.copy_.default):
        target, source, *_ = copy.args
        into, given = target.meta["val"], source.meta["val"]
        if given.dtype != into.dtype:
            source = _before(copy, aten._to_copy.default, source, dtype=into.dtype)
        if given.shape != into.shape:
            source = _before(copy, aten.expand_as.default, source, target)
        copy.update_arg(1, source)


def _pass_through_dropouts(graph: torch.fx.Graph) -> None:
    if not any(map(is_mutable, graph.nodes)):
        return
    for target in _DROPOUTS:
        for node in graph.find_nodes(op="call_function", target=target):
            given, _, drops = node.args
            if not drops:
                node.target, node.args = aten.alias.default, (given,)


def _before(node: torch.fx.Node, target: Any, *args: torch.fx.Node, **kwargs: Any) -> torch.fx.Node:
    with node.graph.inserting_before(node):
        made = node.graph.call_function(target, args, kwargs)
    place_like(made, node)
    with node.meta["val"].fake_mode:
        made.meta["val"] = target(*(each.meta["val"] for each in args), **kwargs)
    return made
