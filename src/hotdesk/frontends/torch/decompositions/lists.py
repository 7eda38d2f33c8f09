"""Ops on lists of tensors, as optimizers with `foreach=True` call them: PyTorch's kernels for any device take them one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch._C import DispatchKey

aten: Any = torch.ops.aten

_EACH = (
    *("abs", "add", "addcdiv", "addcmul", "clamp_max", "clamp_min", "copy", "div", "exp", "lerp", "maximum", "minimum"),
    *("mul", "neg", "pow", "reciprocal", "rsqrt", "sign", "sqrt", "sub"),
)
"""What `_foreach_` stands in front of."""


def _overloads() -> dict[Any, Callable[..., Any]]:
    packets: list[Any] = [getattr(aten, f"_foreach_{name}") for name in _EACH]
    ops = [getattr(packet, overload) for packet in packets for overload in packet.overloads()]
    key = DispatchKey.CompositeExplicitAutograd
    return {op: partial(op._op_dk, key) for op in ops if not op._schema.is_mutable}


LISTS = _overloads()
