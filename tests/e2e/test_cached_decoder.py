"""A decoder with a static cache: the tokens of eager, no copy of the cache, and one arena for the prompt and for each token."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import hotdesk
from examples.models.cached import CachedDecoder
from hotdesk.errors import OptionError
from hotdesk.explain import Outcome
from hotdesk.sizes.size import evaluate
from tests.e2e.checking import random

PROMPT = 8


def decoder(length: int) -> tuple[CachedDecoder, dict[str, hotdesk.Program]]:
    torch.manual_seed(0)
    model = CachedDecoder(length, layers=2, vocabulary=100, hidden=128).eval().requires_grad_(False)
    start, tokens = torch.tensor(0), torch.zeros(1, PROMPT, dtype=torch.int64)
    entries = {"prefill": (model, (tokens, start)), "step": (model, (tokens[:, :1], start))}
    return model, hotdesk.compile_many(entries)


def generated(prefill, step, prompt: torch.Tensor, count: int) -> list[int]:
    token = prefill(prompt, torch.tensor(0)).argmax(-1)
    found = [int(token)]
    for position in range(PROMPT, PROMPT + count - 1):
        token = step(token, torch.tensor(position)).argmax(-1)
        found.append(int(token))
    return found


def test_tokens_are_those_of_eager() -> None:
    model, programs = decoder(PROMPT + 256)
    prompt = torch.randint(100, (1, PROMPT), generator=torch.Generator().manual_seed(1))
    where = [buffer.data_ptr() for buffer in model.buffers()]
    found = generated(programs["prefill"], programs["step"], prompt, 256)
    ours = [buffer.clone() for buffer in model.buffers()]
    with torch.no_grad():
        assert found == generated(model, model, prompt, 256)
    assert len(set(found)) > 5
    torch.testing.assert_close(ours, list(model.buffers()))
    assert where == [buffer.data_ptr() for buffer in model.buffers()]
    row = 64 * 4
    for name, tokens in (("prefill", PROMPT), ("step", 1)):
        program = programs[name]
        copies = [evaluate(each.bytes, {}) for each in program.decisions() if each.outcome is Outcome.COPIED]
        assert max(copies, default=0) <= 2 * tokens * row
        memory = program.memory()
        assert memory.state == 2 * 2 * (PROMPT + 256) * row
        assert memory.arena < memory.state
    assert programs["prefill"].arenas == programs["step"].arenas == 1


def test_the_arena_does_not_grow_with_the_cache() -> None:
    short, long = (decoder(length)[1]["step"].memory() for length in (64, 128))
    assert long.state == 2 * short.state
    assert (long.arena, long.peak) == (short.arena, short.peak)


class Two(nn.Module):
    """Adds to a total, or reads it."""

    def __init__(self, total: torch.Tensor, *, adding: bool) -> None:
        super().__init__()
        self.register_buffer("total", total)
        self._adding = adding

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._adding:
            self.total.add_(x)
        return torch.exp(self.total.sum()) * x


def test_what_one_changes_is_no_constant_for_another() -> None:
    total = torch.zeros(3)
    entries = {"add": (Two(total, adding=True), (random(3),)), "read": (Two(total, adding=False), (random(3),))}
    programs = hotdesk.compile_many(entries)
    assert not [each for each in programs["read"].decisions() if each.outcome is Outcome.PREPARED]
    x = torch.full((3,), 0.5)
    for _ in range(2):
        programs["add"](x)
        torch.testing.assert_close(programs["read"](x), torch.exp(total.sum()) * x)
    assert total.tolist() == [1.0] * 3
    assert programs["read"].memory().state == programs["add"].memory().state == 12


def test_one_arena_is_as_large_as_the_largest() -> None:
    def layers(width: int) -> nn.Module:
        return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 4))

    models = {"small": layers(16), "large": layers(512)}
    programs = hotdesk.compile_many({name: (model, (random(32, 8),)) for name, model in models.items()})
    for name in ("small", "large", "small", "small", "large"):
        x = random(32, 8, seed=len(name))
        with torch.no_grad():
            torch.testing.assert_close(programs[name](x), models[name](x))
    assert {program.arenas for program in programs.values()} == {1}
    assert [program.name for program in programs.values()] == ["small", "large"]


def test_entries_are_tuples() -> None:
    with pytest.raises(OptionError, match="entry 'a' of compile_many"):
        hotdesk.compile_many({"a": nn.ReLU()})  # pyright: ignore[reportArgumentType]
