"""Where the largest elements of windows are, with what is infinite or no number in them, at no memory of its own."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

import hotdesk
from tests.e2e.checking import Call


@pytest.mark.parametrize("padding", [0, 1])
def test_places_are_pytorchs(padding: int) -> None:
    x = torch.randn(2, 3, 8, 10)
    x[0, 0, :4] = -torch.inf
    x[0, 1, 2:6, 3:5], x[1, 0] = torch.nan, torch.nan
    x[1, 2, 0, 0], x[1, 2, 7, 9], x[1, 2, 3, 3] = torch.inf, torch.nan, -torch.inf
    program = hotdesk.compile(Call(lambda x: F.max_pool2d(x, 3, 2, padding, return_indices=True)), (x,))
    torch.testing.assert_close(
        program(x), F.max_pool2d(x, 3, 2, padding, return_indices=True), rtol=0, atol=0, equal_nan=True
    )
    padded = 2 * 3 * (8 + 2 * padding) * (10 + 2 * padding) * 4
    assert program.memory(x).arena == (padded if padding else 0) + 128  # the window, of which only the sizes are read


def test_images_of_sizes_known_when_called() -> None:
    free = {0: Dim("n", max=9), 2: Dim("h", min=4, max=64), 3: Dim("w", min=4, max=64)}
    model = Call(lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True))
    program = hotdesk.compile(model, (torch.randn(2, 3, 8, 10),), dynamic_shapes={"args": (free,)})
    for size in ((2, 3, 8, 10), (1, 3, 5, 7)):
        x = torch.randn(size)
        x[0, 0], x[0, 1, 1, 2], x[0, 2, :3] = -torch.inf, torch.nan, -torch.inf
        torch.testing.assert_close(program(x), model(x), rtol=0, atol=0, equal_nan=True)


def test_a_step_of_training_goes_on_with_what_is_no_number() -> None:
    """Its gradients are where PyTorch's are; nothing is written in front of them."""

    def parameters(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3))
        x, y = torch.randn(2, 1, 8, 8), torch.tensor([0, 2])
        x[0, 0, 1, 1] = torch.nan
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if compiled:
            hotdesk.compile_step(model, nn.CrossEntropyLoss(), optimizer, (x, y))(x, y)
        else:
            nn.CrossEntropyLoss()(model(x), y).backward()
            optimizer.step()
        return [each.detach().clone() for each in model.parameters()]

    for got, want in zip(parameters(True), parameters(False), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True)
