"""Convolutions by Winograd's filtering in whole programs: results, scratch memory in the arena, and programs without it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.explain import Outcome, Reason

SCRATCH = 2 * 36 * 4 * (16 * (16 + 32) + 16 * 32 + 96)
"""Bytes for two threads: of 16 filters by 16 channels, 16 channels by 32 tiles, 16 filters by 32 tiles, and lines between."""

RESULT = 4 * 16 * 40 * 40


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(16, 16, 3, padding=1, bias=False).eval().requires_grad_(False)


def image(rows: int = 40) -> torch.Tensor:
    return torch.randn(1, 16, rows, 40, generator=torch.Generator().manual_seed(1))


def close(actual: torch.Tensor, x: torch.Tensor) -> None:
    exact = model().double()(x.double())
    torch.testing.assert_close(actual.double(), exact, rtol=0, atol=2e-6 * float(exact.abs().max()))


def decided(program: hotdesk.Program) -> list[tuple[Outcome, Reason, object]]:
    return [
        (each.outcome, each.reason, each.bytes)
        for each in program.decisions()
        if each.subject == "convolution workspace"
    ]


def test_scratch_memory_is_in_the_arena() -> None:
    x = image()
    program = hotdesk.compile(model(), (x,))
    assert program.memory().arena == SCRATCH
    assert decided(program) == [(Outcome.ALLOCATED, Reason.WORKSPACE, SCRATCH)]
    close(program(x), x)
    assert program.check(x).faults == ()


def test_without() -> None:
    x = image()
    program = hotdesk.compile(model(), (x,), options=hotdesk.Options(winograd=False))
    assert program.memory().arena == 0
    assert decided(program) == [(Outcome.DECLINED, Reason.WITHOUT_SCRATCH, SCRATCH)]
    close(program(x), x)


def test_a_budget_declines_it_first() -> None:
    x = image()
    program = hotdesk.compile(model(), (x,), budget=RESULT)
    assert program.memory().peak == RESULT
    assert decided(program) == [(Outcome.DECLINED, Reason.WITHOUT_SCRATCH, SCRATCH)]
    close(program(x), x)
    enough = hotdesk.compile(model(), (x,), budget=RESULT + SCRATCH)
    assert decided(enough) == [(Outcome.ALLOCATED, Reason.WORKSPACE, SCRATCH)]


@pytest.mark.parametrize("rows", [1, 3, 8, 17, 40, 90])
def test_sizes_that_vary(rows: int) -> None:
    """What is small at run time is computed from all products, in the same program."""
    dim = torch.export.Dim("rows", min=1, max=200)
    program = hotdesk.compile(model(), (image(),), dynamic_shapes=({2: dim},))
    close(program(image(rows)), image(rows))


def test_kept_programs_know_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    x = image()
    arenas = [
        hotdesk.compile(model(), (x,), options=hotdesk.Options(winograd=winograd)).memory().arena
        for winograd in (True, False, True, False)
    ]
    assert arenas == [SCRATCH, 0, SCRATCH, 0]


def test_beside_a_loop() -> None:
    """Scratch memory is bytes, which the kernel takes as elements: of a function with control flow, the types say so."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.steps = nn.Conv2d(32, 32, 3, padding=1), nn.LSTM(8, 8, batch_first=True)

        def forward(self, x: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.conv(torch.relu(self.conv(x))), self.steps(s)[0]

    torch.manual_seed(0)
    net, x, s = Net().eval(), torch.randn(1, 32, 32, 32), torch.randn(2, 12, 8)
    program = hotdesk.compile(net, (x, s))
    assert sum(decision.reason is Reason.WORKSPACE for decision in program.decisions()) == 2
    for made, wanted in zip(program(x, s), net(x, s), strict=True):
        torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-4)
    assert program.check(x, s).faults == ()
