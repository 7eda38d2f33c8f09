"""Functions of PyTorch that are replaced during export, because a trace of them would hold for some sizes or values alone."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from hotdesk.frontends.torch.decompositions.asserted import ASSERTING_FUNCTIONS
from hotdesk.frontends.torch.decompositions.counted import NAMED, SELECTIONS
from hotdesk.frontends.torch.decompositions.covariance import COVARIANCES
from hotdesk.frontends.torch.decompositions.ctc_loss import CTC_LOSSES
from hotdesk.frontends.torch.decompositions.parts import PART_FUNCTIONS
from hotdesk.frontends.torch.decompositions.raising_branches import BRANCHES
from hotdesk.frontends.torch.decompositions.recurrent import LAYERS

_NAMED = {**NAMED, **ASSERTING_FUNCTIONS, **COVARIANCES, **PART_FUNCTIONS, **CTC_LOSSES}
_FUNCTIONS = {**LAYERS, **SELECTIONS, **BRANCHES, **_NAMED}


class ReplacedFunctions(TorchFunctionMode):
    """Calls the replacement of a function, unless that leaves the call to PyTorch by `NotImplemented`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        op = _FUNCTIONS.get(func)
        named: dict[str, Any] = kwargs or {}
        made = NotImplemented if op is None or (named and func not in _NAMED) else op(*args, **named)
        return func(*args, **named) if made is NotImplemented else made
