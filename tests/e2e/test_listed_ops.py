"""Operators that once took the process down, never ended, came out wrong or were refused without a reason, by name.

A part of PyTorch's own samples runs too; `make coverage` runs all of them.
"""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import hotdesk
from benchmarks.operators import operators, outcomes, verdict
from hotdesk.errors import HotdeskError, UnsupportedOpError
from tests.e2e.checking import Call, agree, random
from tests.e2e.families.given import Op
from tests.e2e.families.listed import LISTED
from tests.e2e.test_ops import Family


@pytest.mark.parametrize("name", LISTED)
def test_listed(name: str) -> None:
    ops, args = LISTED[name]
    agree(Family(ops), args)


def test_var_of_few_samples_is_not_a_number() -> None:
    program = hotdesk.compile(Call(lambda x: x.var()), (torch.ones(1),))
    assert torch.isnan(cast(Tensor, program(torch.ones(1))))


def test_reshape_of_what_has_no_elements_with_sizes_that_vary() -> None:
    model = Call(lambda x: torch.cat([x[:, :0].reshape(x.shape[0], 0), x], 1))
    program = hotdesk.compile(model, (random(3, 4),), dynamic_shapes=(({0: torch.export.Dim("batch")},),))
    torch.testing.assert_close(program(random(5, 4)), random(5, 4))


REFUSED: dict[str, tuple[Op, tuple[Tensor, ...], type[HotdeskError], str]] = {
    "max_pool3d on integers": (
        lambda x: F.max_pool3d(x, 2),
        (torch.arange(64).reshape(1, 4, 4, 4),),
        UnsupportedOpError,
        r"aten\.max_pool3d",
    ),
    "inv": (torch.linalg.inv, (random(3, 3),), UnsupportedOpError, r"aten\.linalg_inv_ex"),
    "solve": (lambda x: torch.linalg.solve(x, x), (random(3, 3),), UnsupportedOpError, r"aten\._linalg_solve_ex"),
    "cholesky": (torch.linalg.cholesky, (torch.eye(3),), UnsupportedOpError, r"aten\.linalg_cholesky_ex"),
    "depthwise conv_transpose2d of one image": (
        lambda x: F.conv_transpose2d(x, torch.ones(4, 1, 3, 3), groups=4),
        (random(4, 5, 5),),
        UnsupportedOpError,
        r"aten\.convolution",
    ),
    "determinant of a large matrix": (torch.linalg.det, (random(20, 20),), UnsupportedOpError, r"aten\..*det"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name: str) -> None:
    op, args, error, says = REFUSED[name]
    with pytest.raises(error, match=says) as caught:
        hotdesk.compile(Call(op), args, options=hotdesk.Options(foreign=False))
    assert caught.value.where
    assert "unknown" not in str(caught.value)
    assert "a fault of Hotdesk" not in str(caught.value)


SAMPLED = (
    "abs",
    "argsort",
    "clamp_min",
    "cumsum",
    "gather",
    "index_put",
    "max.reduction_with_dim",
    "msort",
    "nn.functional.embedding_bag",
    "nn.functional.pixel_shuffle",
    "nn.functional.unfold",
    "scatter",
    "scatter_add",
    "scatter_reduce.amax",
    "scatter_reduce.sum",
    "sort",
    "square",
    "var",
    "where",
)


SORTING = ("argsort", "msort", "sort")
"""Samples of these have rows of a thousand elements, and sorting takes the square of that."""


CASES = [
    pytest.param(name, dtype, marks=pytest.mark.unchecked if name in SORTING else ())
    for name in SAMPLED
    for dtype in ("float32", "int64", "bool")
    if (name, dtype) not in (("argsort", "bool"), ("sort", "bool"))  # nobody says in which order equal elements come
]


@pytest.mark.unchecked
@pytest.mark.parametrize("stable", [False, True])
def test_sorting_of_truths(stable: bool) -> None:
    x = torch.rand(2000, generator=torch.Generator().manual_seed(0)) > 0.5
    model = Call(lambda x: torch.sort(x, stable=stable))
    values, indices = cast("tuple[Tensor, Tensor]", hotdesk.compile(model, (x,))(x))
    wanted = torch.sort(x, stable=stable)
    assert torch.equal(values, wanted.values)
    assert torch.equal(x[indices], wanted.values)
    assert torch.equal(indices.sort().values, torch.arange(2000))
    if stable:
        assert torch.equal(indices, wanted.indices)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_samples_of_pytorch(name: str, dtype: str) -> None:
    op: Any = dict(operators()).get(name)
    if op is None or getattr(torch, dtype) not in op.supported_dtypes("cpu"):
        return
    found = list(outcomes(op, dtype, 2))
    assert verdict(found) == "right", found
