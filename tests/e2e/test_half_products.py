"""Products of 16-bit floats, and what they are added to, beside eager PyTorch: how far both are from the exact result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

import hotdesk
from tests.e2e.checking import Call, random

HALVES = [torch.bfloat16, torch.float16]

WITH_A_SUMMAND: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "linear": (functional.linear, [(64, 96), (80, 96), (80,)]),
    "linear of one row": (functional.linear, [(1, 700), (333, 700), (333,)]),
    "linear of few rows": (functional.linear, [(3, 700), (333, 700), (333,)]),
    "linear of few products": (functional.linear, [(5, 3), (4, 3), (4,)]),
    "linear of rows in groups": (functional.linear, [(2, 17, 40), (31, 40), (31,)]),
    "addmm": (torch.addmm, [(64, 80), (64, 96), (96, 80)]),
    "addmm of a row": (torch.addmm, [(1, 80), (64, 96), (96, 80)]),
    "addmm of a column": (torch.addmm, [(64, 1), (64, 96), (96, 80)]),
    "addmm of a number": (torch.addmm, [(), (64, 96), (96, 80)]),
    "baddbmm": (torch.baddbmm, [(4, 24, 40), (4, 24, 96), (4, 96, 40)]),
}


def away(found: Any, exact: Any) -> float:
    return float((found.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("name", WITH_A_SUMMAND)
@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_a_product_and_what_it_is_added_to_are_rounded_once(dtype: torch.dtype, name: str) -> None:
    """As far from the exact sums as eager at most, of which none are in memory in 32 bits."""
    op, shapes = WITH_A_SUMMAND[name]
    args = tuple(random(*shape, dtype=dtype) for shape in shapes)
    program = hotdesk.compile(Call(op), args)
    exact = op(*(each.double() for each in args))
    assert away(program(*args), exact) <= 1.02 * away(op(*args), exact)
    assert program.memory(*args).arena == 0


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 1), (1, 0.25), (-0.3, 1.7), (2, 0)])
@pytest.mark.parametrize("name", ["addmm", "baddbmm"])
@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_factors_are_taken_before_the_sums_are_rounded(
    dtype: torch.dtype, name: str, alpha: float, beta: float
) -> None:
    """The sums alone are in memory in 32 bits."""
    op, shapes = WITH_A_SUMMAND[name]
    args = tuple(random(*shape, dtype=dtype) for shape in shapes)

    def scaled(*args: Any) -> Any:
        return op(*args, alpha=alpha, beta=beta)

    program = hotdesk.compile(Call(scaled), args)
    exact = scaled(*(each.double() for each in args))
    assert away(program(*args), exact) <= 1.02 * away(scaled(*args), exact)
    assert program.memory(*args).arena <= 4 * exact.numel()


@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_products_of_what_others_have_rounded(dtype: torch.dtype) -> None:
    """Each multiplies, as it is, what the one before has rounded, with nothing in between."""

    def chain(x: Any, first: Any, bias: Any, second: Any, third: Any) -> Any:
        return functional.linear(functional.linear(x, first, bias), second, bias) @ third

    args = tuple(random(*shape, dtype=dtype) for shape in ((20, 40), (40, 40), (40,), (40, 40), (40, 40)))
    exact = chain(*(each.double() for each in args))
    assert away(hotdesk.compile(Call(chain), args)(*args), exact) <= 1.02 * away(chain(*args), exact)
