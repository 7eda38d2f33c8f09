"""Small nets of linear layers: the demo, and a plain perceptron."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from .norms import settle_batch_norms
from .spec import ModelSpec, normal


class DecomposeBatchNorm(nn.Module):
    """Linear, batch norm, ReLU: in eval mode the norm decomposes into elementwise ops that can all run in place."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(224, 100)
        self.bn = nn.BatchNorm1d(100)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.bn(self.linear(x)))


class Mlp(nn.Module):
    def __init__(self, sizes: tuple[int, ...] = (784, 512, 512, 10)) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[:-1]:
            x = nn.functional.gelu(layer(x))
        return self.layers[-1](x)


def _demo() -> nn.Module:
    return settle_batch_norms(DecomposeBatchNorm(), torch.randn(64, 224))


SPECS = (
    ModelSpec(
        name="demo",
        title="Linear, batch norm, ReLU with a dynamic batch",
        factory=_demo,
        sample=normal(224),
        batch=32,
        dynamic_shapes={"x": {0: torch.export.Dim("batch")}},
        rtol=1e-4,
        atol=1e-5,
    ),
    ModelSpec(
        name="mlp",
        title="Three-layer perceptron, 784-512-512-10, GELU",
        factory=Mlp,
        sample=normal(784),
        batch=32,
        rtol=1e-4,
        atol=1e-5,
    ),
)
