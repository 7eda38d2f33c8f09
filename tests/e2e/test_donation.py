"""Donated inputs: what they lend and hold, whatever the sizes, and how they are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.analysis.allocations import lending
from hotdesk.checker.report import FaultKind
from hotdesk.errors import OptionError
from hotdesk.explain import Outcome, Reason
from hotdesk.passes.lower import function as lowering
from tests.e2e.checking import Call, close, random, seeded


class Narrowing(nn.Module):
    """A wide input that is dead after the first layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(96, 16), nn.ReLU(), nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def _elementwise(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) * 2 + 1


def _cached(cache: torch.Tensor, new: torch.Tensor, query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    cache = torch.slice_scatter(cache, new, 1, 5, 6)
    return cache, query @ cache.transpose(1, 2)


# What is lent and held


def test_a_dead_input_lends_its_memory() -> None:
    model, x = seeded(Narrowing), random(8, 96)
    kept, given = hotdesk.compile(model, (x,)), hotdesk.compile(model, (x,), donate="x")
    first, second = 8 * 16 * 4, 8 * 24 * 4
    assert kept.memory().arena == first + second
    assert given.memory().arena == given.memory().lower_bound == first
    assert (given.memory().donated, kept.memory().donated) == (x.nbytes, 0)
    lent = [line for line in given.buffers() if line.where == "lent by input 'x'"]
    assert sum(line.bytes for line in lent) == given.memory().lent == second
    notes = [d for d in given.decisions() if (d.outcome, d.reason) == (Outcome.LENT, Reason.DONATED)]
    assert sum(d.bytes for d in notes) == given.memory().lent
    assert "donated 3.00 KiB (3,072)" in given.report()
    for _ in range(2):
        donated = x.clone()
        close(given(donated), model(x))
        assert not torch.equal(donated, x)
    close(kept(x), model(x))


def test_a_state_is_updated_where_it_lies() -> None:
    cache, new, query = random(2, 16, 8), random(2, 1, 8, seed=1), random(2, 1, 8, seed=2)
    program = hotdesk.compile(Call(_cached), (cache, new, query), donate=0)
    state = cache.clone()
    updated, scores = program(state, new, query)
    wanted = _cached(cache, new, query)
    assert updated.data_ptr() == state.data_ptr()
    close(updated, wanted[0])
    close(scores, wanted[1])
    memory = program.memory()
    assert (memory.outputs, memory.peak, memory.donated) == (scores.nbytes, scores.nbytes, cache.nbytes)


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (5, 7)])
def test_a_result_lies_in_its_donated_input(shape: tuple[int, ...]) -> None:
    program = hotdesk.compile(Call(_elementwise), (random(*shape),), donate=True)
    x = random(*shape, seed=3)
    given = x.clone()
    result = program(given)
    close(result, _elementwise(x))
    assert result.data_ptr() == given.data_ptr()
    array = x.numpy().copy()
    result = program(array)
    assert isinstance(result, np.ndarray)
    assert result.shape == shape
    assert np.shares_memory(result, array) == bool(x.numel())
    close(torch.from_numpy(result), _elementwise(x))


def test_a_reshaped_result_lies_in_its_donated_input() -> None:
    program = hotdesk.compile(Call(lambda x: torch.relu(x).reshape(3, 8)), (random(4, 6),), donate=True)
    x = random(4, 6, seed=1)
    given = x.clone()
    close(program(given), torch.relu(x).reshape(3, 8))
    assert program.memory().peak == 0


def test_each_result_has_memory_of_its_own() -> None:
    program = hotdesk.compile(Call(lambda x: (x, torch.relu(x), x)), (random(4, 6),), donate=True)
    x = random(4, 6, seed=1)
    results = program(x.clone())
    for result, want in zip(results, (x, torch.relu(x), x), strict=True):
        close(result, want)
    assert len({result.data_ptr() for result in results}) == 3
    assert program.memory().outputs == 2 * x.nbytes


def test_weights_and_other_inputs_stay() -> None:
    model = seeded(Narrowing)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    program = hotdesk.compile(Call(lambda x, y: (model(x) + y[:, :4], y * 2)), (random(8, 96), random(8, 96)), donate=0)
    y = random(8, 96, seed=4)
    kept = y.clone()
    program(random(8, 96), y)
    assert torch.equal(y, kept)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_mixed_kinds() -> None:
    program = hotdesk.compile(Call(lambda x, y: (torch.relu(x), y + 1)), (random(4, 6), random(3)), donate=0)
    x = random(4, 6, seed=1)
    array = x.numpy().copy()
    first, second = program(array, torch.zeros(3))
    assert isinstance(first, torch.Tensor)
    assert first.data_ptr() == array.ctypes.data
    close(first, torch.relu(x))
    close(second, torch.ones(3))


# Sizes that vary


@pytest.mark.parametrize("most", [None, 64])
def test_sizes_that_vary(most: int | None) -> None:
    model, batch = seeded(Narrowing), Dim("batch", min=1, max=most)
    program = hotdesk.compile(model, (random(8, 96),), dynamic_shapes={"x": {0: batch}}, donate=0)
    for size in (1, 7, 64, 1):
        x = random(size, 96, seed=size)
        given = x.clone()
        assert program.memory(given).arena == size * 16 * 4
        close(program(given), model(x))
        assert program.check(x).clean
    assert program.plans.for_all_sizes
    if most:
        worst = program.memory({})
        assert (worst.memory.arena, worst.memory.donated) == (64 * 16 * 4, 64 * 96 * 4)
        assert worst.memory.lent >= program.memory(random(64, 96)).lent
        assert {"arena", "donated"} <= worst.exact


# Which inputs


def _nested(pair: Mapping[str, torch.Tensor], z: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
    return pair["a"] @ pair["b"] + z * scale


class Nested(nn.Module):
    def forward(self, pair: dict[str, torch.Tensor], z: torch.Tensor, *, scale: torch.Tensor) -> torch.Tensor:
        return _nested(pair, z, scale=scale)


@pytest.mark.parametrize(
    ("donate", "chosen"),
    [
        ((), []),
        (False, []),
        (0, ["pair_a", "pair_b"]),
        ("pair", ["pair_a", "pair_b"]),
        ("pair_b", ["pair_b"]),
        ((1, "scale"), ["z", "scale"]),
        (-1, ["scale"]),
        (True, ["pair_a", "pair_b", "z", "scale"]),
    ],
)
def test_names_and_positions(donate: Any, chosen: Sequence[str]) -> None:
    pair, z, scale = {"a": random(4, 4), "b": random(4, 4, seed=1)}, random(4, 4, seed=2), random(4, 4, seed=3)
    program = hotdesk.compile(Nested(), (pair, z), {"scale": scale}, donate=donate)
    assert [spec.name for spec in program.inputs if spec.donated] == list(chosen)
    copies = {name: value.clone() for name, value in pair.items()}
    close(program(copies, z.clone(), scale=scale.clone()), _nested(pair, z, scale=scale))


@pytest.mark.parametrize("donate", [7, "w", (0, "nobody"), [True], [None]])
def test_unknown_inputs_are_refused(donate: Any) -> None:
    with pytest.raises(OptionError, match="option 'donate'"):
        hotdesk.compile(Call(_elementwise), (random(3),), donate=donate)


def test_a_parameter_without_tensors_is_refused() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor, factor: int) -> torch.Tensor:
            return x * factor

    with pytest.raises(OptionError, match="a parameter with tensors in it"):
        hotdesk.compile(Scaled(), (random(3), 2), donate="factor")


# The memory checker


def test_the_checker_finds_memory_that_is_lent_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that begin some ops too early, until a buffer gets memory that is still read."""

    def twice(x: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ v).softmax(0) @ (x @ w).softmax(0)

    args = random(8, 8), random(8, 8, seed=1), random(8, 8, seed=2)
    program = hotdesk.compile(Call(twice), args, donate=0)
    report = program.check(*args)
    assert report.clean
    right = lending.windows
    found: list[FaultKind] = []
    for early in range(1, 8):

        def shifted(uses: Any, results: Any, donated: Any, end: int, early: int = early) -> dict[int, Any]:
            return {
                place: tuple((start - early, stop) if place in donated else (start, stop) for start, stop in free)
                for place, free in right(uses, results, donated, end).items()
            }

        monkeypatch.setattr(lowering, "windows", shifted)
        found = [fault.kind for fault in program.check(*args).faults]
        if found:
            break
    assert FaultKind.OVERLAP in found
    monkeypatch.setattr(lowering, "windows", right)
    assert program.check(*args).clean
