"""Graph modules whose Python code PyTorch writes when they are called, rather than whenever their graph has changed.

While a program is decomposed, PyTorch makes a dozen graph modules of all its operations, writes the code of each, some of them
several times, and calls none: it interprets their graphs.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import Any, cast

import torch
from torch.fx.graph import _PyTreeCodeGen  # pyright: ignore[reportPrivateUsage]

_lock = threading.Lock()
_threads: list[int] = []
"""Those that put off the writing of code, each as often as it has begun to."""

_GraphModule = cast(Any, torch.fx.GraphModule)


class _Before:
    """What writes code."""

    recompile: Callable[[torch.fx.GraphModule], Any] = _GraphModule.recompile


@contextlib.contextmanager
def code_put_off() -> Generator[None]:
    """Graph modules that this thread makes or changes in the meantime have code only once they are called, even afterwards."""
    with _lock:
        if not _threads:
            _Before.recompile = _GraphModule.recompile
            _GraphModule.recompile = _recompile
        _threads.append(threading.get_ident())
    try:
        yield
    finally:
        with _lock:
            _threads.remove(threading.get_ident())
            if not _threads and _GraphModule.recompile is _recompile:  # `lines` may have put its own there meanwhile
                _GraphModule.recompile = _Before.recompile


def _recompile(module: torch.fx.GraphModule) -> Any:
    if threading.get_ident() not in _threads:
        return _Before.recompile(module)
    if isinstance(cast(Any, module.graph)._codegen, _PyTreeCodeGen):
        return _Before.recompile(module)  # its signature is read: guards of sizes name arguments by it
    kind: Any = type(module)  # each graph module has a class of its own
    kind.forward = _forward
    return None


def _forward(self: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
    """What stands for a function that is not written yet: writes it, in its place, and calls it."""
    _Before.recompile(self)
    return cast(Any, type(self)).forward(self, *args, **kwargs)
