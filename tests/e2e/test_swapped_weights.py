"""A model may be given other memory after it was compiled: the program goes on with what it was compiled for."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn

import hotdesk


def _other_type(model: nn.Module) -> None:
    model.to(torch.float64)


def _other_data(model: nn.Module) -> None:
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = torch.zeros(1)


def _other_parameters(model: nn.Module) -> None:
    other = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    model.load_state_dict(other, assign=True)


def _model(*, order: torch.memory_format = torch.contiguous_format) -> tuple[nn.Module, torch.Tensor]:
    """Its weights are large enough for the allocator to unmap what is freed, or to give it to the next who asks."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Conv2d(8, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 36, 300))
    model = cast("Any", layers.eval()).to(memory_format=order)
    return model, torch.randn(2, 8, 8, 8)


def _overwrite_free_memory(model: nn.Module) -> list[torch.Tensor]:
    gc.collect()
    sizes = {parameter.numel() for parameter in model.parameters()} | {300 * 64 * 36, 64 * 8 * 9, 300, 64}
    return [torch.full((size,), float("nan")) for size in sizes for _ in range(8)]


SWAPS = (_other_type, _other_data, _other_parameters)


@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("swap", SWAPS)
def test_memory_is_kept(swap: Callable[[nn.Module], None], order: torch.memory_format) -> None:
    model, x = _model(order=order)
    expected = model(x).detach()
    program = hotdesk.compile(model, (x,))
    swap(model)
    freed = _overwrite_free_memory(model)
    torch.testing.assert_close(torch.as_tensor(program(x)), expected)
    del freed


@pytest.mark.parametrize("swap", SWAPS)
def test_memory_is_kept_by_programs_of_the_cache(
    swap: Callable[[nn.Module], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "1")
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    model, x = _model()
    expected = model(x).detach()
    hotdesk.compile(model, (x,))
    program = hotdesk.compile(model, (x,))
    assert "bufferize" not in program.timings
    swap(model)
    freed = _overwrite_free_memory(model)
    torch.testing.assert_close(torch.as_tensor(program(x)), expected)
    del freed


def test_what_changes_in_place_is_seen() -> None:
    model, x = nn.Linear(300, 200), torch.randn(4, 300)
    program = hotdesk.compile(model, (x,))
    with torch.no_grad():
        model.weight.mul_(2)
    torch.testing.assert_close(torch.as_tensor(program(x)), model(x).detach())


class _Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sums = nn.Buffer(torch.zeros(100_000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sums += x
        return self.sums * 1


def test_state_that_is_swapped_is_left_alone() -> None:
    model, x = _Counter(), torch.ones(100_000)
    program = hotdesk.compile(model, (x,))
    torch.testing.assert_close(torch.as_tensor(program(x)), x)
    torch.testing.assert_close(model.sums, x)
    model.sums.data = torch.full((100_000,), 5.0)
    freed = [torch.full((100_000,), float("nan")) for _ in range(8)]
    torch.testing.assert_close(torch.as_tensor(program(x)), 2 * x)
    torch.testing.assert_close(model.sums, 5 * x)
    del freed
