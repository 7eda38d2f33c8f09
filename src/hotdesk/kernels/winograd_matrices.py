"""The matrices of Winograd's minimal filtering: sums of a sliding window of `TAPS` taps, from fewer multiplications.

    outputs = after [ (filter taps) * (before inputs) ]        elementwise product; two-dimensional by doing rows, then columns

`OUTPUTS` outputs take `SIZE` = `OUTPUTS` + `TAPS` - 1 multiplications in place of `OUTPUTS` times `TAPS`. They are values of
polynomials at `POINTS` and at infinity, multiplied and put together again (Toom and Cook's scheme), transposed. Source: Lavin and
Gray, *Fast Algorithms for Convolutional Neural Networks*, 2015. How much rounding grows depends on the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]

OUTPUTS, TAPS = 4, 3
SIZE = OUTPUTS + TAPS - 1
POINTS = (Fraction(0), Fraction(3, 4), Fraction(-3, 4), Fraction(3, 2), Fraction(-3, 2))


def filter_matrix() -> Matrix:
    """`SIZE` by `TAPS`: the filter's polynomial at each point, over what interpolation divides by."""
    rows = [
        tuple(point**power / prod(point - other for other in POINTS if other != point) for power in range(TAPS))
        for point in POINTS
    ]
    return (*rows, tuple(Fraction(power == TAPS - 1) for power in range(TAPS)))


def before_matrix() -> Matrix:
    """`SIZE` by `SIZE`: coefficients of the polynomials that are zero at all points but one, and of that zero at all."""
    rows = [(*_coefficients([other for other in POINTS if other != point]), Fraction(0)) for point in POINTS]
    return (*rows, tuple(_coefficients(POINTS)))


def after_matrix() -> Matrix:
    """`OUTPUTS` by `SIZE`: powers of the points."""
    return tuple((*(point**power for point in POINTS), Fraction(power == OUTPUTS - 1)) for power in range(OUTPUTS))


def _coefficients(roots: Sequence[Fraction]) -> list[Fraction]:
    """Of the product of `x - root`, the constant first."""
    found = [Fraction(1)]
    for root in roots:
        times_x, times_root = [Fraction(0), *found], [*(root * each for each in found), Fraction(0)]
        found = [a - b for a, b in zip(times_x, times_root, strict=True)]
    return found
