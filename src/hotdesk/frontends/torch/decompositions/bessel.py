"""Bessel and Airy functions of 32-bit and shorter floats, integers and booleans, computed in f64 and rounded once.

Near zero each is a Chebyshev fit (`fits.py`) of what is left of the function when its logarithm and its poles are taken away.
Far from zero it is an exponential or a wave whose amplitudes are fits in the inverse of the argument: for a Bessel function
`sqrt(2 / (pi x)) (P cos(x - phase) - Q sin(x - phase))`. (NIST Digital Library of Mathematical Functions, 9.7, 10.17, 10.40.)
64-bit floats are left to PyTorch's kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hotdesk.frontends.torch.decompositions.fits import EXACT as exact
from hotdesk.frontends.torch.decompositions.fits import Fit
from hotdesk.frontends.torch.decompositions.special import INF, LARGEST_EXPONENT, NAN, in_f64

aten: Any = torch.ops.aten

_NEAR = 8
"""Where the fits near zero of the Bessel functions of the first and second kind end."""


def _on_root(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda square: function(exact.sqrt(square))


# The first and second kind, of order 0 and 1.


@dataclass(frozen=True)
class _Order:
    """The fits of an order: of J and of Y without its logarithm, over `x ** order` in `x²`; of P and Q, in `(8 / x)²`."""

    order: int
    first: Fit
    second: Fit
    even: Fit
    odd: Fit

    def waves(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """`sqrt(2 / (pi x))` times P and Q, and the cosine and sine that they are amplitudes of."""
        inverse = _NEAR / x
        square, size = inverse * inverse, torch.sqrt((2 / math.pi) / x)
        angle = x - math.pi * (0.25 + 0.5 * self.order)
        return size * self.even(square), size * self.odd(square) * inverse, torch.cos(angle), torch.sin(angle)

    def near(self, x: Tensor) -> Tensor:
        found = self.first(x * x)
        return found * x if self.order else found

    def j(self, x: Tensor) -> Tensor:
        """Of numbers that are not negative."""
        p, q, cosine, sine = self.waves(x)
        return torch.where(x < _NEAR, self.near(x), p * cosine - q * sine)

    def y(self, x: Tensor) -> Tensor:
        p, q, cosine, sine = self.waves(x)
        far = p * sine + q * cosine
        near = self.second(x * x) * (x if self.order else 1)
        near = near + (2 / math.pi) * (self.near(x) * torch.log(x) - (1 / x if self.order else 0))
        found = torch.where(x < _NEAR, near, far)
        return torch.where(x == 0, -INF, torch.where(x < 0, NAN, found))


def _of_order(order: int) -> _Order:
    def j(x: Any) -> Any:
        return exact.besselj(order, x)

    def y(x: Any) -> Any:
        return exact.bessely(order, x)

    def second(x: Any) -> Any:
        pole = 1 / x if order else 0
        return (y(x) - 2 / exact.pi * (j(x) * exact.log(x) - pole)) / x**order

    def wave(x: Any, turned: bool) -> Any:
        angle = x - exact.pi * (2 * order + 1) / 4
        cosine, sine = exact.cos(angle), exact.sin(angle)
        size = exact.sqrt(exact.pi * x / 2)
        return size * x / _NEAR * (y(x) * cosine - j(x) * sine) if turned else size * (j(x) * cosine + y(x) * sine)

    return _Order(
        order,
        Fit(_on_root(lambda x: j(x) / x**order), 0, _NEAR**2, 18),
        Fit(_on_root(second), 0, _NEAR**2, 18),
        Fit(lambda t: wave(_NEAR / exact.sqrt(t), False), 0, 1, 12),
        Fit(lambda t: wave(_NEAR / exact.sqrt(t), True), 0, 1, 12),
    )


_ZERO, _ONE = _of_order(0), _of_order(1)


@in_f64
def _j0(x: Tensor) -> Tensor:
    return _ZERO.j(torch.abs(x))


@in_f64
def _j1(x: Tensor) -> Tensor:
    found = _ONE.j(torch.abs(x))
    return torch.where(x < 0, -found, found)


_y0, _y1 = in_f64(_ZERO.y), in_f64(_ONE.y)


@in_f64
def _spherical_j0(x: Tensor) -> Tensor:
    found = torch.sin(x) / torch.where(x == 0, 1.0, x)
    return torch.where(x == 0, 1.0, torch.where(torch.isinf(x), 0.0, found))


# The modified ones, of order 0 and 1, without their exponential.

_FLAT = 8
"""Where the fits near zero of the modified functions of the first kind end."""
_STEEP = 2
"""And of the second kind."""


def _i_without(order: int) -> tuple[Fit, Fit]:
    def function(x: Any) -> Any:
        return exact.besseli(order, x) * exact.exp(-x)

    near = Fit(lambda x: function(x) / x**order, 0, _FLAT, 26)
    return near, Fit(lambda t: exact.sqrt(1 / t) * function(1 / t), 0, 1 / _FLAT, 26)


def _k_without(order: int) -> tuple[Fit, Fit]:
    def near(x: Any) -> Any:
        growing = exact.log(x / 2) * exact.besseli(order, x)
        return exact.besselk(order, x) + growing if order == 0 else x * (exact.besselk(order, x) - growing)

    far = Fit(lambda t: exact.sqrt(1 / t) * exact.exp(1 / t) * exact.besselk(order, 1 / t), 0, 1 / _STEEP, 26)
    return Fit(_on_root(near), 0, _STEEP**2, 12), far


_I = (_i_without(0), _i_without(1))
_K = (_k_without(0), _k_without(1))


def _scaled_i(order: int, size: Tensor) -> Tensor:
    """`exp(-x) I(x)` of numbers that are not negative."""
    near, far = _I[order]
    small = near(size) * (size if order else 1)
    return torch.where(size < _FLAT, small, far(1 / size) / torch.sqrt(size))


def _i(order: int, scaled: bool) -> Callable[..., Tensor]:
    @in_f64
    def function(x: Tensor) -> Tensor:
        size = torch.abs(x)
        found = _scaled_i(order, size)
        if not scaled:  # PyTorch's exponential is one of f32
            found = found * torch.where(size > LARGEST_EXPONENT, INF, torch.exp(size))
        return torch.where(x < 0, -found, found) if order else found

    return function


def _k(order: int, scaled: bool) -> Callable[..., Tensor]:
    near, far = _K[order]

    @in_f64
    def function(x: Tensor) -> Tensor:
        growing = torch.log(0.5 * x) * _scaled_i(order, x) * torch.exp(x)
        small = near(x * x) - growing if order == 0 else near(x * x) / x + growing
        large = far(1 / x) / torch.sqrt(x)
        if scaled:
            small = small * torch.exp(x)
        else:
            large = large * torch.exp(-x)
        return torch.where(x == 0, INF, torch.where(x < 0, NAN, torch.where(x < _STEEP, small, large)))

    return function


# Airy's function.

_MIDDLE = 4
"""Between the negative of this and itself, it is a fit."""
_AIRY = Fit(exact.airyai, -_MIDDLE, _MIDDLE, 34)


def _airy_zeta(x: Any) -> Any:
    return 2 * x ** exact.mpf("1.5") / 3


def _airy_from(zeta: Any) -> Any:
    return (3 * zeta / 2) ** (exact.mpf(2) / 3)


def _airy_decay(inverse: Any) -> Any:
    x = _airy_from(1 / inverse)
    return 2 * exact.sqrt(exact.pi * exact.sqrt(x)) * exact.exp(1 / inverse) * exact.airyai(x)


def _airy_wave(square: Any, turned: bool) -> Any:
    zeta = 1 / exact.sqrt(square)
    x = _airy_from(zeta)
    a, b = exact.airyai(-x), exact.airybi(-x)
    sine, cosine = exact.sin(zeta + exact.pi / 4), exact.cos(zeta + exact.pi / 4)
    size = exact.sqrt(exact.pi * exact.sqrt(x))
    return size * zeta * (b * sine - a * cosine) if turned else size * (a * sine + b * cosine)


_AIRY_END = 1 / float(_airy_zeta(exact.mpf(_MIDDLE)))
_AIRY_DECAY = Fit(_airy_decay, 0, _AIRY_END, 16)
_AIRY_EVEN = Fit(lambda t: _airy_wave(t, False), 0, _AIRY_END**2, 12)
_AIRY_ODD = Fit(lambda t: _airy_wave(t, True), 0, _AIRY_END**2, 12)


@in_f64
def _airy_ai(x: Tensor) -> Tensor:
    size = torch.abs(x)
    zeta = (2 / 3) * size * torch.sqrt(size)
    inverse, root = 1 / zeta, torch.sqrt(math.pi * torch.sqrt(size))
    decaying = torch.exp(-zeta) * _AIRY_DECAY(inverse) / (2 * root)
    angle, square = zeta + math.pi / 4, inverse * inverse
    waving = (_AIRY_EVEN(square) * torch.sin(angle) - _AIRY_ODD(square) * inverse * torch.cos(angle)) / root
    found = torch.where(size <= _MIDDLE, _AIRY(x), torch.where(x > 0, decaying, waving))
    return torch.where(torch.isinf(x), NAN, found)


BESSEL: dict[Any, Callable[..., Any]] = {
    aten.special_bessel_j0.default: _j0,
    aten.special_bessel_j1.default: _j1,
    aten.special_bessel_y0.default: _y0,
    aten.special_bessel_y1.default: _y1,
    aten.special_spherical_bessel_j0.default: _spherical_j0,
    aten.i0.default: _i(0, False),
    aten.special_i0e.default: _i(0, True),
    aten.special_i1.default: _i(1, False),
    aten.special_i1e.default: _i(1, True),
    aten.special_modified_bessel_i0.default: _i(0, False),
    aten.special_modified_bessel_i1.default: _i(1, False),
    aten.special_modified_bessel_k0.default: _k(0, False),
    aten.special_modified_bessel_k1.default: _k(1, False),
    aten.special_scaled_modified_bessel_k0.default: _k(0, True),
    aten.special_scaled_modified_bessel_k1.default: _k(1, True),
    aten.special_airy_ai.default: _airy_ai,
}
