"""Fused optimizers in graphs of Dynamo's: their updates written out parameter by parameter, for our backend alone.

Dynamo does not trace PyTorch's fused updates ("don't trace into fused optimizer"): each is a function that it has disabled, so a
step would be no graph. What a fused kernel computes is what the same optimizer computes without it, which is traced instead.
Other backends, and steps in eager PyTorch, run the fused kernel as before.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from torch._dynamo.eval_frame import TorchPatcher
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch.compiler import assume_constant_result, is_dynamo_compiling

_OPTIMIZERS = ("adagrad", "adam", "sgd")
"""Those of `torch.optim` with fused updates; AdamW's are Adam's."""


def write_out_fused_updates(backend: Callable[..., Any]) -> None:
    """Has Dynamo trace fused updates where it compiles for `backend`. Done once in a process."""
    TorchPatcher.patch()  # which disables them, once
    for name in _OPTIMIZERS:
        module = import_module(f"torch.optim.{name}")
        each, fused = getattr(module, f"_single_tensor_{name}"), getattr(module, f"_fused_{name}")
        setattr(module, f"_fused_{name}", _stand_in(each, fused, backend))


def _stand_in(
    each: Callable[..., None], fused: Callable[..., None], backend: Callable[..., Any]
) -> Callable[..., None]:
    @assume_constant_result
    def is_ours() -> bool:
        compiler: Any = InstructionTranslator.current_tx().output.compiler_fn
        return getattr(compiler, "compiler_fn", compiler) is backend

    def update(*args: Any, **kwargs: Any) -> None:
        unscaled = kwargs["grad_scale"] is None and kwargs["found_inf"] is None
        if is_dynamo_compiling() and unscaled and not kwargs.get("has_sparse_grad") and is_ours():
            each(*args, **kwargs)
        else:
            fused(*args, **kwargs)

    return update


__all__ = ["write_out_fused_updates"]
