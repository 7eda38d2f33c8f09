"""How PyTorch ops are taken apart before import: the one table of all decompositions.

torch-mlir's own is the base. In front of it stand, each with what it replaces and why:

* `asserted`: what asserts something of values;
* `parts`: what writes a part of a tensor, in front of all others that do: the source has to have the part's shape;
* `scattered`: what writes where indices say;
* `counted`: what may have no element, where PyTorch demands one;
* `exact`: booleans, integers, scalars, running maxima;
* `composed`: what torch-mlir has no lowering for;
* `searched`: places among sorted elements;
* `gradients`: of convolutions and normed weights;
* `bits`: signs, exponents and neighbours of floats;
* `placed`: what reads or writes places that are known;
* `special`, `bessel`, `polynomials`: special functions, in f64;
* `widened`: bytes and half-precision floats, computed in a wider type;
* `repairs`: what torch-mlir folds or lowers wrongly; integers and numbers beyond their type in front of `widened`;
* `memory`: what takes less memory another way;
* `sampled`: images sampled at the places of a grid;
* `random`: what draws random numbers, in front of all others;
* `lists`: ops on lists of tensors, as optimizers call them;
* `transformers`: attention and encoder layers that are one op in eval mode;
* `recurrent`: LSTM, GRU and Elman networks, as loops;
* `ctc_loss`: the CTC loss and its gradient, as loops.

A decomposition answers `NotImplemented` for calls that it leaves to the next in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch._decomp import get_decompositions  # pyright: ignore[reportUnknownVariableType]

from hotdesk._bindings import torch_mlir_decompositions
from hotdesk.frontends.torch.decompositions.asserted import ASSERTED
from hotdesk.frontends.torch.decompositions.autograd_kernels import AUTOGRAD, COMPOSITE, autograd_kernels
from hotdesk.frontends.torch.decompositions.bessel import BESSEL
from hotdesk.frontends.torch.decompositions.bits import BITS
from hotdesk.frontends.torch.decompositions.composed import COMPOSED
from hotdesk.frontends.torch.decompositions.counted import COUNTED
from hotdesk.frontends.torch.decompositions.ctc_loss import CTC
from hotdesk.frontends.torch.decompositions.exact import EXACT
from hotdesk.frontends.torch.decompositions.gradients import GRADIENTS
from hotdesk.frontends.torch.decompositions.lists import LISTS
from hotdesk.frontends.torch.decompositions.memory import MEMORY
from hotdesk.frontends.torch.decompositions.parts import PARTS
from hotdesk.frontends.torch.decompositions.placed import PLACED
from hotdesk.frontends.torch.decompositions.polynomials import POLYNOMIALS
from hotdesk.frontends.torch.decompositions.random import RANDOM
from hotdesk.frontends.torch.decompositions.recurrent import RECURRENT
from hotdesk.frontends.torch.decompositions.repairs import REPAIRS, WRAPPED
from hotdesk.frontends.torch.decompositions.sampled import SAMPLED
from hotdesk.frontends.torch.decompositions.scattered import SCATTERED
from hotdesk.frontends.torch.decompositions.searched import SEARCHED
from hotdesk.frontends.torch.decompositions.special import SPECIAL
from hotdesk.frontends.torch.decompositions.transformers import TRANSFORMERS
from hotdesk.frontends.torch.decompositions.widened import BY_NUMBER, NARROW, PROMOTED, either

aten: Any = torch.ops.aten


_KEPT = (aten.full.default,)
"""Ops that stay whole: PyTorch would take `full` apart by way of memory without contents, which has no lowering."""


_PYTORCHS = (
    aten.addmv,
    aten.dist,
    aten._batch_norm_with_update_functional,
    aten.rrelu_with_noise_backward,
    aten.upsample_bilinear2d.default,
    aten.upsample_bicubic2d.default,
)
"""Ops that PyTorch's decompositions take apart, of which torch-mlir's table has none."""


_MARGINS = (aten.multi_margin_loss.default, aten.multilabel_margin_loss_forward.default)


def decomposition_table(*, exported: bool = False) -> dict[Any, Callable[..., Any]]:
    """For each op, the first decomposition that applies to a call.

    `exported` says whether `torch.export` has made the program, so that it may have loops.
    """
    pytorch = cast(Any, get_decompositions)(_PYTORCHS)
    ours = (
        RANDOM,
        PARTS,
        SCATTERED,
        COUNTED,
        EXACT,
        PLACED,
        BITS,
        GRADIENTS,
        COMPOSED,
        SEARCHED,
        SAMPLED,
        SPECIAL,
        BESSEL,
        POLYNOMIALS,
        WRAPPED,
        BY_NUMBER,
        NARROW,
        PROMOTED,
        REPAIRS,
        MEMORY,
        LISTS,
        TRANSFORMERS,
    )
    tables = (
        ASSERTED,
        CTC,
        *((RECURRENT,) if exported else ()),
        *ours,
        pytorch,
        torch_mlir_decompositions(),
    )
    ops = dict.fromkeys(op for table in tables for op in table if op not in _KEPT)
    return {op: either(*[table[op] for table in tables if op in table]) for op in ops}


@contextmanager
def asked_before_autograd(ops: Iterable[Any]) -> Generator[None]:
    """Has a table asked about its `ops` also where PyTorch takes one apart itself, as soon as autograd sees it, recording or not.

    Composite ops (`CompositeImplicitAutograd`) are left: for these PyTorch asks the table.
    """
    kernels: dict[Any, Any] = {op: getattr(op, "py_kernels", {}) for op in ops}
    with autograd_kernels({op: None for op, each in kernels.items() if AUTOGRAD in each and COMPOSITE not in each}):
        yield


@contextmanager
def margins_composed() -> Generator[None]:
    """Has autograd see our losses of margins in place of PyTorch's decompositions, which count labels behind the first -1."""
    with autograd_kernels({op: either(REPAIRS[op], op.py_kernels[AUTOGRAD]) for op in _MARGINS}):
        yield
