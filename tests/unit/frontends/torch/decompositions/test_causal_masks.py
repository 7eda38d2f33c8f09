"""Masks of `nn.TransformerEncoder` and `nn.TransformerDecoder` that nothing is said of, in programs and in steps."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import hotdesk
from tests.e2e.checking import agree, close, random

CAUSAL = nn.Transformer.generate_square_subsequent_mask(5)
BAND = CAUSAL + CAUSAL.flip(0, 1)[:, [1, 2, 3, 4, 4]]
MASKS = {"causal": CAUSAL, "truths": CAUSAL < 0, "another": BAND, "each head": torch.stack([CAUSAL, BAND] * 3)}


class Decoder(nn.Module):
    """A decoder layer that attends to its own input."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layers(x, x + 1, tgt_mask=mask, memory_mask=mask)


class Encoder(nn.Module):
    """An encoder layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layers(x, mask=mask)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("layers", [Encoder, Decoder])
def test_a_mask_that_nothing_is_said_of(layers: type[nn.Module], name: str) -> None:
    torch.manual_seed(0)
    agree(layers(), (random(3, 5, 8), MASKS[name]))


def test_a_mask_in_a_step_of_training() -> None:
    torch.manual_seed(0)
    model, x, target = Decoder(), random(3, 5, 8), random(3, 5, 8, seed=4)
    like = copy.deepcopy(model)
    step = hotdesk.compile_step(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1), (x, CAUSAL, target))
    optimizer = torch.optim.SGD(like.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(like(x, CAUSAL), target)
        loss.backward()
        optimizer.step()
        close(step(x, CAUSAL, target), loss)
