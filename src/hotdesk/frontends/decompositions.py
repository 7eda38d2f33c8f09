"""How PyTorch ops are taken apart before import: the one table of all decompositions.

torch-mlir's own is the base. In front of it stand, each with what it replaces and why:

* `decompositions_scattered`: what writes where indices say;
* `decompositions_exact`: booleans, integers, scalars, running maxima;
* `decompositions_composed`: what torch-mlir has no lowering for;
* `decompositions_bits`: signs, exponents and neighbours of floats;
* `decompositions_placed`: what reads or writes places that are known;
* `decompositions_special`, `decompositions_bessel`, `decompositions_polynomials`: special functions, in f64;
* `decompositions_widened`: bytes and half-precision floats, computed in a wider type;
* `decompositions_repairs`: what torch-mlir folds or lowers wrongly;
* `decompositions_memory`: what takes less memory another way;
* `decompositions_random`: what draws random numbers, in front of all others.

A decomposition answers `NotImplemented` for calls that it leaves to the next in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch._decomp import get_decompositions  # pyright: ignore[reportUnknownVariableType]

from hotdesk._bindings import torch_mlir_decompositions
from hotdesk.frontends.decompositions_bessel import BESSEL
from hotdesk.frontends.decompositions_bits import BITS
from hotdesk.frontends.decompositions_composed import COMPOSED
from hotdesk.frontends.decompositions_exact import EXACT
from hotdesk.frontends.decompositions_memory import MEMORY
from hotdesk.frontends.decompositions_placed import PLACED
from hotdesk.frontends.decompositions_polynomials import POLYNOMIALS
from hotdesk.frontends.decompositions_random import RANDOM
from hotdesk.frontends.decompositions_repairs import REPAIRS
from hotdesk.frontends.decompositions_scattered import SCATTERED
from hotdesk.frontends.decompositions_special import SPECIAL
from hotdesk.frontends.decompositions_widened import NARROW, PROMOTED, either

aten: Any = torch.ops.aten


_KEPT = (aten.full.default,)
"""Ops that stay whole: PyTorch would take `full` apart by way of memory without contents, which has no lowering."""


def decomposition_table(*, random: bool = False) -> dict[Any, Callable[..., Any]]:
    """For each op, the first decomposition that applies to a call; those of random ops only if the program is to draw."""
    pytorch = cast(Any, get_decompositions)([aten.addmv, aten.dist, aten._batch_norm_with_update_functional])
    ours = (SCATTERED, EXACT, PLACED, BITS, COMPOSED, SPECIAL, BESSEL, POLYNOMIALS, NARROW, PROMOTED, REPAIRS, MEMORY)
    drawing = (RANDOM,) if random else ()
    tables = (*drawing, *ours, pytorch, torch_mlir_decompositions())
    ops = dict.fromkeys(op for table in tables for op in table if op not in _KEPT)
    return {op: either(*[table[op] for table in tables if op in table]) for op in ops}
