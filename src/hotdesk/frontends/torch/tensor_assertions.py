"""Assertions on tensors, as graphs that Dynamo traced have them: each becomes a result, and then a check that every call makes.

_assert_async(c, "no row")     ->     return …, c     ->     %t = tensor.extract %c[]; cf.assert %t; return …
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import torch

from hotdesk._bindings import ir
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.size_values import location_of
from hotdesk.ir.building import create
from hotdesk.ir.functions import keep_results, returns_of
from hotdesk.ir.locations import CHECKED_OP
from hotdesk.ir.walking import defining_op, main_function


@dataclass(frozen=True, slots=True)
class TensorAssertion:
    """Of which op, what it says, and the user's line."""

    op: str
    message: str
    line: str


def assertions_returned(graph: torch.fx.Graph) -> list[TensorAssertion]:
    """Makes of each assertion on a tensor a last result, which `with_checks` takes off again."""
    aten: Any = torch.ops.aten
    output = next(node for node in graph.nodes if node.op == "output")
    found: list[TensorAssertion] = []
    for node in graph.find_nodes(op="call_function", target=aten._assert_async.msg):
        condition, message = node.args
        op = node.meta.get("original_aten", node.target)
        found.append(TensorAssertion(f"aten.{op.overloadpacket.__name__}", message, node_line(node)))
        with graph.inserting_before(node):
            truth = graph.call_function(aten.ne.Scalar, (condition, 0))
            truth.meta["val"] = condition.meta["val"] != 0
            one = graph.call_function(aten.reshape.default, (truth, []))
            one.meta["val"] = truth.meta["val"].reshape([])
        output.args = ((*output.args[0], one),)
        graph.erase_node(node)
    return found


def with_checks(module: ir.Module, asserted: Sequence[TensorAssertion]) -> ir.Module:
    """Takes the last results off `@main`, truths, and checks each as soon as it is known."""
    if not asserted:
        return module
    with module.context:
        function = main_function(module)
        (end,) = returns_of(function)
        first = len(end.operands) - len(asserted)
        ops = [op.operation for op in function.regions[0].blocks[0].operations]
        behind = dict(pairwise(ops))
        for each, value in zip(asserted, list(end.operands)[first:], strict=True):
            op = defining_op(value)
            place = end if op is None else behind[op]
            truth = create("tensor.extract", [value], [ir.IntegerType.get_signless(1)], before=place).results[0]
            told = {
                "msg": ir.StringAttr.get(f'a condition that holds ("{each.message}")'),
                CHECKED_OP: ir.StringAttr.get(each.op),
            }
            made = create("cf.assert", [truth], [], told, before=place)
            cast(Any, made).location = location_of(each.line, place)
        keep_results(function, range(first))
    return module
