"""Which backend Dynamo compiles for: what is told or done otherwise for ours leaves others alone."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslator, tls


def is_compiled_for(backend: Callable[..., Any]) -> bool:
    """Whether this thread traces, by Dynamo, for a backend."""
    if getattr(tls, "current_tx", None) is None:
        return False
    compiler: Any = InstructionTranslator.current_tx().output.compiler_fn
    return getattr(compiler, "compiler_fn", compiler) is backend


__all__ = ["is_compiled_for"]
