"""Programs that have to fit in a number of bytes: how they are made to, what that costs, and what is said where they cannot."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.errors import OptionError, PlanError
from hotdesk.explain import Decision, Reason
from hotdesk.passes.tensor.split_rows import SplitRows
from hotdesk.search import budget as stage
from tests.e2e.checking import Call, close, random, seeded
from tests.e2e.test_order import Branches

KIB = 1024


class Attention(nn.Module):
    """Scores of two heads in two batches are the peak: their arc tangents are taken, so no kernel computes it block by block."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        query, key, value = self.qkv(x).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        return (
            (torch.softmax(torch.atan(query @ key.transpose(-1, -2)), -1) @ value)
            .transpose(1, 2)
            .reshape(batch, length, width)
        )


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 256), nn.GELU(), nn.Linear(256, 16))


def convolutions() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 4, 3, padding=1), nn.MaxPool2d(2))


def _squares(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Products of a matrix with itself cannot be cut: rows of it are needed, and the whole. `y` is needed before and after."""
    y = torch.exp(x)
    s = y.mean(0)
    a = (x * s) @ x.T / 64
    b = a @ a / 64
    return s, b @ b + y


def _spread(x: torch.Tensor) -> torch.Tensor:
    """Sixty-four numbers for each of thirty-two in a row, whose number is fixed; that of rows is not."""
    wide = torch.softmax(x[:, :, None] * torch.linspace(0, 1, 64), -1)
    return (wide * wide).sum(-1)


def spent(program: hotdesk.Program) -> list[Decision]:
    return [decision for decision in program.decisions() if decision.reason is Reason.WITHIN_BUDGET]


# model, input, peak without a budget, the budget, the peak with it, what was done, operations more
CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int, Any, int, str, str]] = {
    "mlp in 2": (mlp, (64, 16), 68 * KIB, "40 KiB", 36 * KIB, "split", "in 2 parts: 3 operations more"),
    "mlp in 4": (mlp, (64, 16), 68 * KIB, 20 * KIB, 20 * KIB, "split", "in 4 parts: 9 operations more"),
    "attention": (Attention, (2, 64, 16), 104 * KIB, "80KiB", 72 * KIB, "split", "in 2 parts: 9 operations more"),
}


@pytest.mark.parametrize("name", CASES)
def test_in_parts(name: str) -> None:
    factory, shape, before, budget, after, outcome, cost = CASES[name]
    model, x = seeded(factory), random(*shape)
    assert hotdesk.compile(model, (x,)).memory().peak == before
    program = hotdesk.compile(model, (x,), budget=budget)
    assert program.memory().peak == after
    close(program(x), model(x))
    assert program.check(x).faults == ()
    (made,) = spent(program)
    assert (str(made.outcome), made.bytes) == (outcome, before - after)
    assert made.subject.endswith(cost)
    report = program.report()
    assert "1 split" in report
    assert f"budget     1 change for {before - after:,} bytes less at the peak: {cost.partition(': ')[2]}" in report
    assert len(report.splitlines()) <= 20


def test_a_program_with_a_loop() -> None:
    """Steps count what is in loops, too; what is behind this one is cut, but not the loop itself."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.steps = nn.LSTM(16, 32, batch_first=True)
            self.wide, self.narrow = nn.Linear(32, 256), nn.Linear(256, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.narrow(torch.relu(self.wide(self.steps(x)[0])))

    model, x = seeded(Net), random(4, 32, 16)
    program = hotdesk.compile(model, (x,), budget=120_000)
    assert program.memory().peak == 90_112
    close(program(x), model(x))
    assert program.check(x).faults == ()
    (made,) = spent(program)
    assert made.subject.endswith("in 2 parts: 3 operations more")
    with pytest.raises(PlanError, match=r"got 90,112 bytes, the least that is known to work.*At scf\.for"):
        hotdesk.compile(model, (x,), budget=60_000)


def test_a_batch_of_images_in_parts() -> None:
    model, x = seeded(convolutions), random(4, 3, 16, 16)
    before = hotdesk.compile(model, (x,)).memory().peak
    program = hotdesk.compile(model, (x,), options=hotdesk.Options(budget="100 KiB"))
    assert program.memory().peak == 86_016  # 73,728 of them are what lies between the convolutions for two images
    close(program(x), model(x))
    assert program.check(x).faults == ()
    assert {str(made.outcome) for made in spent(program)} == {"split"}
    assert sum(made.bytes for made in spent(program)) == before - program.memory().peak


def test_one_image_in_bands_of_rows() -> None:
    """Two convolutions and a pooling: what lies between them is never there as a whole, for some rows that are made twice."""
    model, x = seeded(convolutions), random(1, 3, 64, 64)
    before = hotdesk.compile(model, (x,)).memory().peak
    program = hotdesk.compile(model, (x,), budget="400 KiB")
    assert program.memory().peak <= 400 * KIB < before
    (made,) = spent(program)
    assert " bytes written again: " in made.subject
    close(program(x), model(x))
    assert program.check(x).faults == ()


@pytest.mark.parametrize("unrolled", [0, 4])
def test_many_bands_are_a_loop(unrolled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs as little as bands that are written out, since the result lends its memory to what the loop uses, too."""
    monkeypatch.setattr(stage, "SplitRows", partial(SplitRows, unrolled=unrolled))
    model, x = seeded(convolutions), random(1, 3, 192, 64)
    program = hotdesk.compile(model, (x,), options=hotdesk.Options(budget=150_000, keep_ir=True))
    assert ("scf.for" in program.ir("budget")) == bool(unrolled)
    assert program.memory().peak == 120_832
    (made,) = spent(program)
    assert made.subject.endswith("operations more")
    close(program(x), model(x))
    assert program.check(x).faults == ()


def test_few_ways_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bands of rows all along a chain of convolutions: parts are tried by doubling twice over, then by bisection."""
    stages: list[stage.WithinBudget] = []
    within = stage.WithinBudget.__call__

    def watched(self: stage.WithinBudget, *given: Any) -> None:
        stages.append(self)
        within(self, *given)

    monkeypatch.setattr(stage.WithinBudget, "__call__", watched)
    model, x = seeded(convolutions), random(1, 3, 64, 64)
    with pytest.raises(PlanError, match="the least that is known to work"):
        hotdesk.compile(model, (x,), budget=1)
    assert stages[0].trials <= 40


def _always(*_: object) -> bool:
    return True


def test_what_cannot_cost_less_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way taken, and so the program, is that of a search that tries everything."""
    trials: list[int] = []
    within = stage.WithinBudget.__call__

    def watched(self: stage.WithinBudget, *given: Any) -> None:
        within(self, *given)
        trials.append(self.trials)

    monkeypatch.setattr(stage.WithinBudget, "__call__", watched)
    model, x = seeded(Attention), random(2, 64, 16)
    few = hotdesk.compile(model, (x,), budget=85_000)
    monkeypatch.setattr(stage.WithinBudget, "_may_beat", _always)
    many = hotdesk.compile(model, (x,), budget=85_000)
    assert [(d.subject, d.outcome, d.bytes) for d in spent(few)] == [
        (d.subject, d.outcome, d.bytes) for d in spent(many)
    ]
    assert few.memory() == many.memory()
    assert trials[0] < trials[1]


def test_an_order_is_tried_first() -> None:
    model, x = seeded(Branches), random(16, 8)
    before = hotdesk.compile(model, (x,)).memory().peak
    program = hotdesk.compile(model, (x,), budget=before // 2)
    (made,) = spent(program)
    assert (str(made.outcome), made.bytes) == ("reordered", before - program.memory().peak)
    assert made.subject.endswith(": no operation more")
    close(program(x), model(x))


def test_a_value_made_again() -> None:
    model, x = Call(_squares).eval(), random(64, 64)
    before = hotdesk.compile(model, (x,)).memory().peak
    program = hotdesk.compile(model, (x,), budget=before - 1)
    assert program.memory().peak < before
    close(program(x), model(x))
    assert program.check(x).faults == ()
    (made,) = spent(program)
    assert (str(made.outcome), made.bytes) == ("recomputed", before - program.memory().peak)
    assert made.subject.endswith(": 1 operation more, 16384 bytes written again")


def test_a_budget_that_is_met_changes_nothing() -> None:
    model, x = seeded(mlp), random(64, 16)
    program = hotdesk.compile(model, (x,), budget="1 MiB")
    assert program.memory() == hotdesk.compile(model, (x,)).memory()
    assert spent(program) == []


def test_a_budget_that_is_too_small() -> None:
    model, x = seeded(mlp), random(64, 16)
    with pytest.raises(PlanError) as caught:
        hotdesk.compile(model, (x,), budget=4 * KIB)
    message = re.sub(r"\(/[^)]*/linear\.py:\d+\)", "(linear.py)", str(caught.value))
    assert message == (
        "the budget: expected at most 4,096 bytes for arena and results, got 5,120 bytes, the least that is known to work. "
        "No plan for what was found needs less than 5,120 bytes; the results alone take 4,096 bytes, whatever is done. "
        "At hotdesk.contract (linear.py) the arena has to hold 1,024 bytes: hotdesk.contract (linear.py) 1,024. [HD501]"
    )
    assert hotdesk.compile(model, (x,), budget=5 * KIB).memory().peak == 5 * KIB


def test_the_greatest_sizes_count() -> None:
    model, x = Call(_spread).eval(), random(3, 32)
    shapes = (({0: Dim("batch", min=1, max=8)},),)
    before = hotdesk.compile(model, (x,), dynamic_shapes=shapes).memory({}).memory.peak
    budget = before * 2 // 3
    program = hotdesk.compile(model, (x,), dynamic_shapes=shapes, budget=budget)
    worst = program.memory({"batch": (1, 8)})
    assert worst.memory.peak <= budget < before
    assert [str(made.outcome) for made in program.decisions(x) if made.reason is Reason.WITHIN_BUDGET] == ["split"]
    for batch in (1, 3, 8):
        x = random(batch, 32)
        assert program.memory(x).peak <= worst.memory.peak
        close(program(x), model(x))


def test_a_size_without_a_greatest_value() -> None:
    with pytest.raises(OptionError, match="option 'budget': expected a greatest value for the size 'batch', got none"):
        hotdesk.compile(seeded(mlp), (random(4, 16),), dynamic_shapes=({0: Dim("batch")},), budget="1 MiB")


def test_trials_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MOST_TRIALS", 1)
    with pytest.raises(PlanError, match="got 69,632 bytes, the least that is known to work"):
        hotdesk.compile(seeded(mlp), (random(64, 16),), budget="40 KiB")


@pytest.mark.parametrize("given", ["", "24 mebibytes", "-1", -1, "1e6", True])
def test_what_is_no_number_of_bytes(given: Any) -> None:
    with pytest.raises(OptionError, match="option 'budget': expected bytes such as 25165824 or '24 MiB', got"):
        hotdesk.Options(budget=given)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (0, 0),
        ("4096", 4096),
        ("24 MiB", 24 << 20),
        ("24MB", 24_000_000),
        ("1.5 GiB", 3 << 29),
        (".5kb", 500),
        ("7 b", 7),
    ],
)
def test_bytes_in_units(given: Any, wanted: int) -> None:
    assert hotdesk.Options(budget=given).budget_bytes == wanted
