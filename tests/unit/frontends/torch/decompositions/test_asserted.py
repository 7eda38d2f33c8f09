"""What PyTorch's functions assert of values is checked at each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch._higher_order_ops import map as mapped
from torch._higher_order_ops import while_loop
from torch.nn.functional import gaussian_nll_loss, one_hot

import hotdesk
from hotdesk.errors import ExecutionError


class Loss(torch.nn.Module):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, x: torch.Tensor, target: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
        return gaussian_nll_loss(x, target, variances, **self.settings)


@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 3), (4, 3, 1), (4, 1, 5)])
@pytest.mark.parametrize("settings", [{}, {"full": True, "eps": 0.3, "reduction": "none"}, {"reduction": "sum"}])
def test_variances_that_are_a_tensor(shape: tuple[int, ...], settings: dict[str, Any]) -> None:
    example = (torch.randn(4, 3, 5), torch.randn(4, 3, 5), torch.rand(shape))
    program = hotdesk.compile(Loss(**settings), example)
    torch.testing.assert_close(program(*example), Loss(**settings)(*example))
    with pytest.raises(ExecutionError, match="a variance is negative"):
        program(*example[:2], -example[2])


def test_a_variance_that_is_no_number() -> None:
    example = (torch.randn(3), torch.randn(3), torch.tensor([0.5, float("nan"), 2.0]))
    model = Loss(reduction="none")
    torch.testing.assert_close(hotdesk.compile(model, example)(*example), model(*example), equal_nan=True)


def test_variances_of_a_size_that_does_not_go() -> None:
    example = (torch.randn(4, 3), torch.randn(4, 3), torch.rand(2, 3))
    with pytest.raises(ValueError, match="var is of incorrect size"):
        Loss()(*example)
    with pytest.raises(hotdesk.HotdeskError):
        hotdesk.compile(Loss(), example)


def test_an_assertion_of_the_users() -> None:
    def root(x: torch.Tensor) -> torch.Tensor:
        cast(Any, torch)._assert_async((x >= 0).all(), "x is negative")
        return x.sqrt()

    program = hotdesk.compile(root, (torch.rand(4),))
    x = torch.rand(4)
    torch.testing.assert_close(program(x), x.sqrt())
    with pytest.raises(ExecutionError, match="x is negative"):
        program(-x)


@pytest.mark.parametrize("front_end", ["function", "exported", "open", "dynamo"])
def test_an_assertion_of_several_elements_is_refused(front_end: str) -> None:
    """As eager PyTorch refuses it, which would have to know what is meant."""

    class Root(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            cast(Any, torch)._assert_async(x >= 0, "x is negative")
            return x.sqrt()

    def compiled(x: torch.Tensor) -> Any:
        if front_end == "function":
            return hotdesk.compile(Root(), (x,))
        if front_end == "dynamo":
            torch._dynamo.reset()
            return torch.compile(Root(), backend="hotdesk", options={"fallback": False})(x)
        shapes = ({0: torch.export.Dim("n", min=1)},) if front_end == "open" else None
        return hotdesk.compile(torch.export.export(Root(), (x,), dynamic_shapes=shapes), (x,))

    x = torch.rand(4)
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        Root()(x)
    with pytest.raises(hotdesk.HotdeskError, match=r"expected a condition of one element, got one of .*\[HD102\]"):
        compiled(x)


def test_a_class_that_there_is_not() -> None:
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return one_hot(x, 5)

    program = hotdesk.compile(encoded, (torch.tensor([[0, 4]]),))
    x = torch.tensor([[3, 0]])
    torch.testing.assert_close(program(x), encoded(x))
    for bad in (5, -1, 1 << 40):
        with pytest.raises(ExecutionError, match="a class is not below `num_classes`, or negative"):
            program(torch.tensor([[1, bad]]))


def test_classes_of_a_function_under_vmap() -> None:
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda each: one_hot(each, 5))(x)

    x = torch.tensor([3, 0])
    torch.testing.assert_close(hotdesk.compile(encoded, (x,))(x), one_hot(x, 5))


def _asserted(x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    cast(Any, torch)._assert_async((place < 4).all())
    return x * 1


ASSERTING: dict[str, tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], int, tuple[int, ...]]] = {
    "one_hot": (lambda x, place: one_hot(place, 4), 3, (4, -1, 1 << 40)),
    "repeat_interleave": (lambda x, place: x.repeat_interleave(place, 0, output_size=8), 2, (1, 3)),
    "a row": (lambda x, place: x[cast(int, place.item())], -4, (4, -5, 1 << 40)),
    "an assertion": (_asserted, 3, (4,)),
}
"""What PyTorch's kernels, or nothing else, ask of a place: one that goes, and some that do not."""


def _in_branch(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def branches(x: torch.Tensor, place: torch.Tensor, taken: torch.Tensor) -> Any:
        return cast(Any, torch).cond(taken, lambda x, i: function(x, i).sum().float(), lambda x, i: x.sum(), (x, place))

    return branches


def _in_loop(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def looping(x: torch.Tensor, place: torch.Tensor, taken: torch.Tensor) -> Any:
        def body(i: torch.Tensor, total: torch.Tensor) -> Any:
            return i + 1, total + function(x, place).sum().float()

        return while_loop(lambda i, _: i < 2 * taken, body, (torch.tensor(0), torch.zeros(())))[1]

    return looping


def _in_map(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def rows(x: torch.Tensor, place: torch.Tensor, taken: torch.Tensor) -> Any:
        return cast(Any, mapped)(lambda row: row + function(x, place).sum().float(), torch.arange(2.0) * taken)

    return rows


@pytest.mark.parametrize("name", ASSERTING)
@pytest.mark.parametrize("within", [_in_branch, _in_loop, _in_map])
def test_assertions_in_branches_and_loops(name: str, within: Callable[..., Any]) -> None:
    function, good, bad = ASSERTING[name]
    model, x, taken = within(function), torch.rand(4, 5), torch.tensor(True)
    program = hotdesk.compile(model, (x, torch.tensor([good]), taken))
    torch.testing.assert_close(program(x, torch.tensor([good]), taken), model(x, torch.tensor([good]), taken))
    for number in bad:
        with pytest.raises(ExecutionError):
            program(x, torch.tensor([number]), taken)
        if within is not _in_map:  # the other branch, no iteration
            program(x, torch.tensor([number]), ~taken)


@pytest.mark.parametrize("name", ASSERTING)
def test_assertions_of_an_exported_program(name: str) -> None:
    function, good, bad = ASSERTING[name]

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
            return function(x, place)

    x, place = torch.rand(4, 5), torch.tensor([good])
    program = hotdesk.compile(torch.export.export(Model(), (x, place)), (x, place))
    torch.testing.assert_close(program(x, place), function(x, place))
    for number in bad:
        with pytest.raises(ExecutionError):
            program(x, torch.tensor([number]))


@pytest.mark.parametrize("name", [name for name in ASSERTING if name != "a row"])
@pytest.mark.parametrize("gradients", [False, True])
def test_assertions_of_graphs_of_dynamo(name: str, gradients: bool) -> None:
    function, good, bad = ASSERTING[name]

    def model(x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return x.sum() * function(x, place)

    torch._dynamo.reset()
    compiled = torch.compile(model, backend="hotdesk", options={"fallback": False})
    x, place = torch.rand(4, 5, requires_grad=gradients), torch.tensor([good])
    torch.testing.assert_close(compiled(x, place), model(x, place))
    for number in bad:
        with pytest.raises(ExecutionError, match="expected a condition that holds"):
            compiled(x, torch.tensor([number]))


@pytest.mark.parametrize("name", [name for name in ASSERTING if name != "a row"])
@pytest.mark.parametrize("within", [_in_branch, _in_loop])
def test_assertions_in_branches_and_loops_of_dynamo(name: str, within: Callable[..., Any]) -> None:
    function, good, bad = ASSERTING[name]
    model, x, taken = within(function), torch.rand(4, 5), torch.tensor(True)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="hotdesk", options={"fallback": False})
    torch.testing.assert_close(compiled(x, torch.tensor([good]), taken), model(x, torch.tensor([good]), taken))
    for number in bad:
        with pytest.raises(ExecutionError, match="expected a condition that holds"):
            compiled(x, torch.tensor([number]), taken)
        compiled(x, torch.tensor([number]), ~taken)


class Counting(torch.nn.Module):
    """Changes its buffer, and then asserts something of an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sums", torch.zeros(4))

    def forward(self, x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        self.sums.add_(x).mul_(2)
        return self.sums + one_hot(place, 4).sum(0)


@pytest.mark.parametrize("front_end", ["export", "dynamo"])
def test_state_is_kept_where_an_assertion_of_an_argument_fails(front_end: str) -> None:
    model, x, place = Counting(), torch.rand(4), torch.tensor([1, 3])
    torch._dynamo.reset()
    with torch.no_grad():
        if front_end == "export":
            program: Any = hotdesk.compile(model, (x, place))
        else:
            program = torch.compile(model, backend="hotdesk", options={"fallback": False})
        program(x, place)
        before = model.sums.clone()
        with pytest.raises(ExecutionError, match="a class is not below `num_classes`"):
            program(x, place + 1)
    assert torch.equal(before, 2 * x)
    assert torch.equal(model.sums, before)


def test_a_row_by_a_number_that_a_loop_carries() -> None:
    def total(x: torch.Tensor, count: torch.Tensor) -> Any:
        def body(k: int, total: torch.Tensor) -> Any:
            return k + 1, total + x[k].sum()

        return while_loop(lambda k, _: k < count, body, (0, torch.zeros(())))[1]

    x = torch.rand(4, 5)
    program = hotdesk.compile(total, (x, torch.tensor(2)))
    for count in (0, 2, 4):
        torch.testing.assert_close(program(x, torch.tensor(count)), x[:count].sum())
    for count in (5, 1 << 40):
        with pytest.raises(ExecutionError, match=r"expected \(number that a loop carries\) < 4"):
            program(x, torch.tensor(count))
