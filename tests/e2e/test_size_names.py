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


class _Nested(torch.nn.Module):
    def forward(self, x: torch.Tensor, more: dict[str, list[torch.Tensor]]) -> torch.Tensor:
        return torch.cat([x, *more["rows"]]).exp()


def test_exported_programs_keep_names() -> None:
    """Of arguments within others too, and the root of a multiple of a size."""
    half: Any = Dim("half", min=1, max=32)
    args = torch.randn(4, 8), {"rows": [torch.randn(5, 8), torch.randn(6, 8)]}
    shapes = {"x": {0: _BATCH}, "more": {"rows": [{0: _DYNAMIC}, {0: 2 * half}]}}
    program = hotdesk.compile(torch.export.export(_Nested(), args, dynamic_shapes=shapes))
    assert program.report(*args).startswith("main (batch = 4, dim 0 of %more_rows_0 = 5, half = 3)\n")
    assert [str(spec) for spec in program.inputs] == [
        "f32[batch, 8]",
        "f32[dim 0 of %more_rows_0, 8]",
        "f32[2*half, 8]",
    ]
    torch.testing.assert_close(program(*args), _Nested()(*args))
    with pytest.raises(HotdeskError, match="expected 2 <= batch <= 64, got batch = 100"):
        program(torch.randn(100, 8), args[1])


@pytest.mark.parametrize("named_first", [True, False])
def test_sizes_that_turn_out_equal_have_the_name_of_either(named_first: bool) -> None:
    class Sum(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    shapes: Any = ({0: _BATCH}, {0: Dim.AUTO}) if named_first else ({0: Dim.AUTO}, {0: _BATCH})
    program = hotdesk.compile(Sum(), (torch.randn(4, 8), torch.randn(4, 8)), dynamic_shapes=shapes)
    assert [str(spec) for spec in program.inputs] == ["f32[batch, 8]", "f32[batch, 8]"]
