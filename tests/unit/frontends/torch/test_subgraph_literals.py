"""Tensors that branches and bodies of Dynamo's graphs make of numbers are compiled, as PyTorch has them new each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_over

from tests.e2e.checking import close, random

PAIR = [1.0, -2.0]


def _both_ways(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + torch.tensor(2.0), lambda x: x * torch.tensor(PAIR), (x,))


def _of_a_type(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + torch.tensor(2, dtype=torch.int16), lambda x: x * 2, (x,))


def _returned(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: torch.tensor(PAIR), lambda x: x[0] + 1, (x,))


def _written(x: torch.Tensor) -> Any:
    def taller(x: torch.Tensor) -> torch.Tensor:
        total = torch.tensor(PAIR)
        total += x[0]
        return total

    return torch.cond(x.sum() > 0, taller, lambda x: x[0] + 1, (x,))


def _loop(x: torch.Tensor) -> Any:
    body = lambda i, x: (i + torch.tensor(1), x * torch.tensor(PAIR))  # noqa: E731
    return while_loop(lambda i, x: i < torch.tensor(3), body, (torch.tensor(0), x))


def _scanned(x: torch.Tensor) -> Any:
    def step(held: torch.Tensor, row: torch.Tensor) -> Any:
        moved = torch.cond(row.sum() > 0, lambda h: h + torch.tensor(PAIR), lambda h: h - torch.tensor(0.5), (held,))
        return moved + row, held * torch.tensor(3.0)

    return scan(step, torch.zeros(2), x)


def _mapped(x: torch.Tensor) -> Any:
    return map_over(lambda row: row + torch.tensor(PAIR), x)


@pytest.mark.parametrize("function", [_both_ways, _of_a_type, _returned, _written, _loop, _scanned, _mapped])
def test_as_in_eager(function: Callable[[torch.Tensor], Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="hotdesk", options={"fallback": False})
    x = random(3, 2).abs()
    for given in (x, -x, x * torch.tensor(PAIR), x):
        close(compiled(given), function(given))


def test_gradients_go_past_them() -> None:
    torch.compiler.reset()
    compiled = torch.compile(_both_ways, backend="hotdesk", options={"fallback": False})
    for sign in (1.0, -1.0):
        x, y = ((sign * random(3, 2, seed=1).abs()).requires_grad_() for _ in range(2))
        compiled(x).square().sum().backward()
        _both_ways(y).square().sum().backward()
        close(x.grad, y.grad)
