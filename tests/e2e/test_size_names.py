"""Sizes of PyTorch models carry the names that users gave them; those without a name are told by an argument and its dim."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim

import hotdesk
from hotdesk.errors import HotdeskError

_BATCH = Dim("batch", min=2, max=64)
_DYNAMIC: Any = Dim.DYNAMIC


class _Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, int]:
        return torch.cat([torch.tanh(x), x]) @ y, 2 * x.shape[0]


def _compiled(dim: Any) -> hotdesk.Program:
    return hotdesk.compile(_Net(), (torch.randn(4, 8), torch.randn(8, 5)), dynamic_shapes={"x": {0: dim}, "y": None})


@pytest.mark.parametrize(
    ("dim", "name", "twice"), [(_BATCH, "batch", "2*batch"), (_DYNAMIC, "dim 0 of %x", "2*(dim 0 of %x)")]
)
def test_reports_and_specs(dim: Any, name: str, twice: str) -> None:
    program = _compiled(dim)
    x, y = torch.randn(6, 8), torch.randn(8, 5)
    got, number = program(x, y)
    torch.testing.assert_close(got, _Net()(x, y)[0])
    assert number == 12
    assert program.report(x, y).startswith(f"main ({name} = 6)\n")
    assert str(program.inputs[0]) == f"f32[{name}, 8]"
    assert str(program.results[0]) == f"f32[{twice}, 5]"


def test_refusals() -> None:
    program = _compiled(_BATCH)
    with pytest.raises(HotdeskError, match="expected 2 <= batch <= 64, got batch = 100"):
        program(torch.randn(100, 8), torch.randn(8, 5))
    with pytest.raises(HotdeskError, match=r"The whole tensor is f32\[batch, 8\]"):
        program(torch.randn(4, 9), torch.randn(8, 5))


def test_the_worst_case_is_asked_for_by_name() -> None:
    worst = _compiled(_BATCH).memory({"batch": (2, 10)})
    assert worst.ranges == (("batch", (2, 10)),)


def test_names_that_sympy_knows_or_python_keeps() -> None:
    for name in ("N", "S", "beta", "E", "zeta"):
        program = _compiled(Dim(name, min=2, max=64))
        x, y = torch.randn(3, 8), torch.randn(8, 5)
        torch.testing.assert_close(program(x, y)[0], _Net()(x, y)[0])
        assert f"main ({name} = 3)" in program.report(x, y)
