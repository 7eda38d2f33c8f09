"""Whether Dynamo compiles for our backend: what we have it do in another way must not change graphs of other backends."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslator, tls

_OURS: list[Callable[..., Any]] = []


def note_backend(backend: Callable[..., Any]) -> None:
    """Counts a backend among ours: there is another one each time that its module is loaded."""
    _OURS.append(backend)


def is_compiled_for_ours() -> bool:
    """Whether this thread traces, by Dynamo, for a backend of ours, or for a `functools.partial` of one.

    One within another function is not recognised.
    """
    if getattr(tls, "current_tx", None) is None:
        return False
    compiler: Any = InstructionTranslator.current_tx().output.compiler_fn
    compiler = getattr(compiler, "compiler_fn", compiler)  # what `torch.compile` makes of a name, or of options
    while isinstance(compiler, partial):
        compiler = compiler.func
    return compiler in _OURS


__all__ = ["is_compiled_for_ours", "note_backend"]
