"""No module of the package hashes an op: what the bindings make of it changes with the op (`ir/op_maps.py`)."""

from __future__ import annotations

import inspect
from typing import Any, cast

from hotdesk._bindings import ir

_BASE: Any = cast(Any, ir)._OperationBase
_hash = _BASE.__hash__


def refuse() -> None:
    """From now on it is an error where the package does so; who tests it, or uses MLIR beside it, may."""
    _BASE.__hash__ = _checked


def _checked(op: Any) -> int:
    frame = inspect.currentframe()
    name = str(frame.f_back.f_globals.get("__name__")) if frame is not None and frame.f_back is not None else ""
    if name.partition(".")[0] == "hotdesk":
        raise AssertionError(f"expected `ir.op_maps`, got the hash of {op.name} in {name}")
    return _hash(op)
