"""Exported programs are repaired in a copy: what the user gave stays as it was."""

from __future__ import annotations

import pytest
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


class Shared(torch.nn.Module):
    """Ends with the same value in two buffers, in several ways."""

    def __init__(self, way: int) -> None:
        super().__init__()
        self.way = way
        self.a: torch.Tensor
        self.b: torch.Tensor
        self.register_buffer("a", torch.ones(3))
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.way == 0:
            self.a.copy_(x)
            self.b.copy_(x)
        elif self.way == 1:
            self.a[:] = x * 2
            self.b[:] = self.a
        elif self.way == 2:
            self.b.copy_(self.a.add_(x).detach())
        elif self.way == 3:
            self.a = x * 2
            self.b = self.a
        elif self.way == 4:
            y = x * 2
            self.a.copy_(y.type_as(x))
            self.b.copy_(y.type_as(self.b))
        elif self.way == 5:
            y = x * 2
            torch._foreach_copy_([self.a, self.b], [y, y])
        elif self.way == 6:
            torch.add(x, 1, out=self.a)
            self.b.copy_(self.a)
        else:
            self.b.copy_(self.a)
            self.a.add_(x)
        return x + self.a - 2 * self.b


@pytest.mark.parametrize("way", range(8))
def test_two_buffers_that_are_given_one_value_are_two(way: int) -> None:
    model, same = Shared(way), Shared(way)
    program = hotdesk.compile(model, (random(3),))
    for _ in range(2):
        x = random(3)
        assert torch.equal(program(x), same(x))
        assert torch.equal(model.a, same.a)
        assert torch.equal(model.b, same.b)
        before = model.b.clone()
        model.a.add_(1)
        assert torch.equal(model.b, before)
        model.a.sub_(1)


class Named(torch.nn.Module):
    """Copies another type into a buffer, and has a tensor in a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(3))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        self.kept.copy_(input.double())  # pyright: ignore[reportCallIssue]
        return torch.cond(input.sum() > 0, lambda x: x + torch.tensor(2.0), lambda x: x - 1, (input,))


def test_an_argument_that_is_named_as_a_function_of_python() -> None:
    x = random(3)
    model = Named()
    result = hotdesk.compile(model, (x,))(x)
    assert torch.equal(result, Named()(x))
    assert torch.equal(model.kept, x)
