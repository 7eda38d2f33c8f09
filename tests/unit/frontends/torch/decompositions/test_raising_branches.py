"""A branch on a tensor one way of which raises goes the other way, which each call checks.

PYTEST_DONT_REWRITE: pytest makes other branches of assertions.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import hotdesk
from hotdesk.errors import DataDependentShapeError, ExecutionError


def asserted(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all()
    return x.log()


def asserted_with_words(x: torch.Tensor) -> torch.Tensor:
    assert x.min() > 0, f"of {x.shape[0]} elements"
    return x.log()


def raised(x: torch.Tensor) -> torch.Tensor:
    if (x <= 0).any():
        raise ValueError(f"not positive: {x}")
    return x.log()


def raised_by_either(x: torch.Tensor) -> torch.Tensor:
    if torch.min(x) <= 0 or torch.max(x) > 100:
        raise ValueError
    return x.log()


def raised_unless(x: torch.Tensor) -> torch.Tensor:
    if not torch.all(x > 0):
        raise ValueError("not positive")
    return x.log()


def raised_at_the_end(x: torch.Tensor) -> torch.Tensor:
    if x.min() > 0:
        return x.log()
    raise ValueError("not positive")


def of_a_number(x: torch.Tensor) -> torch.Tensor:
    if x.clamp(max=0).sum():
        raise ValueError("not positive")
    return x.log()


def a_loss(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return asserted(x)


@pytest.mark.parametrize(
    "model",
    [
        asserted,
        asserted_with_words,
        raised,
        raised_by_either,
        raised_unless,
        raised_at_the_end,
        of_a_number,
        a_loss,
    ],
)
def test_each_call_checks_what_does_not_raise(model: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.tensor([0.5, 2.0, 3.0])
    program = hotdesk.compile(model, (x,))
    torch.testing.assert_close(program(x), model(x))
    with pytest.raises(ExecutionError, match=r"raises.*test_raising_branches\.py:\d+"):
        program(-x)
    torch.testing.assert_close(program(2 * x), model(2 * x))


def both_go_on(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).all():
        return x.log()
    return x


def caught(x: torch.Tensor) -> torch.Tensor:
    try:
        if (x <= 0).any():
            raise ValueError
    except ValueError:
        return x
    return x.log()


def kept(x: torch.Tensor) -> torch.Tensor:
    is_positive = bool((x > 0).all())
    return x.log() if is_positive else x


@pytest.mark.parametrize("model", [both_go_on, caught, kept])
def test_other_branches_are_refused(model: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with pytest.raises(DataDependentShapeError):
        hotdesk.compile(model, (torch.ones(3),))


def test_values_that_are_known_are_asked() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        if torch.tensor(2.0) < 0:
            raise ValueError
        assert torch.tensor(True)
        return x + 1

    program = hotdesk.compile(model, (torch.ones(3),))
    torch.testing.assert_close(program(torch.ones(3)), torch.full((3,), 2.0))
