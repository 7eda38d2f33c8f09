"""Ops of PyTorch by family, each compared with eager PyTorch; and the ops that Hotdesk refuses, with the error they raise.

A family is one program that returns a result for each op, so that four hundred ops are some sixty compilations.
"""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import hotdesk
from hotdesk.errors import DataDependentShapeError, HotdeskError, UnsupportedOpError
from tests.e2e.checking import agree
from tests.e2e.families.elements import ELEMENTS
from tests.e2e.families.given import INTS, POSITIVE, SQUARE, UNIT, Op, X
from tests.e2e.families.layers import LAYERS
from tests.e2e.families.moving import MOVING


class Family(nn.Module):
    """Applies every op to the arguments; modules among the ops keep their weights."""

    def __init__(self, ops: Mapping[str, Op]) -> None:
        super().__init__()
        self.modules_by_name = nn.ModuleDict({name: op for name, op in ops.items() if isinstance(op, nn.Module)})
        self.ops = dict(ops)

    def forward(self, *args: Tensor) -> dict[str, Any]:
        return {name: op(*args) for name, op in self.ops.items()}


FAMILIES = {**ELEMENTS, **MOVING, **LAYERS}


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name: str) -> None:
    ops, args = FAMILIES[name]
    agree(Family(ops), args)


UNSUPPORTED: dict[str, tuple[Op, Tensor, type[HotdeskError]]] = {
    "histc": (torch.histc, POSITIVE, UnsupportedOpError),
    "view of a narrower type": (lambda x: x.view(torch.int16), X, UnsupportedOpError),
    "svd": (lambda x: torch.linalg.svd(x).S, SQUARE, UnsupportedOpError),
    "qr": (lambda x: torch.linalg.qr(x)[0], SQUARE, UnsupportedOpError),
    "eigenvalues": (lambda x: torch.linalg.eigvalsh(x + x.t()), SQUARE, UnsupportedOpError),
    "inverse": (torch.linalg.inv, SQUARE, UnsupportedOpError),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.t()), SQUARE, UnsupportedOpError),
    "solve": (lambda x: torch.linalg.solve(x, x), SQUARE, UnsupportedOpError),
    "matrix exponential": (torch.matrix_exp, SQUARE, UnsupportedOpError),
    "fft": (lambda x: torch.fft.fft(x).real, X, UnsupportedOpError),
    "rfft": (lambda x: torch.fft.rfft(x).abs(), X, UnsupportedOpError),
    "complex numbers": (lambda x: torch.view_as_real(torch.complex(x, x)), X, UnsupportedOpError),
    "poisson": (torch.poisson, UNIT, UnsupportedOpError),
    "unique": (torch.unique, INTS, DataDependentShapeError),
    "bincount": (lambda x: torch.bincount(x.flatten(), minlength=9), INTS, DataDependentShapeError),
    "equal": (lambda x: torch.equal(x, x + 1), X, DataDependentShapeError),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name: str) -> None:
    op, x, error = UNSUPPORTED[name]
    with pytest.raises(error) as caught:
        hotdesk.compile(Family({"op": op}), (x,), options=hotdesk.Options(foreign=False))
    assert caught.value.expected
    assert caught.value.got
