"""Kernels that autograd sees: for some ops it takes the first look, recording or not, and no table of decompositions is asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import torch

_keys: Any = cast(Any, torch)._C.DispatchKey
AUTOGRAD: Any = _keys.Autograd
COMPOSITE: Any = _keys.CompositeImplicitAutograd


@contextmanager
def autograd_kernels(kernels: Mapping[Any, Callable[..., Any] | None]) -> Generator[None]:
    """Has autograd see other kernels of ops that have one in Python; None takes an op's away."""
    theirs = {op: op.py_kernels[AUTOGRAD] for op in kernels}

    def put(each: Mapping[Any, Callable[..., Any] | None]) -> None:
        for op, kernel in each.items():
            op.py_kernels.pop(AUTOGRAD, None)
            if kernel is not None:
                op.py_kernels[AUTOGRAD] = kernel
            op._dispatch_cache.clear()

    put(kernels)
    try:
        yield
    finally:
        put(theirs)
