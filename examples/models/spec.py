"""What an example model is: how to build it, what to feed it, and how closely its results must match eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

BUILD_SEED = 0
INPUT_SEED = 1


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model with random weights and inputs to match. Two calls of `build` or of `inputs` give equal numbers.

    `factory` makes the module under a fixed seed; `sample(batch, generator)` draws one tuple of positional inputs.
    `rtol` and `atol` bound the difference to eager results that float32 rounding in another order explains.
    """

    name: str
    title: str
    factory: Callable[[], torch.nn.Module] = field(repr=False)
    sample: Callable[[int, torch.Generator], tuple[torch.Tensor, ...]] = field(repr=False)
    batch: int = 1
    dynamic_shapes: dict[str, Any] | None = None
    rtol: float = 1e-3
    atol: float = 1e-4

    def build(self) -> torch.nn.Module:
        """The module in eval mode, without gradients; the caller's random state is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(BUILD_SEED)
            return self.factory().eval().requires_grad_(False)

    def inputs(self, batch: int | None = None) -> tuple[torch.Tensor, ...]:
        """Positional inputs for `batch` samples, or for the model's usual batch."""
        generator = torch.Generator().manual_seed(INPUT_SEED)
        return self.sample(self.batch if batch is None else batch, generator)


def normal(*shape: int) -> Callable[[int, torch.Generator], tuple[torch.Tensor, ...]]:
    """A sampler of one float32 input of shape (batch, *shape)."""
    return lambda batch, generator: (torch.randn(batch, *shape, generator=generator),)


def token_ids(length: int, vocabulary: int) -> Callable[[int, torch.Generator], tuple[torch.Tensor, ...]]:
    """A sampler of one int64 input of shape (batch, length) with values below `vocabulary`."""
    return lambda batch, generator: (torch.randint(vocabulary, (batch, length), generator=generator),)
