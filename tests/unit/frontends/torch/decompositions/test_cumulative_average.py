"""Batch norms whose statistics are averages over all batches: results and state are eager's, call by call."""

from __future__ import annotations

import copy

import torch
from torch import nn

import hotdesk


def test_statistics_are_averages_over_all_batches() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3, momentum=None), nn.BatchNorm1d(3, momentum=None, affine=False)).train()
    eager = copy.deepcopy(model)
    batches = [torch.randn(5, 3, generator=torch.Generator().manual_seed(seed)) * (seed + 1) for seed in range(3)]
    program = hotdesk.compile(model, (batches[0],))
    for x in batches:
        with torch.no_grad():
            torch.testing.assert_close(program(x), eager(x))
        torch.testing.assert_close(model.state_dict(), eager.state_dict())
    assert model[0].num_batches_tracked == len(batches)
