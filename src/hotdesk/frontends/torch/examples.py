"""Example arguments as tensors of their own: what two of them happen to share says nothing about calls."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import torch
from torch.utils import _pytree as pytree

Examples = TypeVar("Examples")


def told_apart(model: Any, examples: Examples) -> Examples:
    """The same examples, no two of which are one tensor or share memory, with each other or with the model.

    Tracing would take such tensors for one, and read one argument where the model reads two.
    """
    own = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
    seen = {_memory(each) for each in own}

    def apart(example: torch.Tensor) -> torch.Tensor:
        is_shared = _memory(example) in seen
        seen.add(_memory(example))
        return example.detach().clone() if is_shared else example.detach()

    return pytree.tree_map_only(torch.Tensor, apart, examples)


def _memory(tensor: torch.Tensor) -> int:
    """Which memory a tensor is in."""
    return cast(Any, tensor.untyped_storage())._cdata if tensor.layout == torch.strided else id(tensor)
