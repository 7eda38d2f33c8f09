"""`Options(prepare=…)`: what weights alone decide is kept as far as it has room, and else computed in each call."""

from __future__ import annotations

import pytest
import torch

import hotdesk
from hotdesk.explain import Outcome, Reason

IN, OUT = 32, 64


class _Scaled(torch.nn.Module):
    """A product with a weight of 8 KiB that is computed from one of 128 bytes beside it, and a norm: twice 256 bytes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(OUT, IN))
        self.scale = torch.nn.Parameter(torch.rand(IN))
        self.norm = torch.nn.BatchNorm1d(OUT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(torch.nn.functional.linear(x, (self.weight * self.scale.exp()).tanh()))


def _compiled(prepare: int | str | None) -> tuple[hotdesk.Program, torch.nn.Module]:
    model = _Scaled().eval()
    return hotdesk.compile(model, (torch.zeros(5, IN),), options=hotdesk.Options(prepare=prepare)), model


@pytest.mark.parametrize(
    ("prepare", "kept", "arena"),
    [
        (None, 8704, 0),
        (8704, 8704, 0),
        ("8 KiB", 640, 8192),  # the smallest first: 512 of the norm and 128 of the scale
        (639, 512, 8192),
        (300, 256, 8192),
        (127, 0, 8192),
        (0, 0, 8192),
    ],
)
def test_bounds(prepare: int | str | None, kept: int, arena: int) -> None:
    program, model = _compiled(prepare)
    x = torch.randn(5, IN, generator=torch.Generator().manual_seed(1))
    assert (program.memory(x).prepared, program.memory(x).arena) == (kept, arena)
    torch.testing.assert_close(program(x), model(x))
    assert not program.check(x).faults


def test_what_has_no_room_is_told() -> None:
    program, _ = _compiled(639)
    told = [each for each in program.decisions() if each.subject.startswith("prepared")]
    assert [(each.bytes, each.outcome) for each in told] == [
        (8192, Outcome.NOT_PREPARED),
        (256, Outcome.PREPARED),
        (256, Outcome.PREPARED),
    ]
    assert told[0].reason is Reason.PREPARED_TOO_LARGE
    assert "test_prepared_bytes.py" in str(told[0].because[0].location)
