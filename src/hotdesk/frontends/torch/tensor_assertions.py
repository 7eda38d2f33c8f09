"""Assertions on tensors: each becomes a result of its graph, and then a check that every call makes (`cutting.joined`).

_assert_async(c, "no row")     ->     return …, c     ->     %t = tensor.extract %c[]; cf.assert %t; return …
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.lines import node_line


@dataclass(frozen=True, slots=True)
class TensorAssertion:
    """Of which op, what it says, and the user's line."""

    op: str
    message: str
    line: str

    @property
    def told(self) -> str:
        """How users are told what is expected."""
        return f'a condition that holds ("{self.message}")'


def _require_one_element(node: torch.fx.Node, condition: Any) -> None:
    """PyTorch's kernel alone asks for it."""
    count = condition.numel()
    if not statically_known_true(count == 1):
        raise UnsupportedOpError(
            "an assertion on a tensor",
            expected="a condition of one element",
            got=f"one of {count} elements" if isinstance(count, int) else "one of a size that varies",
            where=node_line(node),
            hint="Write `condition.all()`.",
        )


def assertions_returned(graph: torch.fx.Graph) -> list[TensorAssertion]:
    """Makes of each assertion on a tensor a last result, a truth. Raises UnsupportedOpError if one is not of one element."""
    aten: Any = torch.ops.aten
    output = next(node for node in graph.nodes if node.op == "output")
    found: list[TensorAssertion] = []
    for node in graph.find_nodes(op="call_function", target=aten._assert_async.msg):
        condition, message = node.args
        op = node.meta.get("original_aten", node.target)
        _require_one_element(node, condition.meta["val"])
        found.append(TensorAssertion(f"aten.{op.overloadpacket.__name__}", message, node_line(node)))
        with graph.inserting_before(node):
            truth = graph.call_function(aten.ne.Scalar, (condition, 0))
            truth.meta["val"] = condition.meta["val"] != 0
            one = graph.call_function(aten.reshape.default, (truth, []))
            one.meta["val"] = truth.meta["val"].reshape([])
        output.args = ((*output.args[0], one),)
        graph.erase_node(node)
    return found
