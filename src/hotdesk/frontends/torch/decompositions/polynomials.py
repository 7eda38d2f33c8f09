"""Chebyshev polynomials of 32-bit and shorter floats, integers and booleans, computed in f64 and rounded once.

Degrees are tensors too, so the four kinds are taken by their closed forms: with `x = cos a` between -1 and 1, and
`|x| = cosh u` beyond,

    T = cos(n a)                          U = sin((n + 1) a) / sin(a)
    V = cos((n + 1/2) a) / cos(a / 2)     W = sin((n + 1/2) a) / sin(a / 2)

and below -1 the kinds are those of `-x` with the sign of `(-1) ** n`, V and W exchanged. The degree is cut off to a whole number;
of a negative one the polynomial is 0. PyTorch's recurrences end in NaN two steps behind the first infinite one, and so do these.
Polynomials without a closed form are left to PyTorch's kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from hotdesk.frontends.torch.decompositions.special import INF, NAN, in_f64, is_whole

aten: Any = torch.ops.aten

_LARGEST = torch.finfo(torch.float32).max


def _sinh(x: Tensor) -> Tensor:
    return 0.5 * (torch.exp(x) - torch.exp(-x))


def _cosh(x: Tensor) -> Tensor:
    return 0.5 * (torch.exp(x) + torch.exp(-x))


def _beyond(kind: str, u: Tensor, n: Tensor) -> Tensor:
    """Of `cosh u`, which is more than 1."""
    if kind == "t":
        return _cosh(n * u)
    if kind == "u":
        return _sinh((n + 1) * u) / _sinh(u)
    part = _cosh if kind == "v" else _sinh
    return part((n + 0.5) * u) / part(0.5 * u)


def _between(kind: str, a: Tensor, n: Tensor) -> Tensor:
    if kind == "t":
        return torch.cos(n * a)
    if kind == "u":
        return torch.sin((n + 1) * a) / torch.sin(a)
    part = torch.cos if kind == "v" else torch.sin
    return part((n + 0.5) * a) / part(0.5 * a)


_AT_ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "t": torch.ones_like,
    "u": lambda n: n + 1,
    "v": torch.ones_like,
    "w": lambda n: 2 * n + 1,
}
_MIRRORED = {"t": "t", "u": "u", "v": "w", "w": "v"}


def _chebyshev(kind: str, shifted: bool) -> Callable[..., Tensor]:
    @in_f64
    def polynomial(x: Tensor, degree: Tensor) -> Tensor:
        x = 2 * x - 1 if shifted else x
        n = torch.trunc(degree)
        even = is_whole(0.5 * n)
        size = torch.abs(x)
        u = torch.log(size + torch.sqrt((size - 1) * (size + 1)))

        def outside(degree: Tensor) -> Tensor:
            found = torch.where(x > 0, _beyond(kind, u, degree), _beyond(_MIRRORED[kind], u, degree))
            return torch.where(torch.isinf(u) & (degree > 0), INF, found)

        def signed(value: Tensor) -> Tensor:
            return torch.where((x > 0) | even, value, -value)

        ended = (n >= 2) & (outside(n - 2) > _LARGEST)
        ends = _AT_ONE[kind](n)
        if _MIRRORED[kind] != kind:
            ends = torch.where(x > 0, ends, _AT_ONE[_MIRRORED[kind]](n))
        ends = signed(ends)
        found = torch.where(ended, NAN, signed(outside(n)))
        found = torch.where(size < 1, _between(kind, torch.acos(x), n), torch.where(size == 1, ends, found))
        found = torch.where(n == 0, 1.0, torch.where(n == 1, _first(kind, x), found))
        return torch.where((n >= 0) & (n < 2.0**63), found, 0.0)

    return polynomial


def _first(kind: str, x: Tensor) -> Tensor:
    return x if kind == "t" else x + x if kind == "u" else x + x - 1 if kind == "v" else x + x + 1


def _forms(op: Any, polynomial: Callable[..., Tensor]) -> dict[Any, Callable[..., Tensor]]:
    return {op.default: polynomial, op.n_scalar: polynomial, op.x_scalar: polynomial}


POLYNOMIALS: dict[Any, Callable[..., Any]] = {
    **_forms(aten.special_chebyshev_polynomial_t, _chebyshev("t", False)),
    **_forms(aten.special_chebyshev_polynomial_u, _chebyshev("u", False)),
    **_forms(aten.special_chebyshev_polynomial_v, _chebyshev("v", False)),
    **_forms(aten.special_chebyshev_polynomial_w, _chebyshev("w", False)),
    **_forms(aten.special_shifted_chebyshev_polynomial_t, _chebyshev("t", True)),
    **_forms(aten.special_shifted_chebyshev_polynomial_u, _chebyshev("u", True)),
    **_forms(aten.special_shifted_chebyshev_polynomial_v, _chebyshev("v", True)),
    **_forms(aten.special_shifted_chebyshev_polynomial_w, _chebyshev("w", True)),
}
