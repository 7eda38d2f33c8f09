"""Sizes that are known before a program runs and that a size which is known only then never exceeds."""

from __future__ import annotations

from typing import Any

import sympy

from hotdesk.ir.sizes import Size, integer, is_opaque

_algebra: Any = sympy  # SymPy's functions are not annotated


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
