"""Triangular systems taken apart, beside PyTorch's own: sides, batches, units on the diagonal, determinants of nothing."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.frontends.torch.decompositions.composed import COMPOSED
from tests.e2e.checking import Call, random

aten: Any = torch.ops.aten


@pytest.mark.parametrize(("upper", "left", "unit"), itertools.product((False, True), repeat=3))
def test_triangular_systems(upper: bool, left: bool, unit: bool) -> None:
    op = aten.linalg_solve_triangular.default
    for rows, one, other in ((4, (), ()), (1, (), ()), (3, (2,), ()), (3, (), (2,)), (3, (2, 1), (3,))):
        matrix = random(*one, rows, rows) + 3 * torch.eye(rows)
        right = random(*other, *((rows, 2) if left else (2, rows)))
        options = {"upper": upper, "left": left, "unitriangular": unit}
        torch.testing.assert_close(
            COMPOSED[op](matrix, right, **options), op(matrix, right, **options), check_stride=False
        )
    assert COMPOSED[op](torch.eye(17), torch.ones(17, 1), upper=upper) is NotImplemented


@pytest.mark.parametrize(("upper", "transpose", "unit"), itertools.product((False, True), repeat=3))
def test_old_triangular_systems(upper: bool, transpose: bool, unit: bool) -> None:
    op = aten.triangular_solve.default
    matrix, right = random(2, 3, 3) + 3 * torch.eye(3), random(2, 3, 2)
    got, wanted = COMPOSED[op](right, matrix, upper, transpose, unit), op(right, matrix, upper, transpose, unit)
    torch.testing.assert_close(got, tuple(wanted), check_stride=False)


def test_a_zero_on_the_diagonal() -> None:
    matrix, right = torch.tensor([[1.0, 0.0], [2.0, 0.0]]), torch.tensor([[1.0], [5.0]])
    got = COMPOSED[aten.linalg_solve_triangular.default](matrix, right, upper=False)
    torch.testing.assert_close(got, torch.linalg.solve_triangular(matrix, right, upper=False))


def test_compiled() -> None:
    def solved(matrix: torch.Tensor, right: torch.Tensor) -> Any:
        nothing = matrix[:0, :0]
        return (
            torch.linalg.solve_triangular(matrix, right, upper=True),
            torch.linalg.det(nothing),
            torch.linalg.slogdet(nothing),
        )

    args = (random(4, 4) + 3 * torch.eye(4), random(4, 2))
    program = hotdesk.compile(Call(solved), args, options=hotdesk.Options(foreign=False))
    got: Any = program(*args)
    wanted = solved(*args)
    torch.testing.assert_close(got[:2], wanted[:2])
    torch.testing.assert_close(tuple(got[2]), tuple(wanted[2]))
