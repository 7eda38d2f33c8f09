"""`torch.compile(model, backend="hotdesk")`: strides of results, and views among them, most of them at open sizes."""

# pyright: basic

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import hotdesk
from tests.e2e.test_dynamo import assert_same

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def test_layouts_are_kept_at_open_sizes() -> None:
    """Also of arguments, which are read as they lie, and of results with gaps: views of others are made of them."""

    def several(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = nn.functional.pad(x, (1, 1, 1, 1)).relu()
        return y, y[:, :, : y.shape[2] // 2], y.transpose(1, 3), x[:, 1:], x + 1

    compiled = torch.compile(several, backend="hotdesk", dynamic=True, options={"fallback": False})
    for height in (8, 10):
        x = torch.randn(2, 3, height, 9).to(memory_format=torch.channels_last)
        found = compiled(x)
        assert_same(found, several(x))
        assert found[1].untyped_storage().data_ptr() == found[0].untyped_storage().data_ptr()
        assert found[3].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert len(hotdesk.dynamo_report().graphs) == 1


VIEWS: dict[str, Callable[[torch.Tensor], Any]] = {
    "argument": lambda x: x[:, x.shape[1] // 2 :],
    "result": lambda x: (lambda y: (y, y[:, x.shape[1] // 2 :]))(x * 2),
    "several": lambda x: (lambda y: (y[:, x.shape[1] // 2 :], *y.split(x.shape[1] // 2, 1), y))(x * 2),
    "chain": lambda x: (
        lambda y: (y, y.flatten()[x.shape[0] :].view(-1, 1), y.unsqueeze(0).expand(x.shape[0], -1, -1))
    )(x * 2),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("gradients", [False, True])
def test_views_by_sizes_that_vary(name: str, gradients: bool) -> None:
    """AOTAutograd makes them again by the strides and the offset of what the graph returned."""
    compiled = torch.compile(VIEWS[name], backend="hotdesk", dynamic=True, options={"fallback": False})
    for columns, begin in ((6, 0), (8, 5)):
        given = [torch.arange(40.0)[begin : begin + 4 * columns].view(4, columns).detach() for _ in range(2)]
        with torch.set_grad_enabled(gradients):
            found, expected = (
                f(x.requires_grad_(gradients)) for f, x in zip((compiled, VIEWS[name]), given, strict=True)
            )
        for a, b in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
            assert torch.equal(a, b)
            assert a.stride() == b.stride()
        if gradients:
            for results in (found, expected):
                torch.stack([each.square().sum() for each in pytree.tree_leaves(results)]).sum().backward()
            torch.testing.assert_close(given[0].grad, given[1].grad, atol=0, rtol=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2)[:, x.shape[1] // 2 :],
        lambda x: ((x * 2)[:, x.shape[1] % 3 :], (x * 3)[:, max(1, x.shape[1] - 4) : min(x.shape[1], 7)]),
    ],
)
def test_gradients_of_views_by_numbers_that_follow_from_sizes(function: Callable[[torch.Tensor], Any]) -> None:
    """The forward graph hands such a number to the backward graph, whose other arguments may not tell the size."""
    compiled = torch.compile(function, backend="hotdesk", dynamic=True, options={"fallback": False})
    for columns in (6, 9, 8):
        x, like = (torch.arange(4.0 * columns).view(4, columns).requires_grad_() for _ in range(2))
        for f, given in ((compiled, x), (function, like)):
            torch.stack([each.square().sum() for each in pytree.tree_leaves(f(given))]).sum().backward()
        torch.testing.assert_close(x.grad, like.grad, atol=0, rtol=0)


COMPUTED: dict[str, Callable[[torch.Tensor], Any]] = {
    "columns": lambda x: x.sin()[:, 1:],
    "steps": lambda x: (x * 2)[:, ::2],
    "broadcast": lambda x: x.sum(0, keepdim=True).expand(x.shape[0], -1),
    "diagonal": lambda x: (x @ x.t()).diagonal(),
    "part of two": lambda x: (x * 2).split(x.shape[1] - 2, 1)[0],
    "rows of a transpose": lambda x: x.sin().t()[1:],
    "two of one": lambda x: (lambda y: (y[:, ::2], y[:, 1:]))(x * 2),
    "its strides": lambda x: (lambda y: (y, torch.tensor(y.stride())))((x * 2)[:, ::2]),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_views_of_what_is_computed_lie_as_in_eager_pytorch(name: str) -> None:
    function = COMPUTED[name]
    compiled = torch.compile(function, backend="hotdesk", dynamic=True, options={"fallback": False})
    for columns in (6, 8):
        x = torch.randn(4, columns)
        found = compiled(x)
        assert_same(found, function(x))
    if name == "two of one":
        assert found[0].untyped_storage().data_ptr() == found[1].untyped_storage().data_ptr()
    assert len(hotdesk.dynamo_report().graphs) == 1


def test_a_view_alone_takes_no_memory_of_its_own() -> None:
    """What it is a view of is the result's memory: there is no arena, and no copy."""
    compiled = torch.compile(lambda x: (x * 2)[:, 1:], backend="hotdesk")
    x = torch.randn(64, 64)
    assert compiled(x).untyped_storage().nbytes() == x.nbytes
    (graph,) = hotdesk.dynamo_report().graphs
    assert (graph.arena, graph.peak) == (0, x.nbytes)


def test_a_view_of_what_is_kept_for_the_backward_graph() -> None:
    """It has memory of its own, as it may be changed in place, which eager PyTorch refuses and AOTAutograd does not notice."""

    def function(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x @ w
        return y[:, ::2], y.sin()

    compiled = torch.compile(function, backend="hotdesk", options={"fallback": False})
    x, w = torch.randn(4, 6, requires_grad=True), torch.randn(6, 6)
    view, result = compiled(x, w)
    assert view.stride() == (6, 2)
    view.mul_(2)
    result.sum().backward()
    torch.testing.assert_close(x.grad, (x @ w).cos().detach() @ w.t())
    torch.testing.assert_close(view, 2 * (x @ w)[:, ::2])


SEVERAL: dict[str, Callable[[torch.Tensor], Any]] = {
    "columns and a transpose": lambda x: (lambda y: (y[:, :3], y.t()))(x * 2),
    "rows that overlap": lambda x: (lambda y: (y[:3], y[1:]))(x * 2),
    "a view of a view": lambda x: (lambda y: (y[1:], y[1:].t(), y.flatten()))(x * 2),
    "beside a result": lambda x: (lambda y: (y[:, ::2], y[:, 1:].t(), y + 1))(x * 2),
    "one twice": lambda x: (lambda y: (y, y))((x * 2)[1:]),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("gradients", [False, True])
def test_views_of_one_computed_value_show_what_is_done_to_another(name: str, gradients: bool) -> None:
    compiled = torch.compile(SEVERAL[name], backend="hotdesk", options={"fallback": False})
    x = torch.arange(20.0).view(4, 5).requires_grad_(gradients)
    found, expected = compiled(x), SEVERAL[name](x)
    assert_same(found, expected)
    with torch.no_grad():
        found[0].mul_(3)
        expected[0].mul_(3)
    assert_same(found, expected)


def test_a_view_alone_may_be_changed_in_place() -> None:
    compiled = torch.compile(lambda x: (x * 2)[:, ::2], backend="hotdesk", options={"fallback": False})
    x = torch.randn(4, 6, requires_grad=True)
    compiled(x).mul_(3).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([6.0, 0.0] * 3).expand(4, 6))


def test_a_backward_graph_whose_sizes_no_call_tells_runs_in_eager_pytorch() -> None:
    """Half the height of an image, an odd number or an even one."""
    x, like = (torch.arange(120.0).reshape(1, 2, 6, 10).requires_grad_() for _ in range(2))
    compiled = torch.compile(lambda x: nn.functional.pixel_unshuffle(x, 2), backend="hotdesk", dynamic=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(x).square().sum().backward()
    nn.functional.pixel_unshuffle(like, 2).square().sum().backward()
    torch.testing.assert_close(x.grad, like.grad, atol=0, rtol=0)
    (told,) = [each for each in caught if each.category is hotdesk.FallbackWarning]
    assert re.search(r"does not tell what it is made of.*HD102", str(told.message))


def changes_both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    y.mul_(2)
    return x * y.sum()


@pytest.mark.parametrize("dynamic", [False, True])
def test_arguments_that_overlap_elsewhere_in_their_memory(dynamic: bool) -> None:
    compiled = torch.compile(changes_both, backend="hotdesk", dynamic=dynamic, options={"fallback": False})
    for count, first, second in ((10, 0, 2), (10, 1, 3), (20, 5, 8), (20, 8, 5)):
        memories = [torch.arange(float(count)) for _ in range(2)]
        found, expected = (
            function(memory[first:][:4], memory[second:][:4])
            for function, memory in zip((compiled, changes_both), memories, strict=True)
        )
        assert torch.equal(found, expected)
        assert torch.equal(*memories)
    assert len(hotdesk.dynamo_report().compiled) == 1
