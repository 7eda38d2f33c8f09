"""Calls that need more memory than there is: their figures are known, and the call ends in an error before anything runs."""

from __future__ import annotations

import pytest
import torch

import hotdesk
from hotdesk.errors import OutOfMemoryError

HUGE = 1 << 21
TiB = 1 << 40


class Outer(torch.nn.Module):
    """The sums of the rows of a product `[n, n]`, or all of it."""

    def __init__(self, whole: bool) -> None:
        super().__init__()
        self.whole = whole

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        product = torch.relu(a[:, None] @ a[None, :])
        return product if self.whole else product.sum(dim=1)


def compiled(whole: bool) -> hotdesk.Program:
    n = torch.export.Dim("n", min=2)
    return hotdesk.compile(Outer(whole), (torch.rand(8),), dynamic_shapes=({0: n},))


def test_what_a_call_would_take_is_known_without_taking_it() -> None:
    program = compiled(False)
    x = torch.rand(HUGE)
    assert program.memory(x).arena >= 16 * TiB
    assert "TiB" in program.report(x) or "GiB" in program.report(x)


@pytest.mark.parametrize(("whole", "what"), [(False, "the arena"), (True, "a tensor")])
def test_it_ends_in_an_error_and_smaller_calls_go_on(whole: bool, what: str) -> None:
    program = compiled(whole)
    with pytest.raises(OutOfMemoryError, match=rf"^{what}: expected .*HD402"):
        program(torch.rand(HUGE))
    x = torch.rand(5)
    torch.testing.assert_close(program(x), Outer(whole)(x))
    with pytest.raises(MemoryError):
        program(torch.rand(HUGE))
    torch.testing.assert_close(program(x), Outer(whole)(x))
