"""Programs with dynamic sizes: how often they are planned, one plan for all sizes, and the worst case over ranges."""

from __future__ import annotations

import random as chance
import tracemalloc
from dataclasses import fields
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.errors import OptionError
from hotdesk.planning.placement import portfolio
from hotdesk.report import Memory
from hotdesk.runtime.arguments.sizes import InputSizes
from hotdesk.runtime.plans import planner
from hotdesk.runtime.program import Program
from tests.e2e.checking import Transformer, close, integers, random, seeded

FIGURES = tuple(field.name for field in fields(Memory) if field.name not in ("copies", "certificate"))


class Halves(nn.Module):
    """Sizes that are no polynomials: pooling halves the length, rounded down."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.pool = nn.Linear(4, 32), nn.MaxPool1d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.wide(x)).transpose(1, 2)
        return self.pool(self.pool(torch.tanh(y) @ torch.tanh(y).transpose(1, 2)))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 48), nn.GELU(), nn.Linear(48, 40), nn.Tanh(), nn.Linear(40, 4))


def compiled(batch: Any) -> tuple[nn.Module, Program]:
    model = seeded(mlp)
    return model, hotdesk.compile(model, (random(4, 6),), dynamic_shapes=({0: batch},))


@cache
def bounded() -> tuple[nn.Module, Program]:
    return compiled(Dim("batch", min=1, max=64))


@cache
def transformer() -> tuple[nn.Module, Program]:
    model = seeded(Transformer)
    varies: Any = {0: Dim("batch", min=1, max=4), 1: Dim("length", min=2, max=24)}
    return model, hotdesk.compile(model, (integers(50, 2, 5),), dynamic_shapes={"ids": varies})


@cache
def halves() -> tuple[nn.Module, Program]:
    model = seeded(Halves)
    return model, hotdesk.compile(model, (random(2, 20, 4),), dynamic_shapes=({1: Dim("length", min=8, max=40)},))


def inputs(model: nn.Module, *sizes: int) -> torch.Tensor:
    return integers(50, *sizes) if isinstance(model, Transformer) else random(*sizes, 4)


def test_one_plan_serves_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    model, program = compiled(Dim("batch", min=1, max=64))
    program(random(3, 6))
    before = program.plans
    assert (before.made, before.for_all_sizes, before.laid_out) == (1, True, 1)
    monkeypatch.setattr(planner, "plan", _never)
    for batch in (1, 2, 7, 64, 3, 7):
        x = random(batch, 6)
        close(program(x), model(x))
        memory = program.memory(x)
        assert memory.arena == memory.lower_bound
    after = program.plans
    assert (after.made, after.laid_out, after.kept) == (1, 5, 5)
    assert after.reused == before.reused + 2 * 6 - 4


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("planned again")


def test_sizes_seen_before_are_not_planned() -> None:
    model, program = transformer()
    x = integers(50, 3, 9)
    close(program(x), model(x))
    before = program.plans
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner.Planner, "solve", _never)
        patch.setattr(planner.Planner, "plan", _never)
        close(program(x), model(x))
    after = program.plans
    assert (after.made, after.laid_out, after.reused) == (before.made, before.laid_out, before.reused + 1)


def test_a_plan_follows_from_program_and_sizes_alone() -> None:
    """Whatever was planned before, the plan is the same."""
    main: Any = transformer()[1]._executable  # pyright: ignore[reportPrivateUsage]
    used, bounds = main._main, main.constraints
    shapes = [used.sizes(dict(zip(bounds, values, strict=True))) for values in ((2, 2), (4, 24), (3, 7), (4, 3))]
    first = [used.planner.solve(sizes) for sizes in shapes]
    other = planner.Planner(used.lowered, bounds)
    assert [other.solve(sizes) for sizes in reversed(shapes)] == first[::-1]


@pytest.mark.parametrize("case", [bounded, transformer, halves])
def test_no_call_takes_more_than_the_worst_case(case: Any) -> None:
    model, program = case()
    worst = program.memory({})
    ends = [ends for _, ends in worst.ranges]
    if case is bounded:
        shapes = [(n, 6) for n in (1, 2, 31, 63, 64)]
    elif case is halves:
        shapes = [(2, n, 4) for n in range(8, 41)]
    else:
        random_ = chance.Random(0)
        shapes = [*product(*[(low, high) for low, high in sorted(ends, key=lambda e: e[1])])]
        shapes += [(random_.randint(1, 4), random_.randint(2, 24)) for _ in range(12)]
    calls = [integers(50, *shape) if case is transformer else random(*shape) for shape in shapes]
    taken = [program.memory(x) for x in calls]
    close(program(calls[-1]), model(calls[-1]))
    for figure in FIGURES:
        most = max(getattr(memory, figure) for memory in taken)
        assert most <= getattr(worst.memory, figure), figure
        if figure in worst.exact:
            assert most == getattr(worst.memory, figure), figure
    assert "peak" in worst.exact


def test_a_part_of_the_range() -> None:
    model, program = bounded()
    worst = program.memory({"batch": (2, 9)})
    assert worst.ranges[0][1] == (2, 9)
    assert worst.exact == frozenset(FIGURES)
    assert worst.memory == program.memory(random(9, 6))
    (symbol,) = [name for name, _ in worst.ranges]
    assert program.memory({symbol: (2, 9)}) == worst
    close(program(random(9, 6)), model(random(9, 6)))


def test_all_sizes_fixed() -> None:
    program = hotdesk.compile(seeded(mlp), (random(4, 6),))
    worst = program.memory({})
    assert (worst.memory, worst.ranges, worst.exact) == (program.memory(), (), frozenset(FIGURES))
    with pytest.raises(
        OptionError, match=r"bounds of 'batch': expected a size that varies \(none: all sizes are fixed\)"
    ):
        program.memory({"batch": (1, 2)})
    assert (program.plans.made, program.plans.for_all_sizes) == (1, False)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"batch": (0, 64)}, "bounds of 'batch': expected a range within 1 to 64, as declared, got 0 to 64"),
        ({"batch": (9, 3)}, "bounds of 'batch': expected a range within 1 to 64, as declared, got 9 to 3"),
        ({"bach": (1, 2)}, r"bounds of 'bach': expected a size that varies \(batch\), got no such size"),
        ({"batch": (1, None)}, "bounds of 'batch': expected a greatest value, got none"),
        ({"batch": 3}, r"bounds of 'batch': expected a pair of integers, .*, got 3.*\"batch\": \(1, 64\)"),
        ({"batch": (1.5, 2)}, r"bounds of 'batch': expected a pair of integers, .*, got \(1.5, 2\)"),
        ({"batch": (1, 2, 3)}, r"bounds of 'batch': expected a pair of integers, .*, got \(1, 2, 3\)"),
        ({"batch": "1-64"}, "bounds of 'batch': expected a pair of integers, .*, got '1-64'"),
        ({3: (1, 2)}, r"bounds of '3': expected a size that varies \(batch\), got no such size"),
    ],
)
def test_bounds_that_cannot_be(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        bounded()[1].memory(bounds)


def test_a_size_without_a_greatest_value_is_named() -> None:
    _, program = compiled(Dim("batch"))
    with pytest.raises(OptionError, match="bounds of 'batch': expected a greatest value.*\"batch\": \\(0, 64\\)"):
        program.memory({})
    assert "peak" in program.memory({"batch": (1, 1000)}).exact


def test_what_plans_take_is_not_underestimated() -> None:
    _, program = transformer()
    executable: Any = program._executable  # pyright: ignore[reportPrivateUsage]
    solve = InputSizes(program.inputs, executable.constraints).solve
    executable._main.layout(solve([(1, 3)]))
    tracemalloc.start()
    layouts = [executable._main.layout(solve([(2, length)])) for length in range(4, 20)]
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.3 * held < sum(layout.bytes for layout in layouts)
    assert sum(layout.bytes for layout in layouts) < 5 * held


@pytest.mark.parametrize("made", [compiled, transformer.__wrapped__, halves.__wrapped__])
def test_the_first_call_makes_no_effort(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples are planned and what can be is proven when a program is compiled; calls of new sizes lay out or pack."""
    model, program = made(Dim("batch", max=64)) if made is compiled else made()
    for name in ("plan", "good_for_all", "sure_loans", "borrowing_less", "read_stacking", "SizeProver", "OnCall"):
        monkeypatch.setattr(planner, name, _never)
    assert program.timings["plan"] > 0
    assert program.plans.made == 0
    for x in (inputs(model, 2, 11), inputs(model, 2, 9)) if made is not compiled else (random(3, 6), random(50, 6)):
        close(program(x), model(x))


def test_the_first_call_of_sizes_that_are_fixed_plans_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = seeded(mlp)
    program = hotdesk.compile(model, (random(4, 6),))
    monkeypatch.setattr(planner, "plan", _never)
    close(program(random(4, 6, seed=3)), model(random(4, 6, seed=3)))
    memory = program.memory()
    assert memory.arena == memory.lower_bound > 0


def test_sizes_that_no_memory_holds_are_no_sample() -> None:
    """A range may be declared far wider than what is used."""
    model, program = compiled(Dim("batch", max=1 << 58))
    close(program(random(7, 6)), model(random(7, 6)))
    assert "peak" in program.memory({"batch": (1, 1000)}).exact
    with pytest.raises(OptionError, match="less than .* bytes together"):
        program.memory({})


def test_checks_of_sizes_that_are_alike_are_made_once() -> None:
    """Each layer asks the same; comparing symbols takes longer than planning."""
    _, program = transformer()
    executable: Any = program._executable  # pyright: ignore[reportPrivateUsage]
    asked = [check.relation for check in executable._main.lowered.checks]
    made = [check.relation for check in executable._checks.all]
    assert made == list(dict.fromkeys(asked))
    assert len(made) < len(asked)


def test_an_effort_is_made_at_samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """New sizes are laid out; the local search, which takes a third of a second, is not run for them."""
    model, program = transformer()
    program.memory(integers(50, 1, 2))
    monkeypatch.setattr(portfolio, "search", _never)
    x = integers(50, 3, 11)
    close(program(x), model(x))
