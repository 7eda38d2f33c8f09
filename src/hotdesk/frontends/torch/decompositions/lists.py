"""Ops on lists of tensors, as optimizers with `foreach=True` call them, taken apart tensor by tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

aten: Any = torch.ops.aten

_EACH = (
    *("abs", "add", "addcdiv", "addcmul", "clamp_max", "clamp_min", "copy", "div", "exp", "lerp", "maximum", "minimum"),
    *("mul", "neg", "pow", "reciprocal", "rsqrt", "sign", "sqrt", "sub"),
)
"""What `_foreach_` stands in front of."""
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""What an op is called where its second operand is a number."""


def _each(name: str, *given: Any, **more: Any) -> Any:
    """Lists of tensors or numbers are taken one by one; everything else is the same for all."""
    lists = [cast("Sequence[Any]", each) for each in given if isinstance(each, (list, tuple))]
    return [
        _one(name, *(each[i] if isinstance(each, (list, tuple)) else each for each in given), **more)
        for i in range(len(lists[0]))
    ]


def _one(name: str, *given: Any, **more: Any) -> Any:
    if name in ("addcdiv", "addcmul"):
        x, first, second, factor = (*given, 1)[:4]
        changed = first * factor * second if name == "addcmul" else first / second * factor
        return x + changed
    if len(given) > 1 and not isinstance(given[1], Tensor):
        name = _OF_NUMBERS.get(name, name)
    return getattr(aten, name)(*given, **more)


def _overloads() -> dict[Any, Callable[..., Any]]:
    found: dict[Any, Callable[..., Any]] = {}
    for name in _EACH:
        packet: Any = getattr(aten, f"_foreach_{name}")
        of_this = (getattr(packet, overload) for overload in packet.overloads())
        found.update((op, partial(_each, name)) for op in of_this if not op._schema.is_mutable)
    return found


LISTS = _overloads()

__all__ = ["LISTS"]
