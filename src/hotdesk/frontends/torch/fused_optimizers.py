"""Fused optimizers in graphs of Dynamo's: their updates written out parameter by parameter, for our backend alone.

Dynamo does not trace PyTorch's fused updates ("don't trace into fused optimizer"): each is a function that it has disabled, so a
step would be no graph. What a fused kernel computes is what the same optimizer computes without it, which is traced instead.
Other backends run the fused kernel as before; steps in eager PyTorch know nothing of it.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import torch
from torch._dynamo.eval_frame import TorchPatcher
from torch.compiler import assume_constant_result, substitute_in_graph

from hotdesk.frontends.torch.compiled_for import is_compiled_for

_OPTIMIZERS = ("adagrad", "adam", "sgd")
"""Those of `torch.optim` with fused updates; AdamW's are Adam's."""


def write_out_fused_updates(backend: Callable[..., Any]) -> None:
    """Has Dynamo trace fused updates where it compiles for `backend`. Done once in a process."""
    TorchPatcher.patch()  # which disables them, once

    @assume_constant_result
    def is_ours() -> bool:
        return is_compiled_for(backend)

    for name in _OPTIMIZERS:
        module = import_module(f"torch.optim.{name}")
        each, fused = getattr(module, f"_single_tensor_{name}"), getattr(module, f"_fused_{name}")
        _write_out(each, fused, is_ours)


def _write_out(each: Callable[..., None], fused: Callable[..., None], is_ours: Callable[[], bool]) -> None:
    @torch.compiler.disable
    def untraced(*args: Any, **kwargs: Any) -> None:  # Dynamo would substitute `fused` again
        fused(*args, **kwargs)

    def update(*args: Any, **kwargs: Any) -> None:
        unscaled = kwargs["grad_scale"] is None and kwargs["found_inf"] is None
        if unscaled and not kwargs.get("has_sparse_grad") and is_ours():
            each(*args, **kwargs)
        else:
            untraced(*args, **kwargs)

    cast(Any, substitute_in_graph)(fused)(update)


__all__ = ["write_out_fused_updates"]
