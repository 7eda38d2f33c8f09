"""Special functions taken apart: beside PyTorch's in f64 on ranges, and beside its own f32 where functions end."""

# mpmath has no annotations.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.frontends.torch.decompositions.bessel import BESSEL
from hotdesk.frontends.torch.decompositions.composed import COMPOSED
from hotdesk.frontends.torch.decompositions.fits import EXACT, Fit
from hotdesk.frontends.torch.decompositions.polynomials import POLYNOMIALS
from hotdesk.frontends.torch.decompositions.special import SPECIAL
from tests.e2e.checking import Call

aten: Any = torch.ops.aten
OURS: dict[Any, Callable[..., Any]] = {**SPECIAL, **BESSEL, **POLYNOMIALS}

UNARY: dict[Any, tuple[float, float, Callable[[Any], Any]]] = {
    aten.lgamma.default: (-19.63, 60, lambda x: EXACT.log(abs(EXACT.gamma(x)))),
    aten.digamma.default: (-19.63, 60, EXACT.digamma),
    aten.erfinv.default: (-1, 1, EXACT.erfinv),
    aten.special_ndtri.default: (0, 1, lambda x: EXACT.sqrt(2) * EXACT.erfinv(2 * x - 1)),
    aten.special_erfcx.default: (-9, 60, lambda x: EXACT.exp(x * x) * EXACT.erfc(x)),
    aten.special_bessel_j0.default: (-40, 40, lambda x: EXACT.besselj(0, x)),
    aten.special_bessel_j1.default: (-40, 40, lambda x: EXACT.besselj(1, x)),
    aten.special_bessel_y0.default: (0, 40, lambda x: EXACT.bessely(0, x)),
    aten.special_bessel_y1.default: (0, 40, lambda x: EXACT.bessely(1, x)),
    aten.special_spherical_bessel_j0.default: (-40, 40, lambda x: EXACT.sin(x) / x),
    aten.i0.default: (-80, 80, lambda x: EXACT.besseli(0, x)),
    aten.special_i0e.default: (-200, 200, lambda x: EXACT.besseli(0, x) * EXACT.exp(-abs(x))),
    aten.special_i1.default: (-80, 80, lambda x: EXACT.besseli(1, x)),
    aten.special_i1e.default: (-200, 200, lambda x: EXACT.besseli(1, x) * EXACT.exp(-abs(x))),
    aten.special_modified_bessel_i0.default: (-80, 80, lambda x: EXACT.besseli(0, x)),
    aten.special_modified_bessel_i1.default: (-80, 80, lambda x: EXACT.besseli(1, x)),
    aten.special_modified_bessel_k0.default: (0, 80, lambda x: EXACT.besselk(0, x)),
    aten.special_modified_bessel_k1.default: (0, 80, lambda x: EXACT.besselk(1, x)),
    aten.special_scaled_modified_bessel_k0.default: (0, 80, lambda x: EXACT.besselk(0, x) * EXACT.exp(x)),
    aten.special_scaled_modified_bessel_k1.default: (0, 80, lambda x: EXACT.besselk(1, x) * EXACT.exp(x)),
    aten.special_airy_ai.default: (-20, 20, EXACT.airyai),
}
"""Functions of one number: a range, and the function with 40 digits."""

NEAR = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-38, -1e-38, 1e-10, -1e-10, 0.5, -0.5, 1, -1, 2, -2, 3, -8, 9)
ENDS = (*NEAR, 88, 90, 93, -90, 100, -100, 1e6, 1e10, 1e20, 1e36, 1e38)


@pytest.mark.parametrize("op", UNARY, ids=str)
def test_rounded_once(op: Any) -> None:
    low, high, function = UNARY[op]
    small = torch.logspace(-7, -1, 12)
    x = torch.cat([torch.linspace(low, high, 121)[1:-1] + 1e-3, low + small, high - small])
    x = x[::8] if "_k" in str(op) else x  # of which 40 digits take long
    wanted = torch.tensor([float(function(EXACT.mpf(each.item()))) for each in x])
    got = OURS[op](x)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, wanted, rtol=1.2e-7, atol=1e-37)


@pytest.mark.parametrize("op", UNARY, ids=str)
def test_ends_as_pytorch_has_them(op: Any) -> None:
    x = torch.tensor(ENDS)
    waves = ("bessel_j", "bessel_y", "airy")  # whose phases PyTorch loses in f32 far from zero
    if any(name in str(op) for name in waves):
        x = x[torch.isinf(x) | torch.isnan(x) | (torch.abs(x) <= 100)]
    torch.testing.assert_close(OURS[op](x), op(x), rtol=2e-5, atol=2e-4, equal_nan=True)


@pytest.mark.parametrize("op", UNARY, ids=str)
def test_integers_become_floats_and_f64_is_left_alone(op: Any) -> None:
    for x in (torch.arange(-3, 12), torch.tensor([True, False])):
        torch.testing.assert_close(OURS[op](x), op(x), rtol=2e-5, atol=1e-6, equal_nan=True)
    assert OURS[op](torch.ones(2, dtype=torch.float64)) is NotImplemented
    assert OURS[op](torch.ones(2, dtype=torch.float16)).dtype == torch.float16


@pytest.mark.parametrize("order", range(7))
def test_derivatives_of_digamma(order: int) -> None:
    x = torch.cat(
        [torch.linspace(-12.03, 40, 997), torch.tensor([0.0, -0.0, -1.0, -7.0, 1e-6, 1e6, math.nan, math.inf])]
    )
    got = aten.digamma(x) if order == 0 else OURS[aten.polygamma.default](order, x)
    torch.testing.assert_close(got, aten.polygamma(order, x), rtol=1e-4, atol=1e-5, equal_nan=True)


def test_zeta_of_both_signs_and_of_numbers() -> None:
    zeta = OURS[aten.special_zeta.default]
    orders = torch.tensor([0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 20.0, math.inf, math.nan, -1.0]).unsqueeze(1)
    q = torch.tensor(
        [0.0, 1e-6, 0.3, 1.0, 2.0, 9.5, 1e3, 1e20, math.inf, -math.inf, math.nan, -1.0, -0.25, -3.75, -20.3]
    )
    torch.testing.assert_close(zeta(orders, q), aten.special_zeta(orders, q), rtol=1e-4, atol=1e-6, equal_nan=True)
    torch.testing.assert_close(zeta(3, q), aten.special_zeta(3, q), rtol=1e-4, atol=1e-6, equal_nan=True)
    whole = torch.arange(-2, 5)
    torch.testing.assert_close(zeta(whole, 2), aten.special_zeta(whole, 2), equal_nan=True)


def test_complement_of_the_error_function_of_integers() -> None:
    for x in (torch.arange(-4, 5), torch.tensor([True, False])):
        torch.testing.assert_close(COMPOSED[aten.erfc.default](x), torch.special.erfc(x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("op", [op for op in POLYNOMIALS if "x_scalar" not in str(op)], ids=str)
def test_polynomials_of_all_degrees(op: Any) -> None:
    x = torch.cat(
        [torch.linspace(-3, 3, 241), torch.tensor([math.inf, -math.inf, 1e10, -1e10, 1e30, 1 + 1e-6, 1 - 1e-6])]
    )
    for degree in (-2, -0.5, 0, 0.9, 1, 1.5, 2, 3, 4, 7, 9, 12, 60):
        n: Any = torch.full_like(x, degree) if op._overloadname == "default" else degree
        torch.testing.assert_close(POLYNOMIALS[op](x, n), op(x, n), rtol=2e-4, atol=1e-4, equal_nan=True)
    if op._overloadname == "default":
        n = torch.tensor([math.nan, math.inf, 1e30])
        assert torch.equal(POLYNOMIALS[op](torch.full([3], 0.5), n), torch.zeros(3))


def test_a_fit_is_as_good_as_f64_allows() -> None:
    x = torch.linspace(-1, 2, 100, dtype=torch.float64)
    torch.testing.assert_close(Fit(EXACT.exp, -1, 2, 18)(x), torch.exp(x), rtol=1e-13, atol=0)


def _many(x: Tensor) -> list[Tensor]:
    special: Any = torch.special
    return [
        torch.lgamma(x),
        torch.digamma(x),
        special.zeta(x + 4, x),
        torch.erfinv(x / 10),
        special.log_ndtr(x),
        special.bessel_y1(x),
        special.modified_bessel_k1(x),
        special.shifted_chebyshev_polynomial_w(torch.nan_to_num(x), 5),
    ]


def test_compiled_without_a_foreign_call() -> None:
    x = torch.tensor([[0.3, 1.0, 2.5, 7.9], [-0.3, math.nan, math.inf, 9.0]])
    program = hotdesk.compile(Call(_many), (x,), options=hotdesk.Options(foreign=False))
    got: Any = program(x)
    torch.testing.assert_close(got, _many(x), rtol=2e-5, atol=2e-5, equal_nan=True)
