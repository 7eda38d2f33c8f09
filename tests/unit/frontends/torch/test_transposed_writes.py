"""Writes into transposed tensors go into the tensors themselves, and graphs compute what they did before."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import hotdesk
from hotdesk.frontends.torch.decompositions.table import decomposition_table
from hotdesk.frontends.torch.transposed_writes import untranspose_writes

aten: Any = torch.ops.aten
AT = torch.tensor([2, 0])


def _row(b: Tensor, x: Tensor) -> None:
    b.mT[0, 1] = x[0, :3, 0]


def _scaled_rows(b: Tensor, x: Tensor) -> Tensor:
    rows = b.permute(2, 0, 1)[1:3]
    rows.mul_(x[0, 0, :3])
    return rows.sum()


def _twice(b: Tensor, x: Tensor) -> Tensor:
    turned = b.transpose(0, 1)
    turned[1:2] = 3
    turned[:, 0].add_(x[0, 0, 0])
    return turned[2] * x[1, 2]


def _at_places(b: Tensor, x: Tensor) -> None:
    b.permute(2, 0, 1)[AT] = x[:, :3].permute(2, 0, 1)[:2, :2, :3].reshape(2, 2, 3)


def _at_pairs(b: Tensor, x: Tensor) -> None:
    b.permute(1, 0, 2)[AT, torch.tensor([1, 1])] += x[0, 0, :4]


def _at_inner_places(b: Tensor, x: Tensor) -> None:
    b.permute(2, 1, 0)[:, AT] += x[0, 0, :2]


def _at_places_apart(b: Tensor, x: Tensor) -> None:
    b.permute(0, 2, 1)[torch.tensor([[0], [1]]), :, AT] = x[0, 0]


@pytest.mark.parametrize(
    "function", [_row, _scaled_rows, _twice, _at_places, _at_pairs, _at_inner_places, _at_places_apart]
)
def test_graphs_compute_what_they_did_before(function: Callable[[Tensor, Tensor], Any]) -> None:
    class Model(nn.Module):
        def forward(self, b: Tensor, x: Tensor) -> Any:
            return function(b, x)

    given = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    program = torch.export.export(Model(), given).run_decompositions(decomposition_table())
    wanted = torch.fx.Interpreter(program.graph_module).run(*program.constants.values(), *given)
    untranspose_writes(program.graph)
    program.graph.lint()
    made = program.graph.output_node().args[0][0]
    assert made.target in (aten.slice_scatter.default, aten.index_put.default)
    placeholders = program.graph.find_nodes(op="placeholder")
    assert made.args[0] in placeholders or made.args[0].args[0] in placeholders
    found = torch.fx.Interpreter(torch.fx.GraphModule({}, program.graph)).run(*program.constants.values(), *given)
    torch.testing.assert_close(found, wanted)
    for node in program.graph.nodes:
        if node.op == "call_function" and isinstance(node.meta["val"], Tensor):
            shapes = [each.meta["val"] for each in node.all_input_nodes]
            assert all(isinstance(each, Tensor) for each in shapes)


def test_what_stays_transposed_is_written_there() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.slice_scatter(x.t(), torch.zeros(1, 2), 0, 1, 2)

    program = torch.export.export(Model(), (torch.randn(2, 3),)).run_decompositions(decomposition_table())
    before = str(program.graph)
    untranspose_writes(program.graph)
    assert str(program.graph) == before


def test_places_that_are_counted_stay() -> None:
    """Stores at them are compiled in the form that they have."""

    def zeroed(x: Tensor) -> Tensor:
        made = x.clone()
        made[:, (x[0] > 0).nonzero().flatten()] = 0
        return made

    x = torch.tensor([[1.0, -1, 2], [3, 4, 5]])
    assert torch.equal(hotdesk.compile(zeroed, (x,))(x), zeroed(x))
