"""Exported programs are repaired in a copy: what the user gave stays as it was."""

from __future__ import annotations

import torch

import hotdesk
from hotdesk.frontends.torch.export import export
from tests.e2e.checking import random


class Changing(torch.nn.Module):
    """Copies one row of another type into a buffer and an argument's copy, and changes behind a dropout that drops nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, 3))

    def forward(self, x: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.dropout(x.clone(), 0.5, training=False)
        x.relu_()
        self.kept.copy_(row.double())  # pyright: ignore[reportCallIssue]
        return x + self.kept


def test_an_exported_program_is_repaired_in_a_copy() -> None:
    x, row = random(2, 3), random(3)
    given = torch.export.export(Changing(), (x, row))
    before, key = str(given.graph), export(given, ()).identity()
    expected = Changing()(x, row)
    for _ in range(2):
        assert torch.equal(hotdesk.compile(given)(x, row), expected)
        assert str(given.graph) == before
        assert export(given, ()).identity() == key
