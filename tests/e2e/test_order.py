"""Programs compiled with their operations in another order: a smaller arena, the same numbers, and never a larger one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk import ordering
from hotdesk.errors import OptionError
from hotdesk.explain import Outcome


class Branches(torch.nn.Module):
    """Branches that widen, and narrow later: each could be done with before the next begins."""

    def __init__(self, count: int = 4) -> None:
        super().__init__()
        self.wide = torch.nn.ModuleList([torch.nn.Linear(8, 512) for _ in range(count)])
        self.narrow = torch.nn.ModuleList([torch.nn.Linear(512, 8) for _ in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        opened = [torch.relu(layer(x)) for layer in self.wide]
        closed = [torch.relu(layer(y)) for layer, y in zip(self.narrow, opened, strict=True)]
        return sum(closed[1:], closed[0])


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.relu(x) @ x, -1)


@cache
def branches() -> tuple[torch.nn.Module, torch.Tensor]:
    return Branches().eval(), torch.randn(16, 8)


@cache
def compiled(order: str) -> hotdesk.Program:
    model, x = branches()
    return hotdesk.compile(model, (x,), order=order)


def _same(*_: object) -> tuple[int, ...]:
    return (1000,)


def orders(program: hotdesk.Program, *args: Any) -> list[Any]:
    return [d for d in program.decisions(*args) if d.outcome in (Outcome.REORDERED, Outcome.ORDER_KEPT)]


def test_branches() -> None:
    x = torch.randn(16, 8)
    given, program = compiled("given"), compiled("peak")
    assert program.memory().arena < 0.5 * given.memory().arena
    assert torch.equal(program(x), given(x))
    assert program.check(x).faults == ()
    estimate, planned = orders(program)
    assert "bytes at the peak" in estimate.subject
    assert planned.subject == f"arena of @main: {program.memory().arena} bytes, {given.memory().arena} before"
    assert planned.bytes == given.memory().arena - program.memory().arena
    assert orders(given) == []


def test_a_dynamic_size() -> None:
    model, _ = branches()
    shapes = {"x": {0: torch.export.Dim("n", min=1, max=64)}}
    x = torch.randn(5, 8)
    given = hotdesk.compile(model, (x,), dynamic_shapes=shapes)
    program = hotdesk.compile(model, (x,), dynamic_shapes=shapes, options=hotdesk.Options(order="peak"))
    for n in (1, 2, 33, 64):
        x = torch.randn(n, 8)
        assert program.memory(x).arena < given.memory(x).arena
        assert torch.equal(program(x), given(x))


def test_nothing_to_gain() -> None:
    x = torch.randn(4, 4)
    given, program = hotdesk.compile(Chain(), (x,)), hotdesk.compile(Chain(), (x,), order="peak")
    assert program.memory() == given.memory()
    (made,) = orders(program)
    assert str(made.reason) == "no-order-below"


def test_an_order_whose_plan_is_not_smaller_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering.LowerPeak, "arenas", _same)
    model, x = branches()
    program = hotdesk.compile(model, (x,), order="peak")
    assert program.memory() == compiled("given").memory()
    (made,) = orders(program)
    assert (made.subject, str(made.reason)) == ("arena of @main: 1000 bytes", "arena-not-smaller")


def test_another_order() -> None:
    with pytest.raises(OptionError, match="option 'order': expected 'given' or 'peak', got 'best'"):
        hotdesk.compile(Chain(), (torch.randn(4, 4),), order="best")
