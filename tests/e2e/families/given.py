"""Arguments and short forms that families of ops share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tests.e2e.checking import integers, random

Op = Callable[..., Any]
Families = dict[str, tuple[dict[str, Op], tuple[Tensor, ...]]]


def named(*names: str) -> dict[str, Op]:
    return {name: getattr(torch, name) for name in names}


def plain_layers(*names: str) -> dict[str, Op]:
    return {name: getattr(nn, name)() for name in names}


def seeded(**ops: Callable[[], nn.Module]) -> dict[str, Op]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {name: make() for name, make in ops.items()}


class Decoder(nn.TransformerDecoderLayer):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, x[:, :3])


class SelfAttention(nn.MultiheadAttention):
    def forward(self, x: Tensor) -> Any:
        return super().forward(x, x, x)


X, Y, Z = random(3, 5), random(3, 5, seed=7), random(2, 3, 4)
POSITIVE, UNIT = random(3, 5).abs() + 0.5, random(3, 5).sigmoid() * 0.9 + 0.05
SQUARE, INTS, MASK = random(4, 4), integers(9, 3, 5), random(3, 5, seed=9) > 0
IMAGE, ROW, VOLUME = random(2, 4, 8, 7), random(2, 4, 9), random(1, 2, 4, 5, 6)
INDEX = torch.tensor([[0, 2], [1, 1], [2, 0]])
