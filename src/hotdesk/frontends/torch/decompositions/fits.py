"""Chebyshev interpolants of smooth functions, as polynomials that are evaluated in f64.

Their coefficients are computed with 40 digits when a fit is first used, so that there is no table whose origin is unknown.
On `[low, high]` the interpolant of degree `n` passes through the function at the `n + 1` zeros of `T_(n+1)` (L. N. Trefethen,
Approximation Theory and Approximation Practice, chapters 2 and 4). A fit is used between its ends alone: what a caller's
`where` does not choose may be anything.
"""

# mpmath has no annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
from torch import Tensor

EXACT: Any = mpmath.mp.clone()
"""Arithmetic of 40 digits; a context of our own, so that nobody else's precision changes."""
EXACT.dps = 40


@dataclass(frozen=True)
class Fit:
    """A function of `EXACT` numbers between two ends, and the degree of the polynomial that stands for it."""

    function: Callable[[Any], Any]
    low: float
    high: float
    degree: int

    @functools.cached_property
    def coefficients(self) -> tuple[float, ...]:
        """Of the powers of `t = (2 x - low - high) / (high - low)`, the constant one first."""
        count = self.degree + 1
        angles = [EXACT.pi * (2 * i + 1) / (2 * count) for i in range(count)]
        middle, half = (EXACT.mpf(self.low) + self.high) / 2, (EXACT.mpf(self.high) - self.low) / 2
        values = [self.function(middle + half * EXACT.cos(angle)) for angle in angles]
        series = [
            (1 if k == 0 else 2)
            * EXACT.fdot((v, EXACT.cos(k * a)) for v, a in zip(values, angles, strict=True))
            / count
            for k in range(count)
        ]
        powers = [EXACT.mpf(0)] * count
        before, now = [EXACT.mpf(1)], [EXACT.mpf(0), EXACT.mpf(1)]  # T_0 and T_1 by powers
        for term in series:
            powers = [a + term * b for a, b in zip(powers, [*before, *[0] * count], strict=False)]
            after = [EXACT.mpf(0), *(2 * each for each in now)]
            after = [a - b for a, b in zip(after, [*before, *[0] * len(after)], strict=False)]
            before, now = now, after
        return tuple(float(each) for each in powers)

    def __call__(self, x: Tensor) -> Tensor:
        """The polynomial at each element of an f64 tensor, by Horner's rule."""
        t = x * (2 / (self.high - self.low)) - (self.high + self.low) / (self.high - self.low)
        *rest, last = self.coefficients
        result = t * last + rest[-1]
        for coefficient in reversed(rest[:-1]):
            result = result * t + coefficient
        return result
