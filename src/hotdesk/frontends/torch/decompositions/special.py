"""Special functions of 32-bit and shorter floats, integers and booleans, computed in f64 and rounded once.

* gamma functions by Stirling's series, after the argument was shifted upwards, and by reflection;
* Hurwitz's zeta function by the Euler-Maclaurin formula; derivatives of `digamma` by that;
* error functions and their inverses by Chebyshev fits (`fits.py`).

Where PyTorch's own formula overflows or rounds by a wide margin in f32, so do these: near the poles of the trigamma function,
and where `exp` is infinite. 64-bit floats are left to PyTorch's kernels. (NIST Digital Library of Mathematical Functions, 5,
7 and 25.)
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from hotdesk.frontends.torch.decompositions.fits import EXACT as exact
from hotdesk.frontends.torch.decompositions.fits import Fit

aten: Any = torch.ops.aten

INF, NAN = math.inf, math.nan
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers of even index, from the second."""
_SHIFT = 8
"""Stirling's series is taken at this number and above."""
LARGEST_EXPONENT = math.log(torch.finfo(torch.float32).max)
"""Where `exp` ends in f32."""
_PI = 3.1415927410125732
"""The f32 next to pi."""
_MOST_DERIVATIVES = 20
"""Of `digamma`; beyond, factorials leave f32 before the results do."""


def in_f64(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of one or two f64 tensors, for tensors or numbers whose common type is shorter; the result has that type."""

    @functools.wraps(function)
    def widened(*args: Any) -> Tensor:
        dtype = torch.result_type(*args) if len(args) == 2 else args[0].dtype
        if not dtype.is_floating_point and not dtype.is_complex:
            dtype = torch.get_default_dtype()
        if dtype not in (torch.float32, torch.float16, torch.bfloat16):
            return NotImplemented
        given = [arg.to(dtype) if isinstance(arg, Tensor) else torch.full([], arg, dtype=dtype) for arg in args]
        return function(*(each.to(torch.float64) for each in given)).to(dtype)

    return widened


def polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """By Horner's rule; the constant coefficient is the last one."""
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def is_whole(x: Tensor) -> Tensor:
    return torch.floor(x) == x


# Gamma functions.


def _sine_of_pi_times(x: Tensor) -> Tensor:
    return torch.sin(math.pi * (x - torch.round(x)))


def _lgamma_of_positive(x: Tensor) -> Tensor:
    small = x < _SHIFT
    product = x
    for k in range(1, _SHIFT):
        product = product * (x + k)
    y = torch.where(small, x + _SHIFT, x)
    inverse = 1 / y
    terms = tuple(b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI[:6], start=1))
    series = polynomial(inverse * inverse, terms[::-1]) * inverse
    found = (y - 0.5) * torch.log(y) - y + (0.5 * math.log(2 * math.pi) + series)
    return found - torch.log(torch.where(small, product, 1.0))


@in_f64
def _lgamma(x: Tensor) -> Tensor:
    """Zero at one and two; infinite at zero, at negative whole numbers, and at both infinities."""
    positive = x > 0
    found = _lgamma_of_positive(torch.where(positive, x, 1 - x))
    mirrored = math.log(math.pi) - torch.log(torch.abs(_sine_of_pi_times(x))) - found
    found = torch.where(positive, found, torch.where(is_whole(x), INF, mirrored))
    return torch.where(torch.isinf(x), INF, torch.where((x == 1) | (x == 2), 0.0, found))


def _digamma_of_positive(x: Tensor) -> Tensor:
    small = x < _SHIFT
    shifted: Any = 1 / x
    for k in range(1, _SHIFT):
        shifted = shifted + 1 / (x + k)
    y = torch.where(small, x + _SHIFT, x)
    inverse = 1 / y
    terms = tuple(b / (2 * k) for k, b in enumerate(BERNOULLI[:6], start=1))
    square = inverse * inverse
    series = polynomial(square, terms[::-1]) * square
    return torch.log(y) - 0.5 * inverse - series - torch.where(small, shifted, 0.0)


@in_f64
def _digamma(x: Tensor) -> Tensor:
    """Infinite at zero, of the other sign than that of zero; NaN at negative whole numbers."""
    positive = x > 0
    found = _digamma_of_positive(torch.where(positive, x, 1 - x))
    angle = math.pi * (x - torch.round(x))
    mirrored = found - math.pi * torch.cos(angle) / torch.sin(angle)
    found = torch.where(positive, found, torch.where(is_whole(x), NAN, mirrored))
    return torch.where(x == 0, -1 / x, found)


@in_f64
def _trigamma(x: Tensor) -> Tensor:
    """By reflection below one half, with the argument of the sine in f32 as PyTorch has it: finite at negative whole numbers."""
    mirrored = x < 0.5
    angle = (x * _PI).to(torch.float32).to(torch.float64)
    sine = torch.sin(angle)
    found = _zeta_of_positive(torch.full([], 2.0, dtype=x.dtype), torch.where(mirrored, 1 - x, x))
    return torch.where(mirrored, math.pi * math.pi / (sine * sine) - found, found)


def _polygamma(order: int, x: Tensor) -> Tensor:
    if order == 0:
        return aten.digamma(x)
    if order == 1:
        return _trigamma(x)
    if not 1 < order <= _MOST_DERIVATIVES:
        return NotImplemented

    @in_f64
    def derivative(x: Tensor) -> Tensor:
        found = _zeta_of_both(torch.full([], order + 1.0, dtype=x.dtype), x)
        return found * ((-1) ** (order + 1) * math.factorial(order))

    return derivative(x)


def _zeta_of_positive(s: Tensor, q: Tensor) -> Tensor:
    """Hurwitz's sum of `(q + k) ** -s` over all `k` that are not negative; `s` is more than 1, `q` positive."""
    terms = 10
    found = torch.pow(q, -s)
    for k in range(1, terms):
        found = found + torch.pow(q + k, -s)
    a = q + terms
    power = torch.pow(a, -s)
    rest = power * a / (s - 1) + 0.5 * power
    square = 1 / (a * a)
    factor = power * s / a
    for k, b in enumerate(BERNOULLI, start=1):
        rest = rest + factor * (b / math.factorial(2 * k))
        factor = factor * (s + (2 * k - 1)) * (s + 2 * k) * square
    return found + torch.where(power == 0, 0.0, rest)


def _zeta_of_both(s: Tensor, q: Tensor) -> Tensor:
    """For `q` of both signs: the terms before zero are two sums of positive numbers, with the sign of `(-1) ** s`."""
    negative = q < 0
    part = q - torch.floor(q)
    found = _zeta_of_positive(s, torch.where(negative, part, q))
    before = _zeta_of_positive(s, torch.where(negative, 1 - part, 1.0)) - _zeta_of_positive(
        s, torch.where(negative, 1 - q, 1.0)
    )
    found = torch.where(negative, found + torch.where(is_whole(0.5 * s), before, -before), found)
    found = torch.where(negative & torch.logical_not(is_whole(s)), NAN, found)
    found = torch.where((q <= 0) & is_whole(q), INF, found)
    endless = torch.isinf(q) & (q > 0) | torch.isinf(s) & (q > 1)  # PyTorch multiplies zero by infinity
    return torch.where(s == 1, INF, torch.where((s < 1) | endless & (s > 1), NAN, found))


_zeta = in_f64(_zeta_of_both)


@in_f64
def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """Infinite if one of both is, whatever the other; in f64 no square overflows."""
    return torch.where(torch.isinf(x) | torch.isinf(y), INF, torch.sqrt(x * x + y * y))


# Error functions.

_ERFINV_NEAR = Fit(lambda w: _erfinv_ratio(w), 0, 6, 24)
_ERFINV_FAR = Fit(lambda w: _erfinv_ratio(w), 6, 18, 20)
_NDTRI_TAIL = Fit(lambda z: _quantile(z), 2.5, 15, 24)
_ERFCX = Fit(lambda t: exact.exp((2 / t - 2) ** 2) * exact.erfc(2 / t - 2) / t, 0, 1, 28)


def _erfinv_ratio(w: Any) -> Any:
    y = exact.sqrt(-exact.expm1(-w))
    return exact.erfinv(y) / y


def _quantile(z: Any) -> Any:
    """Of the probability `exp(-z² / 2)`, which is lost beside one unless there are many digits."""
    with exact.workdps(90):
        return -exact.sqrt(2) * exact.erfinv(1 - 2 * exact.exp(-z * z / 2))


def _erfinv_in_f64(y: Tensor) -> Tensor:
    w = -torch.log((1 - y) * (1 + y))
    found = y * torch.where(w < 6, _ERFINV_NEAR(w), _ERFINV_FAR(w))
    size = torch.abs(y)
    return torch.where(size < 1, found, torch.where(size == 1, y * INF, NAN))


_erfinv = in_f64(_erfinv_in_f64)


@in_f64
def _ndtri(y: Tensor) -> Tensor:
    """The tail where `erfinv` would see too little of small numbers."""
    tail = _NDTRI_TAIL(torch.sqrt(-2 * torch.log(y)))
    found = torch.where((y < 0.02) & (y > 0), tail, math.sqrt(2) * _erfinv_in_f64(2 * y - 1))
    return torch.where(y == 0, -INF, torch.where(y < 0, NAN, found))


@in_f64
def _erfcx(x: Tensor) -> Tensor:
    """`exp(x²) erfc(x)`."""
    size = torch.abs(x)
    t = 2 / (2 + size)
    found = _ERFCX(t) * t
    return torch.where(x < 0, 2 * torch.exp(x * x) - found, found)


SPECIAL: dict[Any, Callable[..., Any]] = {
    aten.hypot.default: _hypot,
    aten.lgamma.default: _lgamma,
    aten.digamma.default: _digamma,
    aten.special_digamma.default: _digamma,
    aten.polygamma.default: _polygamma,
    aten.special_zeta.default: _zeta,
    aten.special_zeta.self_scalar: _zeta,
    aten.special_zeta.other_scalar: _zeta,
    aten.erfinv.default: _erfinv,
    aten.special_erfinv.default: _erfinv,
    aten.special_ndtri.default: _ndtri,
    aten.special_erfcx.default: _erfcx,
}
