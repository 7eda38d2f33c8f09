"""Updates move to where the old value and the gradient are read for the last time."""

from __future__ import annotations

import torch
from torch.fx import Graph

from hotdesk.frontends.torch.training import update_early

aten = torch.ops.aten


def test_updates_follow_the_last_reader() -> None:
    """Two parameters and a rate; the first parameter is still read, through a view, after its gradient is known."""
    graph = Graph()
    p, q, rate, x = (graph.placeholder(name) for name in ("p", "q", "rate", "x"))

    def call(target: object, *args: object, name: str) -> torch.fx.Node:
        node = graph.call_function(target, args)  # pyright: ignore[reportArgumentType]
        node.name = name
        return node

    view = call(aten.t.default, p, name="view")
    loss = call(aten.mm.default, x, q, name="loss")
    of_p = call(aten.mm.default, loss, x, name="of_p")
    late = call(aten.mm.default, of_p, view, name="late")
    of_q = call(aten.mm.default, late, x, name="of_q")
    speed = call(aten.neg.default, rate, name="speed")
    for parameter, gradient, name in ((p, of_p, "p"), (q, of_q, "q")):
        scaled = call(aten.mul.Tensor, gradient, speed, name=f"scaled_{name}")
        call(aten.add_.Tensor, parameter, scaled, name=f"update_{name}")
    graph.output([loss, of_p, of_q])
    update_early(graph, held=2)
    names = [node.name for node in graph.nodes if node.op == "call_function"]
    assert names == ["speed", "view", "loss", "of_p", "late", "scaled_p", "update_p", "of_q", "scaled_q", "update_q"]
    assert [node.name for node in graph.output_node().all_input_nodes] == ["loss"]
