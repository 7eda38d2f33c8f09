"""Convolutions and pools in branches and loops: `hotdesk.conv` and `hotdesk.pool` there too, with the results of PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._higher_order_ops import while_loop

import hotdesk

KINDS: dict[str, tuple[torch.nn.Module, tuple[int, ...]]] = {
    "1d, padded, in steps": (torch.nn.Conv1d(6, 8, 3, 2, 1), (3, 6, 13)),
    "2d, padded": (torch.nn.Conv2d(4, 16, 3, 1, 1), (2, 4, 18, 21)),
    "by groups": (torch.nn.Conv2d(4, 8, 3, 1, 1, groups=2), (1, 4, 9, 11)),
    "depthwise": (torch.nn.Conv2d(6, 6, 3, 1, 1, groups=6), (2, 6, 9, 11)),
    "transposed": (torch.nn.ConvTranspose2d(4, 6, 3, 2, 1), (1, 4, 7, 6)),
    "greatest": (torch.nn.MaxPool2d(3, 2, 1), (2, 4, 9, 12)),
}


class Branch(torch.nn.Module):
    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, take: torch.Tensor, x: torch.Tensor) -> Any:
        return torch.cond(take, lambda x: self.layer(x).relu(), lambda x: -self.layer(x + 1), (x,))


class Loop(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Conv2d(5, 5, 3, 1, 1)

    def forward(self, count: torch.Tensor, x: torch.Tensor) -> Any:
        return while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, self.layer(x).tanh()), (count, x))[1]


@pytest.mark.parametrize("kind", list(KINDS))
def test_in_branches(kind: str) -> None:
    torch.manual_seed(0)
    layer, sizes = KINDS[kind]
    model, x = Branch(layer).eval(), torch.randn(*sizes)
    program = hotdesk.compile(model, (torch.tensor(True), x))
    for take in (True, False):
        given = (torch.tensor(take), x)
        with torch.no_grad():
            torch.testing.assert_close(program(*given), model(*given), rtol=1e-4, atol=1e-5)
        assert program.check(*given).faults == ()


def test_in_a_loop() -> None:
    torch.manual_seed(0)
    model, x = Loop().eval(), torch.randn(2, 5, 9, 11)
    program = hotdesk.compile(model, (torch.tensor(3), x))
    for count in (0, 1, 4):
        given = (torch.tensor(count), x)
        with torch.no_grad():
            torch.testing.assert_close(program(*given), model(*given), rtol=1e-4, atol=1e-5)
    assert program.check(torch.tensor(2), x).faults == ()
