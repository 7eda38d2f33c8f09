"""What the front end changes in a graph before it is imported."""

# Lambdas are not annotated here, and PyTorch in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from hotdesk.frontends.torch.splats import fold_splats
from hotdesk.frontends.torch.views import spell_out_views


def _exported(function: Callable[..., Any], *args: torch.Tensor, dynamic: Any = None) -> torch.export.ExportedProgram:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return function(x)

    return torch.export.export(Model(), args, dynamic_shapes=dynamic).run_decompositions()


def _targets(exported: torch.export.ExportedProgram) -> list[str]:
    return [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (lambda x: torch.full((2, 3), 7.0) + (-2), 5.0),
        (lambda x: torch.full((2, 3), 7.0) % -2, -1.0),
        (lambda x: torch.full((2, 3), 2.0) < 0, False),
        (lambda x: torch.full((2, 3), 1) < 1.5, True),
        (lambda x: torch.ones(2, 1, dtype=torch.bool).expand(2, 3) & True, True),
        (lambda x: torch.where(torch.ones(2, 3) > 0, 0, x) < -4, False),
        (lambda x: torch.where(torch.ones(2, 3) < 0, x, 2.0), 2.0),
        (lambda x: (torch.zeros(3, 2) - 1).exp().t().unsqueeze(0).squeeze(0).to(torch.float64), 0.36787945),
    ],
)
def test_splats_are_computed(made: Callable[..., torch.Tensor], value: float) -> None:
    exported = _exported(lambda x: (made(x), x), torch.zeros(3))
    fold_splats(exported.graph)
    returned: Any = exported.graph.output_node().args[0]
    node = returned[0]
    assert node.target is torch.ops.aten.full.default
    assert list(node.args[0]) == [2, 3]
    assert node.args[1] == pytest.approx(value)
    assert node.kwargs["dtype"] == made(torch.zeros(3)).dtype


def test_splats_of_sizes_that_vary_stay() -> None:
    exported = _exported(lambda x: torch.ones_like(x) + 1, torch.zeros(3), dynamic={"x": {0: Dim("n")}})
    before = _targets(exported)
    fold_splats(exported.graph)
    assert _targets(exported) == before


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int64])
def test_floats_are_computed_with_floats(dtype: torch.dtype) -> None:
    """torch-mlir folds `x < -4` by what lies in memory, where it finds that all of `x` is one value."""
    x = torch.arange(-6, 6).to(dtype)

    def computed(x: torch.Tensor) -> list[torch.Tensor]:
        return [x < -4, x >= 3, x == 0, x + (-2), x - 3, x * 2, x.remainder(3), x.fmod(3), torch.where(x > 0, x, 7)]

    exported = _exported(computed, x)
    fold_splats(exported.graph)
    numbers = [node.args[1] for node in exported.graph.nodes if str(node.target).endswith((".Scalar", ".Tensor"))]
    assert {type(each) for each in numbers} == {float if dtype.is_floating_point else int}
    for made, expected in zip(exported.module()(x), computed(x), strict=True):
        assert torch.equal(made, expected)
        assert made.dtype == expected.dtype


def test_what_depends_on_an_argument_stays() -> None:
    exported = _exported(lambda x: x + torch.ones(3), torch.zeros(3))
    before = _targets(exported)
    fold_splats(exported.graph)
    assert _targets(exported) == before


def test_views_of_static_sizes_stay() -> None:
    exported = _exported(lambda x: x.view(6), torch.zeros(2, 3))
    spell_out_views(exported.graph)
    assert _targets(exported) == ["aten.view.default"]


@pytest.mark.parametrize(
    ("view", "targets"),
    [
        (lambda x: x.view(-1, 12), ["aten.flatten.using_ints"]),
        (lambda x: x.view(x.shape[0], x.shape[1], 3, 4), ["aten.unflatten.int"]),
        (lambda x: x.view(x.shape[0] * x.shape[1] * 3, 4), ["aten.flatten.using_ints", "aten.unflatten.int"]),
    ],
)
def test_views_of_sizes_that_vary(view: Callable[..., torch.Tensor], targets: list[str]) -> None:
    dynamic = {"x": {0: Dim("a"), 1: Dim("b")}}
    exported = _exported(view, torch.randn(2, 5, 12), dynamic=dynamic)
    spell_out_views(exported.graph)
    exported.graph.lint()
    assert [target for target in _targets(exported) if "view" in target or "flatten" in target] == targets
    for shape in ((2, 5, 12), (3, 7, 12)):
        x = torch.randn(shape)
        torch.testing.assert_close(exported.module()(x), view(x))
