"""Places that a tensor of one number tells are compiled under `torch.compile`, and reads that have to be views are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from hotdesk.torch_compile.counts import FallbackWarning
from tests.e2e.checking import close, random


def _row(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    x[pos] = given[0, 0]
    return x + 0


def _column(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    x[:, pos] = given[:, 0]
    return x + 0


def _behind_a_number(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    x[0, ..., pos] = given[0, :, 0].double()
    x[:, pos, 1:] = 2.5
    return x + 0


def _between(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    x[:, pos] = x[:, 0]
    x[:, 0] = x[:, pos] * 2
    return x[pos, pos] + given[None, pos, 1:, ..., None, 0].sum()


def _read_before(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    doubled = x[:, pos].unsqueeze(1) * 2
    x.mul_(3)
    return doubled + given


def _step(x: torch.Tensor, pos: torch.Tensor, given: torch.Tensor) -> Any:
    x[:, :, pos] = given[:, :, 0]
    return torch.softmax(given @ x.mT, -1) @ x


@pytest.mark.parametrize("function", [_row, _column, _behind_a_number, _between, _read_before, _step])
def test_compiled(function: Callable[..., Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="hotdesk", options={"fallback": False})
    for place in (0, 1, -1):
        given, pos = random(2, 4, 3), torch.tensor(place)
        ours, theirs = random(2, 4, 3, seed=1), random(2, 4, 3, seed=1)
        close(compiled(ours, pos, given), function(theirs, pos, given))
        close(ours, theirs)


def _returned(x: torch.Tensor, pos: torch.Tensor) -> Any:
    return x[:, pos].t()


def _written_through(x: torch.Tensor, pos: torch.Tensor) -> Any:
    torch.nn.functional.relu(x[:, pos], True)
    return x * 1


def _written_as_a_result(x: torch.Tensor, pos: torch.Tensor) -> Any:
    torch.add(x[:, 0], 1, out=x[:, pos])
    return x * 1


def _added(x: torch.Tensor, pos: torch.Tensor) -> Any:
    x[pos, pos] += 1
    return x * 1


def _changed_before_use(x: torch.Tensor, pos: torch.Tensor) -> Any:
    column = x[:, pos]
    x[:, 0] = 7
    x[:, pos] = x[:, 0]
    return column * 2


@pytest.mark.parametrize("function", [_returned, _written_through, _written_as_a_result, _added, _changed_before_use])
@pytest.mark.filterwarnings("ignore", category=FallbackWarning)
def test_as_in_eager_where_a_view_is_wanted(function: Callable[..., Any]) -> None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend="hotdesk")
    ours, theirs = random(2, 4, 3), random(2, 4, 3)
    found, expected = compiled(ours, torch.tensor(1)), function(theirs, torch.tensor(1))
    close(found, expected)
    for each in (found, expected):
        each.add_(1)
    close(ours, theirs)


def test_gradients() -> None:
    torch.compiler.reset()

    def function(x: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[:, pos] = x[:, 0] * x[:, pos]
        return y.square().sum()

    compiled = torch.compile(function, backend="hotdesk", options={"fallback": False})
    ours, theirs = (random(2, 4, 3).requires_grad_() for _ in range(2))
    compiled(ours, torch.tensor(2)).backward()
    function(theirs, torch.tensor(2)).backward()
    close(ours.grad, theirs.grad)


def test_places_outside_are_refused() -> None:
    torch.compiler.reset()
    compiled = torch.compile(_column, backend="hotdesk", options={"fallback": False})
    compiled(random(2, 4, 3), torch.tensor(1), random(2, 4, 3))
    with pytest.raises(Exception, match="4"):
        compiled(random(2, 4, 3), torch.tensor(4), random(2, 4, 3))
