"""Tensors that branches and bodies of Dynamo's graphs make of numbers are compiled, as PyTorch has them new each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.e2e.checking import close, random
from tests.unit.frontends.torch.numbers_in_subgraphs import PAIR, both_ways, loop, mapped, scanned


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


@pytest.mark.parametrize("function", [both_ways, _of_a_type, _returned, _written, loop, scanned, mapped])
def test_as_in_eager(function: Callable[[torch.Tensor], Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="hotdesk", options={"fallback": False})
    x = random(3, 2).abs()
    for given in (x, -x, x * torch.tensor(PAIR), x):
        close(compiled(given), function(given))


def test_gradients_go_past_them() -> None:
    torch.compiler.reset()
    compiled = torch.compile(both_ways, backend="hotdesk", options={"fallback": False})
    for sign in (1.0, -1.0):
        x, y = ((sign * random(3, 2, seed=1).abs()).requires_grad_() for _ in range(2))
        compiled(x).square().sum().backward()
        both_ways(y).square().sum().backward()
        close(x.grad, y.grad)
