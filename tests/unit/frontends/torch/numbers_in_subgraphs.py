"""Functions whose branches and loop bodies make tensors of numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_over

PAIR = [1.0, -2.0]


def both_ways(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x + torch.tensor(2.0), lambda x: x * torch.tensor(PAIR), (x,))


def loop(x: torch.Tensor) -> Any:
    body = lambda i, x: (i + torch.tensor(1), x * torch.tensor(PAIR))  # noqa: E731
    return while_loop(lambda i, x: i < torch.tensor(3), body, (torch.tensor(0), x))


def scanned(x: torch.Tensor) -> Any:
    def step(held: torch.Tensor, row: torch.Tensor) -> Any:
        moved = torch.cond(row.sum() > 0, lambda h: h + torch.tensor(PAIR), lambda h: h - torch.tensor(0.5), (held,))
        return moved + row, held * torch.tensor(3.0)

    return scan(step, torch.zeros(2), x)


def mapped(x: torch.Tensor) -> Any:
    return map_over(lambda row: row + torch.tensor(PAIR), x)
