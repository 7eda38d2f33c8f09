"""How one architecture of `transformers` is made small: its class, its configuration, its inputs, and the model from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Inputs = Mapping[str, torch.Tensor]

VOCABULARY, LENGTH, BATCH = 99, 12, 2
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
SPECIAL: dict[str, Any] = {"vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


@dataclass(frozen=True, slots=True)
class Architecture:
    """One architecture of `transformers` with few and narrow layers.

    Attributes:
        model: name of the class in `transformers`.
        config: what its configuration is made with.
        inputs: makes what the model is called with, by name.
        fixed: arguments of each call that are no tensors.
        unexported: words of torch.export's reason, for an architecture that it refuses.
    """

    model: str
    config: Mapping[str, Any]
    inputs: Callable[[], Inputs]
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unexported: str | None = None

    def made(self) -> nn.Module:
        """The model in eval mode, with weights that follow from a fixed seed and none of which is zero or one throughout."""
        import transformers

        kind: Any = getattr(transformers, self.model)
        torch.manual_seed(0)
        model = kind(kind.config_class(**self.config)).eval().requires_grad_(False)
        for weight in model.parameters():
            if weight.is_floating_point():
                weight.add_(torch.randn_like(weight), alpha=0.05)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.5)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
        return _Tensors(model, dict(self.fixed))

    def given(self) -> dict[str, torch.Tensor]:
        """What the model is called with; the same each time."""
        torch.manual_seed(1)
        return dict(self.inputs())


class _Tensors(nn.Module):
    """A model whose results are the tensors among its outputs, by name: caches are objects of `transformers`."""

    def __init__(self, model: nn.Module, fixed: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.fixed = model, fixed

    def forward(self, **inputs: torch.Tensor) -> dict[str, Any]:
        outputs = self.model(**inputs, **self.fixed)
        return {name: value for name, value in outputs.items() if _is_of_tensors(value)}


def _is_of_tensors(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) > 0 and all(map(_is_of_tensors, value))
    return isinstance(value, torch.Tensor)


def ids(length: int = LENGTH, below: int = VOCABULARY) -> torch.Tensor:
    """Token ids, none of them a special one."""
    return torch.randint(3, below, (BATCH, length))


def mask(length: int = LENGTH) -> torch.Tensor:
    """A mask that hides the last three tokens of the second row."""
    attended = torch.ones(BATCH, length, dtype=torch.int64)
    attended[1, -3:] = 0
    return attended


def tokens() -> Inputs:
    """Token ids alone."""
    return {"input_ids": ids()}


def masked_tokens() -> Inputs:
    """Token ids of which some are padding."""
    return {"input_ids": ids(), "attention_mask": mask()}


def image(size: int = 32, channels: int = 3) -> Callable[[], Inputs]:
    """Square images."""
    return lambda: {"pixel_values": torch.randn(BATCH, channels, size, size)}


def waves(length: int) -> Callable[[], Inputs]:
    """Sound as samples of one channel."""
    return lambda: {"input_values": torch.randn(BATCH, length)}
