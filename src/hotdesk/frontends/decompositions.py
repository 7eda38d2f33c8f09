"""How PyTorch ops are taken apart before import: the one table of all decompositions.

torch-mlir's own is the base. In front of it stand, each with what it replaces and why:

* `decompositions_widened`: bytes and half-precision floats, computed in a wider type;
* `decompositions_repairs`: what torch-mlir folds or lowers wrongly;
* `decompositions_memory`: what takes less memory another way.

A decomposition answers `NotImplemented` for calls that it leaves to the next in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch._decomp import get_decompositions  # pyright: ignore[reportUnknownVariableType]

from hotdesk._bindings import torch_mlir_decompositions
from hotdesk.frontends.decompositions_memory import MEMORY
from hotdesk.frontends.decompositions_repairs import REPAIRS
from hotdesk.frontends.decompositions_widened import NARROW, PROMOTED

aten: Any = torch.ops.aten


def decomposition_table() -> dict[Any, Callable[..., Any]]:
    """For each op, the first decomposition that applies to a call."""
    pytorch = cast(Any, get_decompositions)([aten.addmv, aten.dist])
    tables = (NARROW, PROMOTED, REPAIRS, MEMORY, pytorch, torch_mlir_decompositions())
    ops = dict.fromkeys(op for table in tables for op in table)
    return {op: _first([table[op] for table in tables if op in table]) for op in ops}


def _first(candidates: list[Callable[..., Any]]) -> Callable[..., Any]:
    if len(candidates) == 1:
        return candidates[0]

    def tried(*args: Any, **kwargs: Any) -> Any:
        results = (candidate(*args, **kwargs) for candidate in candidates)
        return next((result for result in results if result is not NotImplemented), NotImplemented)

    return tried
