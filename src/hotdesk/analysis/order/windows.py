"""Window access: which stretch of a dimension a window reads while one loop runs over a part of its range.

Output o and tap t of a window are at ``o * stride + t * dilation - low`` of a dimension whose elements are `spread` apart: those
of the outputs from `first` to `end` are one stretch of the dimension, some elements longer than theirs, and overlap those of the
next outputs. What lies outside of the dimension is padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir


@dataclass(frozen=True, slots=True)
class WindowAccess:
    """A window as one loop runs it over a dimension: what the outputs of the loop read.

    Attributes:
        stride: how far apart neighbouring outputs are; `span`: how far the first and last tap are, and one.
        size: the elements of the dimension; `low`: how much padding is in front of them; `spread`: how far apart they are.
    """

    stride: int
    span: int
    size: int
    low: int = 0
    spread: int = 1

    def elements(self, first: int, end: int) -> tuple[int, int]:
        """The elements that outputs `first` to `end` need, the second number not included; none if it is not the greater."""
        begin = first * self.stride - self.low
        last = (end - 1) * self.stride + self.span - 1 - self.low
        return max(0, -(-begin // self.spread)), min(self.size, last // self.spread + 1)

    def padding(self, first: int, end: int) -> tuple[int, int]:
        """The padding in front of these elements and behind them, as those outputs see it; never negative."""
        begin, stop = self.elements(first, end)
        low = begin * self.spread + self.low - first * self.stride
        needed = (end - first - 1) * self.stride + self.span
        return low, needed - low - ((stop - begin - 1) * self.spread + 1)


def linear(expression: ir.AffineExpr) -> dict[int, int] | None:
    """The factor of each dimension in an affine expression; None if it is more than a sum of dimensions with factors."""
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position: 1}
    if isinstance(expression, ir.AffineMulExpr):
        terms = linear(expression.lhs)
        factor = expression.rhs
        if terms is None or not isinstance(factor, ir.AffineConstantExpr):
            return None
        return {dim: number * factor.value for dim, number in terms.items()}
    if isinstance(expression, ir.AffineAddExpr):
        left, right = linear(expression.lhs), linear(expression.rhs)
        if left is None or right is None:
            return None
        return {dim: left.get(dim, 0) + right.get(dim, 0) for dim in (*left, *right)}
    return None


def dims_in(expression: ir.AffineExpr) -> set[int]:
    """The dimensions that an affine expression asks for."""
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position}
    return dims_in(expression.lhs) | dims_in(expression.rhs) if isinstance(expression, ir.AffineBinaryExpr) else set()


def window_access(
    terms: Mapping[int, int], loop: int, extents: Mapping[int, int | None], size: int | None
) -> WindowAccess | None:
    """How a loop runs over a dimension of that size, which `terms` index; the other loops run over all of their range."""
    span = 1
    for other, factor in terms.items():
        extent = extents.get(other)
        if factor < 1 or (other != loop and not extent):
            return None
        span += 0 if other == loop or extent is None else factor * (extent - 1)
    return None if size is None else WindowAccess(terms[loop], span, size)


def extents_of(rows: Sequence[Sequence[int]], shapes: Sequence[Sequence[int | None]]) -> dict[int, int | None]:
    """How far each loop runs that some dimension is indexed by alone."""
    return {loop: size for row, shape in zip(rows, shapes, strict=True) for loop, size in zip(row, shape, strict=True)}
