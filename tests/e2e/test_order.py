"""Programs compiled with their operations in another order: a smaller arena, the same numbers, and never a larger one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.errors import OptionError, PlanError
from hotdesk.explain import Outcome
from hotdesk.search import ordering


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


class Apart(torch.nn.Module):
    """Branches on two inputs of different lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = Branches(2), Branches(2)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        opened = [torch.relu(layer(x)) for layer in self.one.wide], [torch.relu(layer(y)) for layer in self.two.wide]
        closed = [
            [torch.relu(layer(z)) for layer, z in zip(part.narrow, wide, strict=True)]
            for part, wide in zip((self.one, self.two), opened, strict=True)
        ]
        return closed[0][0] + closed[0][1], closed[1][0] + closed[1][1]


class Lent(torch.nn.Module):
    """In the order of the code a result lends its memory to most of what is computed; in another one, fewer bytes are live."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Parameter(torch.randn(16, 32)), torch.nn.Parameter(torch.randn(16, 32))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        u = y + x.mean(0, keepdim=True)
        v = x + y.mean(0, keepdim=True)
        wide, widened = x @ self.first, y @ self.second
        u = torch.tanh(u)
        return u + v.mean(0, keepdim=True), torch.softmax(widened, -1), torch.tanh(v), wide


def _same(*_: object) -> tuple[int, int]:
    return 1000, 0


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


class Padded(torch.nn.Module):
    """Values of five dimensions, all made before the first of them is needed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = [torch.nn.functional.pad((x * (i + 1.5)).sin(), (1, 1)) for i in range(3)]
        made = [torch.nn.functional.pad(each, (1, 1)) for each in made]
        sums = [each.sum((-1, -2)) for each in made]
        return sums[0] + sums[1] * sums[2]


def test_sizes_that_all_vary_are_not_compared_beyond_all_memory() -> None:
    """Each of five sizes at 4096 is more than there is; the order is taken, or not, for what can be called."""
    x = torch.randn(2, 3, 2, 3, 2)
    shapes = {"x": {axis: torch.export.Dim(f"d{axis}", max=2**14) for axis in range(5)}}
    program = hotdesk.compile(Padded(), (x,), dynamic_shapes=shapes, order="peak")
    assert orders(program, x)
    close = torch.testing.assert_close
    close(program(x), Padded()(x))
    with pytest.raises(PlanError, match=r"the buffers of a call: expected less than 576,460,752,303,423,488 bytes"):
        hotdesk.compile(Padded(), (x,), dynamic_shapes=shapes, budget="1 MiB")


def test_nothing_to_gain() -> None:
    x = torch.randn(4, 4)
    given, program = hotdesk.compile(Chain(), (x,)), hotdesk.compile(Chain(), (x,), order="peak")
    assert program.memory() == given.memory()
    (made,) = orders(program)
    assert str(made.reason) == "no-order-below"


def test_an_order_whose_plan_is_not_smaller_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering.MemoryNeeds, "at", _same)
    model, x = branches()
    program = hotdesk.compile(model, (x,), order="peak")
    assert program.memory() == compiled("given").memory()
    (made,) = orders(program)
    assert (made.subject, str(made.reason)) == ("arena of @main: 1000 bytes", "arena-not-smaller")


def two_sizes(model: torch.nn.Module, width: int, most: int | None) -> tuple[hotdesk.Program, hotdesk.Program]:
    """A program in the given order, and one whose order may be another; both inputs are of any length up to `most`."""
    x, y = torch.randn(8, width), torch.randn(6, width)
    shapes = {"x": {0: torch.export.Dim("n", max=most)}, "y": {0: torch.export.Dim("k", max=most)}}
    programs = [
        hotdesk.compile(model.eval(), (x, y), dynamic_shapes=shapes, order=order) for order in ("given", "peak")
    ]
    return programs[0], programs[1]


def arenas(programs: tuple[hotdesk.Program, hotdesk.Program], width: int) -> list[tuple[int, int]]:
    """The arenas of two programs at corners and in between."""
    shapes = [(1, 1), (1, 300), (300, 1), (300, 300), (150, 150), (194, 2), (2, 194), (37, 61), (280, 11), (5, 4)]
    arguments = [(torch.randn(n, width), torch.randn(k, width)) for n, k in shapes]
    return [(programs[0].memory(*each).arena, programs[1].memory(*each).arena) for each in arguments]


def test_two_sizes() -> None:
    programs = two_sizes(Apart(), 8, None)
    found = arenas(programs, 8)
    assert all(after <= before for before, after in found)
    assert any(after < before for before, after in found)
    x, y = torch.randn(3, 8), torch.randn(40, 8)
    assert all(torch.equal(a, b) for a, b in zip(programs[0](x, y), programs[1](x, y), strict=True))
    planned = orders(programs[1], x, y)[-1]
    assert str(planned.reason) == "smaller-arena"
    least, most = (program.memory(torch.randn(4096, 8), torch.randn(4096, 8)).arena for program in programs[::-1])
    assert planned.subject == f"arena of @main: {least} bytes, {most} before where k = 4096, n = 4096"


def test_what_results_lend_is_not_given_up() -> None:
    """Fewer bytes are live in the other order, and the arena would be a hundred times as large for n = 194 and k = 2."""
    programs = two_sizes(Lent(), 16, 300)
    assert all(after <= before for before, after in arenas(programs, 16))
    given, peak = (program.memory({}) for program in programs)
    assert peak.memory.arena <= given.memory.arena
    x, y = torch.randn(194, 16), torch.randn(2, 16)
    kept = orders(programs[1], x, y)[-1]
    assert str(kept.reason) == "arena-not-smaller"
    assert "in the other order where" in kept.subject


def test_another_order() -> None:
    with pytest.raises(OptionError, match="option 'order': expected 'given' or 'peak', got 'best'"):
        hotdesk.compile(Chain(), (torch.randn(4, 4),), order="best")
