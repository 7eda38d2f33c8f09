"""`one_hot` without a number of classes is as wide as the largest class tells."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

import hotdesk
from hotdesk.errors import ExecutionError


def encoded(x: Tensor) -> Tensor:
    return one_hot(x)


def test_as_many_classes_as_the_largest_tells() -> None:
    x = torch.tensor([[1, 4], [0, 2]])
    program = hotdesk.compile(encoded, (x,), options=hotdesk.Options(foreign=False))
    for given in (x, 0 * x, x + 3):
        torch.testing.assert_close(program(given), one_hot(given))
    with pytest.raises(ExecutionError, match="a class is negative"):
        program(x - 1)


def test_one_class() -> None:
    x = torch.tensor(2)
    torch.testing.assert_close(hotdesk.compile(encoded, (x,))(x), one_hot(x))
