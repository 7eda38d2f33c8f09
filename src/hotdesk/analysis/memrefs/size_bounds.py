"""What is proven of symbolic sizes: that one is at least another one, and what one never exceeds.

A symbol whose least value is declared is that value and something that is not negative; then each term of a sum is bounded for
itself. So what holds is told for sums of products with declared ranges, and for sums of terms none of which is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from hotdesk.ir.sizes import Size, expand, integer, is_opaque

_algebra: Any = sympy  # SymPy's functions are not annotated

Ranges = Mapping[Any, "tuple[int, int | None]"]
"""The least and the greatest value of symbols, None where there is no greatest."""

_NO_RANGES: Ranges = {}


def is_at_least(
    a: Size, b: Size, negative: Callable[[Any], bool] = lambda _: False, ranges: Ranges = _NO_RANGES
) -> bool:
    """Whether one size is at least another one, whatever numbers the symbols in them are.

    Args:
        a: the one that may be larger.
        b: the other one.
        negative: whether a symbol may be negative.
        ranges: of symbols that are not negative.
    """
    rest = expand(_algebra.sympify(a) - _algebra.sympify(b))
    if isinstance(rest, int):
        return rest >= 0
    known = {symbol: ranges[symbol] for symbol in rest.free_symbols if symbol in ranges}
    shifted: dict[Any, Any] = {symbol: _algebra.sympify(symbol) + low for symbol, (low, _) in known.items()}
    rest = expand(_algebra.sympify(rest).xreplace(shifted))
    above = {symbol: (0, None if high is None else high - low) for symbol, (low, high) in known.items()}
    total = 0
    for term in _algebra.Add.make_args(_algebra.sympify(rest)):
        pair: tuple[Any, Any] = term.as_coeff_Mul()
        number, product = pair
        if not is_product(product, negative) or not number.is_Integer:
            return False
        if product == 1:
            total += int(number)
        elif number < 0:
            most = _most(product, above)
            if most is None:
                return False
            total += int(number) * most
    return total >= 0


def known_limit(size: Size) -> Size | None:
    """What a size never exceeds, told by sizes that are known before the program runs; None where nothing tells.

    It is itself, or one that a minimum has among its parts, carried through sums, quotients and products with what is not
    negative.
    """
    if not is_opaque(size):
        return size
    found = _limit_of(size)
    return None if found is None else integer(found)


def _limit_of(term: Any) -> Any:
    if not is_opaque(term):
        return term
    parts: tuple[Any, ...] = term.args
    if isinstance(term, sympy.Min):
        limits = [limit for limit in map(_limit_of, parts) if limit is not None]
        return _algebra.Min(*limits) if limits else None
    if isinstance(term, sympy.Max | sympy.Add | sympy.floor | sympy.ceiling):
        limits = [_limit_of(each) for each in parts]
        join: Any = term.func
        return None if None in limits else join(*limits)
    if not isinstance(term, sympy.Mul):
        return None
    unknown = [each for each in parts if is_opaque(each)]
    rest = [each for each in parts if not is_opaque(each)]
    limit = _limit_of(unknown[0]) if len(unknown) == 1 else None
    is_scale = all(each.is_Symbol or (each.is_number and each.is_nonnegative) for each in rest)
    return _algebra.Mul(limit, *rest) if limit is not None and is_scale else None


def upper_bound(size: Size, ranges: Ranges = _NO_RANGES) -> int | None:
    """A number that a size never exceeds: it is one, or a sum of numbers times what has one.

    That is a minimum with a number as a part, a symbol with a greatest value, and a product of these.
    """
    if isinstance(size, int):
        return size
    total = 0
    for term in _algebra.Add.make_args(_algebra.expand(size)):
        pair: tuple[Any, Any] = term.as_coeff_Mul()
        number, rest = pair
        most = _most(rest, ranges)
        if number < 0 or most is None or not number.is_Integer:
            return None
        total += int(number) * most
    return total


def _most(product: Any, ranges: Ranges) -> int | None:
    """The greatest value of a product of which at most one factor, a minimum, may be negative."""
    most = 1
    signed = 0
    for factor in _algebra.Mul.make_args(product):
        base, exponent = factor.as_base_exp()
        if isinstance(base, sympy.Min):
            high = _least_part(base, ranges)
            signed += 1
        else:
            high = 1 if base == 1 else ranges.get(base, (0, None))[1]
        if high is None or signed > 1 or not exponent.is_Integer or exponent < 1 or (signed and exponent > 1):
            return None
        most *= high ** int(exponent)
    return most


def _least_part(minimum: Any, ranges: Ranges) -> int | None:
    """The least of the numbers that the parts of a minimum never exceed, if it is not negative."""
    known = [int(part) if part.is_Integer else ranges.get(part, (0, None))[1] for part in minimum.args]
    least = min((high for high in known if high is not None), default=-1)
    return least if least >= 0 else None


def is_product(term: Any, negative: Callable[[Any], bool]) -> bool:
    """Whether a term is a product of symbols that are not negative."""
    powers: list[tuple[Any, Any]] = [factor.as_base_exp() for factor in _algebra.Mul.make_args(term) if factor != 1]
    return all(
        isinstance(base, sympy.Symbol) and exponent.is_Integer and exponent > 0 and not negative(base)
        for base, exponent in powers
    )
