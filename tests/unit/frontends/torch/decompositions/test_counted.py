"""Ops whose sizes PyTorch finds out from values, though they follow from sizes."""

from __future__ import annotations

import pytest
import torch

import hotdesk


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize(("chosen", "repeated"), [(1, False), (2, False), (3, True), (3, False)])
def test_combinations(count: int, chosen: int, repeated: bool) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.combinations(x, chosen, with_replacement=repeated)

    x = torch.arange(count) * 1.5
    result, expected = hotdesk.compile(model, (x,))(x), model(x)
    assert result.shape == expected.shape
    assert torch.equal(result, expected)
