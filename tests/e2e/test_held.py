"""What stays when a model is compiled: the program and its memory, none of the IR it was made from."""

from __future__ import annotations

import gc

import torch
from torch_mlir import ir

import hotdesk


class _Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


def _contexts() -> int:
    """How many MLIR contexts are alive; with one goes all IR in it."""
    gc.collect()
    return ir.Context._get_live_count()


def test_no_context_stays_with_a_program() -> None:
    model, x = _Net().eval(), torch.randn(2, 3, 9, 9)
    first = hotdesk.compile(model, (x,))  # what all programs share is made with the first
    before = _contexts()
    second = hotdesk.compile(model, (x,))
    assert _contexts() == before
    assert torch.equal(first(x), second(x))


def test_a_program_is_checked_from_what_it_kept() -> None:
    model, x = _Net().eval(), torch.randn(2, 3, 9, 9)
    program = hotdesk.compile(model, (x,))
    del model
    before = _contexts()
    assert not program.check(x).faults
    assert _contexts() == before
