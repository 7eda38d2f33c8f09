"""What PyTorch's functions assert of values is checked at each call."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
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
    with pytest.raises(ExecutionError):
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
    with pytest.raises(ExecutionError):
        program(-x)


def test_a_class_that_there_is_not() -> None:
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return one_hot(x, 5)

    program = hotdesk.compile(encoded, (torch.tensor([[0, 4]]),))
    x = torch.tensor([[3, 0]])
    torch.testing.assert_close(program(x), encoded(x))
    for bad in (5, -1, 1 << 40):
        with pytest.raises(ExecutionError):
            program(torch.tensor([[1, bad]]))


def test_classes_of_a_function_under_vmap() -> None:
    def encoded(x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda each: one_hot(each, 5))(x)

    x = torch.tensor([3, 0])
    torch.testing.assert_close(hotdesk.compile(encoded, (x,))(x), one_hot(x, 5))
