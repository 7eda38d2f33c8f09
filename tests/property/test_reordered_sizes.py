"""Random networks on two inputs of any length: with `order="peak"`, no call takes a larger arena than in the given order."""

from __future__ import annotations

import random

import pytest
import torch

import hotdesk

MOST = 300


class Network(torch.nn.Module):
    """Layers on two inputs, and means of one that are added to the other."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList()
        self.steps: list[tuple[str, int, int]] = []
        owner, width, used = [0, 1], [16, 16], set[int]()
        for _ in range(rng.randint(6, 10)):
            kind, a = rng.choice(("mm", "mm", "tanh", "softmax", "mean")), rng.randrange(len(owner))
            others = [b for b in range(len(owner)) if owner[b] != owner[a] and width[b] == width[a]]
            if kind == "mean" and not others:
                continue
            b = rng.choice(others) if kind == "mean" else len(self.weights)
            used |= {a, b} if kind == "mean" else {a}
            if kind == "mm":
                self.weights.append(torch.nn.Parameter(torch.randn(width[a], rng.choice((16, 32, 64)))))
            self.steps.append((kind, a, b))
            owner.append(owner[a])
            width.append(self.weights[-1].shape[1] if kind == "mm" else width[a])
        self.outputs = [i for i in range(2, len(owner)) if i not in used][:4]

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values = [x, y]
        for kind, a, b in self.steps:
            match kind:
                case "mm":
                    values.append(values[a] @ self.weights[b])
                case "tanh":
                    values.append(torch.tanh(values[a]))
                case "softmax":
                    values.append(torch.softmax(values[a], -1))
                case _:
                    values.append(values[a] + values[b].mean(0, keepdim=True))
        return tuple(values[i] for i in self.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_arena_is_larger(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
    model = Network(rng).eval()
    shapes = {name: {0: torch.export.Dim(size, max=MOST)} for name, size in (("x", "n"), ("y", "k"))}
    example = torch.randn(8, 16), torch.randn(6, 16)
    given, peak = (hotdesk.compile(model, example, dynamic_shapes=shapes, order=order) for order in ("given", "peak"))
    corners = [(1, 1), (1, MOST), (MOST, 1), (MOST, MOST), (MOST // 2, MOST // 2)]
    for n, k in [*corners, *((rng.randint(1, MOST), rng.randint(1, MOST)) for _ in range(15))]:
        arguments = torch.randn(n, 16), torch.randn(k, 16)
        before, after = given.memory(*arguments), peak.memory(*arguments)
        assert after.arena <= before.arena
        assert after.peak <= before.peak
    assert peak.memory({}).memory.arena <= given.memory({}).memory.arena
    x, y = torch.randn(37, 16), torch.randn(5, 16)
    for found, right in zip(peak(x, y), model(x, y), strict=True):
        assert torch.allclose(found, right, atol=1e-4, rtol=1e-4)
