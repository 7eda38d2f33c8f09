"""The weights of `torch.nn.functional.l1_loss`, which PyTorch loses where it traces.

Where a mode for functions is there, as in every trace, the function hands its arguments on to the mode, all but `weight`: what is
traced is the loss without weights. It does name the weights among the arguments that may have a meaning of their own for the
call, from where they are handed on here.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast
from unittest import mock

from torch.nn import functional


@contextmanager
def weights_handed_on() -> Generator[None]:
    """While it lasts, modes for functions are given all arguments of `l1_loss`."""
    handle: Callable[..., Any] = cast(Any, functional).handle_torch_function

    def handed_on(function: Any, relevant: Sequence[Any], *args: Any, **named: Any) -> Any:
        is_lost = function is functional.l1_loss and "weight" not in named and len(relevant) > 2
        return handle(function, relevant, *args, **named, **({"weight": relevant[2]} if is_lost else {}))

    with mock.patch.object(functional, "handle_torch_function", handed_on):
        yield


__all__ = ["weights_handed_on"]
