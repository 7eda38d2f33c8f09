"""`nn.CrossMapLRN2d` is eager PyTorch's, in programs and in steps of training."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.errors import HotdeskError
from hotdesk.frontends.torch.decompositions.cross_map import cross_map_norm


@pytest.mark.parametrize("channels", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 9])
def test_values_and_gradients_of_windows_of_all_sizes(channels: int, size: int) -> None:
    torch.manual_seed(0)
    x, weights = torch.randn(2, channels, 3, 4, requires_grad=True), torch.randn(2, channels, 3, 4)
    made, eager = cross_map_norm(x, size, 0.7, 0.6, 1.5), nn.CrossMapLRN2d(size, 0.7, 0.6, 1.5)(x)
    torch.testing.assert_close(made, eager)
    if size > 1:  # PyTorch has no gradient of windows of one map
        torch.testing.assert_close(*(torch.autograd.grad((each * weights).sum(), x) for each in (made, eager)))


@pytest.mark.parametrize("size", [1, 4, 5])
def test_programs(size: int) -> None:
    norm, x = nn.CrossMapLRN2d(size, alpha=0.7, beta=0.6, k=1.5), torch.randn(2, 8, 3, 4)
    torch.testing.assert_close(hotdesk.compile(norm, (x,))(x), norm(x))


def test_eager_pytorch_is_left_as_it_was() -> None:
    norm, x = nn.CrossMapLRN2d(3), torch.randn(2, 4, 3, 3, requires_grad=True)
    hotdesk.compile(norm, (x.detach(),))
    assert "CrossMapLRN2d" in str(norm(x).grad_fn)


def test_a_step_of_training() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.CrossMapLRN2d(5, alpha=0.5), nn.Flatten(), nn.Linear(8 * 16, 2))
    other, loss = copy.deepcopy(model), nn.MSELoss()
    x, y = torch.randn(4, 3, 6, 6), torch.randn(4, 2)
    step = hotdesk.compile_step(model, loss, torch.optim.SGD(model.parameters(), lr=0.1), (x, y))
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        expected = loss(other(x), y)
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, y), expected.detach())
    for mine, eager in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, eager)


def test_other_than_four_dims() -> None:
    x = torch.randn(4, 3, 3)
    with pytest.raises(ValueError, match="4D"):
        nn.CrossMapLRN2d(3)(x)
    with pytest.raises(HotdeskError):
        hotdesk.compile(nn.CrossMapLRN2d(3), (x,))
