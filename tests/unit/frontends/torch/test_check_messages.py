"""What `torch._check` says is said by the calls that fail it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.errors import ExecutionError


def three(x: Tensor) -> Tensor:
    found = x.nonzero()
    torch._check(found.shape[0] == 3, lambda: "there have to be three")
    return found * 2


def few(x: Tensor) -> Tensor:
    count = (x > 0).sum().item()
    torch._check(count >= 1, lambda: "one at least")
    torch._check(count <= x.shape[0] - 1, lambda: f"{count} is all of {x.shape[0]}")
    return x[:count]


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (three, [1.0, 0.0, 0.0, 3.0], "there have to be three"),
        (few, [-1.0, -1.0, -1.0, -1.0], "one at least"),
        (few, [1.0, 1.0, 1.0, 1.0], "value of item is all of 4"),
    ],
)
def test_messages_are_told_with_their_lines(function: Callable[..., Any], given: list[float], message: str) -> None:
    program = hotdesk.compile(function, (torch.tensor([1.0, 0.0, 2.0, 3.0]),))
    with pytest.raises(ExecutionError) as caught:
        program(torch.tensor(given))
    assert f'("{message}")' in str(caught.value)
    assert __file__ in str(caught.value.where)


def test_a_message_of_a_number_that_the_check_does_not_have_is_not_told() -> None:
    """PyTorch's name of it would say nothing."""

    def counted(x: Tensor) -> tuple[Tensor, Tensor]:
        some, others = (x > 0).sum().item(), (x > 2).sum().item()
        torch._check(some >= 1, lambda: f"{some} above 0, {others} above 2")
        return x[:some], x[:others]

    program = hotdesk.compile(counted, (torch.tensor([1.0, 0.0, 2.0, 3.0]),))
    with pytest.raises(ExecutionError) as caught:
        program(torch.zeros(4))
    assert "(value of item) >= 1, got" in str(caught.value)
