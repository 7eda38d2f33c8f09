"""Networks with branches, in the order in which their authors' code runs them. Random weights, one image, float32."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn


def conv(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2), nn.ReLU())


def separable(channels: int, size: int) -> nn.Sequential:
    deep = nn.Conv2d(channels, channels, size, 1, size // 2, groups=channels)
    return nn.Sequential(nn.ReLU(), deep, nn.Conv2d(channels, channels, 1))


def total(values: Sequence[Tensor]) -> Tensor:
    """The sum, added up from the left."""
    return functools.reduce(torch.add, values)


class Dense(nn.Module):
    """A block of DenseNet (Huang et al. 2017): every layer reads all before it, concatenated."""

    def __init__(self, layers: int, growth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(conv(32 + i * growth, 4 * growth, 1), conv(4 * growth, growth)) for i in range(layers)
        )
        self.first = conv(3, 32)

    def forward(self, x: Tensor) -> Tensor:
        found = [self.first(x)]
        for layer in self.layers:
            found.append(layer(torch.cat(found, 1)))
        return torch.cat(found, 1).mean((2, 3))


class Searched(nn.Module):
    """Cells as architecture search finds them (DARTS, Liu et al. 2019): four nodes, each the sum of two separable convolutions
    of what came before; a cell reads the two before it."""

    def __init__(self, cells: int, channels: int, seed: int) -> None:
        super().__init__()
        numbers = random.Random(seed)
        self.first = conv(3, channels)
        self.wiring = [
            [numbers.sample(range(2 + node), 2) for node in range(4)] for _ in range(cells)
        ]  # fmt: skip
        self.ops = nn.ModuleList(
            nn.ModuleList(separable(channels, numbers.choice((3, 5))) for _ in range(8)) for _ in range(cells)
        )
        self.joins = nn.ModuleList(conv(4 * channels, channels, 1) for _ in range(cells))

    def forward(self, x: Tensor) -> Tensor:
        before = last = self.first(x)
        for wiring, ops, join in zip(self.wiring, self.ops, self.joins, strict=True):
            nodes = [before, last]
            for node, (a, b) in enumerate(wiring):
                first, second = list(cast(nn.ModuleList, ops))[2 * node : 2 * node + 2]
                nodes.append(first(nodes[a]) + second(nodes[b]))
            before, last = last, join(torch.cat(nodes[2:], 1))
        return last


class NestedUNet(nn.Module):
    """UNet++ (Zhou et al. 2018): level by level, each node reads all of its row and the one below, scaled up."""

    def __init__(self, depth: int, width: int) -> None:
        super().__init__()
        self.depth = depth
        sizes = [width * 2**i for i in range(depth)]
        self.nodes = nn.ModuleDict()
        for i, j in self._places():
            inputs = (3 if i == 0 else sizes[i - 1]) if j == 0 else j * sizes[i] + sizes[i + 1]
            self.nodes[f"{i}_{j}"] = conv(inputs, sizes[i])
        self.heads = nn.ModuleList(nn.Conv2d(width, 1, 1) for _ in range(depth - 1))

    def _places(self) -> list[tuple[int, int]]:
        """In the order of the columns, as the authors' code runs them."""
        return [(i, j) for j in range(self.depth) for i in range(self.depth - j)]

    def forward(self, x: Tensor) -> Tensor:
        made: dict[tuple[int, int], Tensor] = {}
        for i, j in self._places():
            if j == 0:
                source = x if i == 0 else nn.functional.max_pool2d(made[i - 1, 0], 2)
            else:
                up = nn.functional.interpolate(made[i + 1, j - 1], scale_factor=2.0)
                source = torch.cat([*(made[i, k] for k in range(j)), up], 1)
            made[i, j] = self.nodes[f"{i}_{j}"](source)
        outputs = [head(made[0, j + 1]) for j, head in enumerate(self.heads)]
        return torch.stack(outputs).mean(0)


class BranchedUNet(nn.Module):
    """A U-Net each of whose stages has parallel branches of several kernel sizes, widened and narrowed again."""

    def __init__(self, depth: int, width: int, branches: int = 4) -> None:
        super().__init__()
        sizes = [width * 2**i for i in range(depth)]
        self.down = nn.ModuleList(_Branches(a, b, branches) for a, b in itertools.pairwise([3, *sizes]))
        self.up = nn.ModuleList(_Branches(a + b, a, branches) for a, b in itertools.pairwise(sizes))

    def forward(self, x: Tensor) -> Tensor:
        kept: list[Tensor] = []
        for stage in self.down:
            x = stage(x if not kept else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        for stage, skip in zip(reversed(self.up), reversed(kept[:-1]), strict=True):
            x = stage(torch.cat([skip, nn.functional.interpolate(x, scale_factor=2.0)], 1))
        return x


class _Branches(nn.Module):
    def __init__(self, inputs: int, outputs: int, count: int) -> None:
        super().__init__()
        self.wide = nn.ModuleList(conv(inputs, 4 * outputs, 1) for _ in range(count))
        self.deep = nn.ModuleList(
            nn.Conv2d(4 * outputs, 4 * outputs, 3 + 2 * (i % 2), 1, 1 + i % 2, groups=4 * outputs) for i in range(count)
        )
        self.narrow = nn.ModuleList(nn.Conv2d(4 * outputs, outputs, 1) for _ in range(count))

    def forward(self, x: Tensor) -> Tensor:
        wide = [layer(x) for layer in self.wide]
        deep = [layer(y) for layer, y in zip(self.deep, wide, strict=True)]
        narrow = [layer(y) for layer, y in zip(self.narrow, deep, strict=True)]
        return torch.relu(total(narrow))


class RandomlyWired(nn.Module):
    """Stages of a randomly wired network (Xie et al. 2019): a Watts-Strogatz graph, its nodes in the order of their numbers."""

    def __init__(
        self, nodes: int, stages: int, channels: int, seed: int, degree: int = 4, chance: float = 0.75
    ) -> None:
        super().__init__()
        numbers = random.Random(seed)
        self.first = conv(3, channels, 3, 2)
        self.sources = [watts_strogatz(nodes, degree, chance, numbers) for _ in range(stages)]
        self.nodes = nn.ModuleList(nn.ModuleList(separable(channels, 3) for _ in range(nodes)) for _ in range(stages))

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for stage, sources in zip(self.nodes, self.sources, strict=True):
            made: list[Tensor] = []
            for node, before in zip(cast(nn.ModuleList, stage), sources, strict=True):
                made.append(node(total([made[i] for i in before] or [x])))
            read = {i for before in sources for i in before}
            ends = [value for i, value in enumerate(made) if i not in read]
            x = total(ends) / len(ends)
        return x


def watts_strogatz(nodes: int, degree: int, chance: float, numbers: random.Random) -> list[list[int]]:
    """For each node of a ring whose edges were rewired at random, the nodes with lower numbers that it is joined with."""
    edges: set[tuple[int, int]] = set()
    for i in range(nodes):
        for step in range(1, degree // 2 + 1):
            near = (i + step) % nodes
            free = [j for j in range(nodes) if j != i and (min(i, j), max(i, j)) not in edges]
            j = numbers.choice(free) if near not in free or numbers.random() < chance else near
            edges.add((min(i, j), max(i, j)))
    return [sorted(a for a, b in edges if b == i) for i in range(nodes)]


@dataclass(frozen=True, slots=True)
class Network:
    """A network by name, and the sizes of its image."""

    name: str
    make: Callable[[], nn.Module]
    image: Sequence[int]


NETWORKS = (
    Network("dense block, 12 layers", lambda: Dense(12, 16), (1, 3, 32, 32)),
    Network("searched cells, 3 cells, seed 1", lambda: Searched(3, 24, 1), (1, 3, 32, 32)),
    Network("searched cells, 3 cells, seed 2", lambda: Searched(3, 24, 2), (1, 3, 32, 32)),
    Network("searched cells, 8 cells, seed 3", lambda: Searched(8, 24, 3), (1, 3, 32, 32)),
    Network("U-Net++, depth 4", lambda: NestedUNet(4, 16), (1, 3, 64, 64)),
    Network("U-Net++, depth 5", lambda: NestedUNet(5, 16), (1, 3, 64, 64)),
    Network("branched U-Net, depth 3", lambda: BranchedUNet(3, 8), (1, 3, 64, 64)),
    Network("branched U-Net, depth 4, 6 branches", lambda: BranchedUNet(4, 8, 6), (1, 3, 64, 64)),
    *(
        Network(
            f"randomly wired, {n} nodes, seed {seed}",
            lambda n=n, seed=seed: RandomlyWired(n, 1, 32, seed),
            (1, 3, 64, 64),
        )
        for n, seed in ((16, 1), (16, 2), (32, 1), (32, 2), (32, 3), (64, 1))
    ),
    Network("randomly wired, 3 stages of 32", lambda: RandomlyWired(32, 3, 32, 4), (1, 3, 64, 64)),
)
