"""Fused optimizers in graphs of Dynamo's: their updates written out parameter by parameter, for our backend alone.

Dynamo does not trace PyTorch's fused updates ("don't trace into fused optimizer"): each is a function that it has disabled, so a
step would be no graph. What a fused kernel computes is what the same optimizer computes without it, which is traced instead.
Other backends run the fused kernel as before; steps in eager PyTorch know nothing of it.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, cast

import torch
from torch._dynamo.eval_frame import TorchPatcher
from torch.compiler import assume_constant_result, substitute_in_graph

from hotdesk.frontends.torch.compiled_for import is_compiled_for_ours

_OPTIMIZERS = ("adagrad", "adam", "sgd")
"""Those of `torch.optim` with fused updates; AdamW's are Adam's."""


def write_out_fused_updates() -> None:
    """Has Dynamo trace fused updates where it compiles for a backend of ours. Once in a process, however often it is called."""
    for name in _OPTIMIZERS:
        _write_out(name)


@assume_constant_result
def _is_ours() -> bool:
    return is_compiled_for_ours()


@cache
def _write_out(name: str) -> None:
    TorchPatcher.patch()  # which disables them, once
    module = import_module(f"torch.optim.{name}")
    each: Callable[..., None] = getattr(module, f"_single_tensor_{name}")
    fused: Callable[..., None] = getattr(module, f"_fused_{name}")

    def called(*args: Any, **kwargs: Any) -> None:  # Dynamo would substitute `fused` again
        fused(*args, **kwargs)

    untraced = cast(Any, torch.compiler.disable)(called, reason="a fused kernel is called, not traced")

    def update(*args: Any, **kwargs: Any) -> None:
        unscaled = kwargs["grad_scale"] is None and kwargs["found_inf"] is None
        if unscaled and not kwargs.get("has_sparse_grad") and _is_ours():
            each(*args, **kwargs)
        else:
            untraced(*args, **kwargs)

    cast(Any, substitute_in_graph)(fused)(update)


__all__ = ["write_out_fused_updates"]
