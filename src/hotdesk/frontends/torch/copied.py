"""`copy_` of what has the type and the sizes of its target, as the functionalization of torch.export needs it.

That takes what is copied for the new contents as it is: a float64 for those of a float32, one row for all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from hotdesk.frontends.torch.lines import place_like

aten: Any = torch.ops.aten


def complete_copies(graphs: Iterable[torch.fx.Graph]) -> None:
    """Converts and spreads what `copy_` copies, in front of it, in graphs that are not functional yet."""
    for graph in graphs:
        for copy in graph.find_nodes(op="call_function", target=aten.copy_.default):
            target, source, *_ = copy.args
            into, given = target.meta["val"], source.meta["val"]
            if given.dtype != into.dtype:
                source = _before(copy, aten._to_copy.default, source, dtype=into.dtype)
            if given.shape != into.shape:
                source = _before(copy, aten.expand_as.default, source, target)
            copy.update_arg(1, source)


def _before(node: torch.fx.Node, target: Any, *args: torch.fx.Node, **kwargs: Any) -> torch.fx.Node:
    with node.graph.inserting_before(node):
        made = node.graph.call_function(target, args, kwargs)
    place_like(made, node)
    with node.meta["val"].fake_mode:
        made.meta["val"] = target(*(each.meta["val"] for each in args), **kwargs)
    return made
