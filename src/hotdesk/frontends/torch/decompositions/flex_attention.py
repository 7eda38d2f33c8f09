"""`flex_attention`, a higher-order op, as products and a softmax: its functions of a score and of a mask on all scores at once.

Autograd is the first that sees the op, so there it is taken apart, recorded or not. Programs of `torch.export` are left:
the numbers that the formula makes tensors of have no place among their constants.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._higher_order_ops.flex_attention import flex_attention, math_attention

from hotdesk.frontends.torch.decompositions.autograd_kernels import autograd_kernels


def _composed(*args: Any, **kwargs: Any) -> Any:
    with TransformGetItemToIndex():  # a function of a score may read tensors at places that are tensors
        return math_attention(*args, **kwargs)


@contextmanager
def flex_attention_composed() -> Generator[None]:
    """Has autograd see what the op is composed of."""
    with autograd_kernels({flex_attention: _composed}):
        yield
