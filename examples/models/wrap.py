"""Wrappers that turn a `transformers` model into a function from positional tensors to one tensor."""

from __future__ import annotations

import torch
from torch import nn


class _Wrapped(nn.Module):
    def __init__(self, model: nn.Module, *names: str, **fixed: object) -> None:
        """`names` are the keywords the positional inputs stand for; `fixed` keywords go along with every call."""
        super().__init__()
        self.model = model
        self.names = names
        self.fixed = fixed

    def _call(self, inputs: tuple[torch.Tensor, ...]):
        return self.model(**dict(zip(self.names, inputs, strict=True)), **self.fixed)


class Logits(_Wrapped):
    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self._call(inputs).logits


class LastHiddenState(_Wrapped):
    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self._call(inputs).last_hidden_state
