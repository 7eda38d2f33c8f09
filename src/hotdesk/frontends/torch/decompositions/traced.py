"""Functions that other ones stand for while a model is exported: what PyTorch traces of them does not hold for all sizes."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from hotdesk.frontends.torch.decompositions.counted import SELECTIONS
from hotdesk.frontends.torch.decompositions.recurrent import LAYERS

_FUNCTIONS = {**LAYERS, **SELECTIONS}


class Traced(TorchFunctionMode):
    """Calls what stands for a function, unless that leaves the call to PyTorch by `NotImplemented`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        op = _FUNCTIONS.get(func)
        made = NotImplemented if op is None or kwargs else op(*args)
        return func(*args, **(kwargs or {})) if made is NotImplemented else made
