"""Ops on places that are known, taken apart: beside PyTorch's own on every dim, kind of element and empty shape."""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.decompositions.placed import PLACED
from hotdesk.frontends.torch.decompositions.repairs import REPAIRS
from hotdesk.frontends.torch.decompositions.special import SPECIAL
from tests.e2e.checking import Call, random

aten: Any = torch.ops.aten


def same(op: Any, *args: Any, **kwargs: Any) -> None:
    got, wanted = PLACED[op](*args, **kwargs), op(*args, **kwargs)
    torch.testing.assert_close(got, wanted, equal_nan=True, check_stride=False)


X = torch.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("x", [X, X.permute(2, 0, 1), X.transpose(0, 1), X[1:]], ids=range(4))
def test_strided_views_of_what_has_no_gaps(x: Tensor) -> None:
    for size, stride in (((2, 2), (1, 2)), ((3,), (2,)), ((), ()), ((2, 0), (1, 1)), ((2, 3), (0, 1))):
        for offset in (x.storage_offset(), x.storage_offset() + 1):
            same(aten.as_strided.default, x, size, stride, offset)
            if size != (2, 3):
                source = torch.full(size, -1.0)
                same(aten.as_strided_scatter.default, x, source, size, stride, offset)


def test_memory_beside_the_tensor_is_refused() -> None:
    x = torch.arange(8.0)
    for op in (lambda x: x[2:].sin().as_strided((2,), (9,)), lambda x: x[::2].as_strided((2,), (1,))):
        with pytest.raises(UnsupportedOpError, match=r"aten\.as_strided.*beside"):
            hotdesk.compile(Call(op), (x,))


def test_a_strided_view_of_a_view() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    for op in (lambda x: x.t().as_strided((3,), (2,)) * 1, lambda x: (x + 1).t().contiguous().as_strided((3,), (2,))):
        program = hotdesk.compile(Call(op), (x,))
        torch.testing.assert_close(program(x), op(x))


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2])
def test_diagonals_are_written(offset: int) -> None:
    for first, second in itertools.permutations((0, 1, 2), 2):
        source = -torch.ones_like(torch.diagonal(X, offset, first, second))
        if source.numel():
            same(aten.diagonal_scatter.default, X, source, offset, first, second)
            same(aten.diagonal_scatter.default, X, source, offset, first - 3, second - 3)


def test_put() -> None:
    for index in (torch.tensor([[5, -1], [0, 7]]), torch.tensor([3, 3, -21, 3]), torch.tensor([], dtype=torch.int64)):
        for accumulate in (False, True):
            if accumulate or index.unique().numel() == index.numel():
                same(aten.put.default, X, index, torch.arange(float(index.numel())) + 1, accumulate)
                same(aten.put.default, X.long(), index, torch.arange(index.numel()) + 1, accumulate)


def test_take() -> None:
    for index in (torch.tensor([[5, -1], [0, 7]]), torch.tensor(-24), torch.zeros([0, 2], dtype=torch.int64)):
        same(aten.take.default, X, index)
        same(aten.take.default, X > 3, index)


def test_combinations() -> None:
    for count, r, again in itertools.product((0, 1, 2, 5), (1, 2, 3), (False, True)):
        same(aten.combinations.default, torch.arange(count), r, again)
    model = Call(lambda x: torch.combinations(x, 1) * 2)  # of more, `torch.export` loses the size
    program = hotdesk.compile(model, (random(4),), options=hotdesk.Options(foreign=False))
    x = random(4)
    torch.testing.assert_close(program(x), model(x))
    program = hotdesk.compile(model, (random(300),), options=hotdesk.Options(foreign=False))
    torch.testing.assert_close(program(random(300)), model(random(300)))


@pytest.mark.parametrize("reduce", ["mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("dim", [0, 2, -2])
def test_index_reduce(reduce: str, dim: int) -> None:
    index = torch.tensor([1, 0, 1])
    source = random(*[3 if i == dim % 3 else size for i, size in enumerate(X.shape)])
    for include in (True, False):
        same(aten.index_reduce.default, X, dim, index, source, reduce, include_self=include)
        same(aten.index_reduce.default, X.long(), dim, index, (source * 9).long(), reduce, include_self=include)
    same(aten.index_reduce.default, torch.tensor(2.0), 0, torch.tensor([0]), torch.tensor(3.0), reduce)


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, math.inf])
def test_distances_of_pairs(p: float) -> None:
    for rows in (0, 1, 2, 6):
        same(aten._pdist_forward.default, random(rows, 3), p)


def test_median_of_what_is_a_number() -> None:
    x = random(5, 6)
    x[x > 0.7] = math.nan
    x[2] = math.nan
    for dim, keepdim in itertools.product((0, 1, -1), (False, True)):
        got, wanted = PLACED[aten.nanmedian.dim](x, dim, keepdim), torch.nanmedian(x, dim, keepdim)
        torch.testing.assert_close(got[0], wanted[0], equal_nan=True)
        number = ~torch.isnan(wanted[0])
        assert torch.equal(got[1][number], wanted[1][number])
    same(aten.nanmedian.default, x)
    same(aten.nanmedian.dim, torch.tensor(math.nan), 0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool, torch.float32, torch.bfloat16])
def test_the_most_frequent(dtype: torch.dtype) -> None:
    x = torch.randint(0, 4, (5, 16), generator=torch.Generator().manual_seed(0)).to(dtype)
    for dim, keepdim in itertools.product((0, 1, -1), (False, True)):
        same(aten.mode.default, x, dim, keepdim)
    same(aten.mode.default, x[0, 0], 0)
    assert PLACED[aten.mode.default](torch.ones(17)) is NotImplemented


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_most_frequent_among_what_is_no_number(dtype: torch.dtype) -> None:
    """PyTorch's sort leaves elements apart that are equal, where one between them is no number."""
    generator = torch.Generator().manual_seed(0)
    for count in range(1, 17):
        for kinds in range(2, 8):
            pool = torch.tensor([math.nan, 2.0, -0.0, 0.0, 1.0, math.inf, -math.inf])[:kinds].to(dtype)
            same(aten.mode.default, pool[torch.randint(kinds, (20, count), generator=generator)], 1)


@pytest.mark.parametrize("align_corners", [False, True])
def test_resizing_without_aliases(align_corners: bool) -> None:
    op = aten._upsample_bilinear2d_aa.default
    for size in ((3, 4), (1, 1), (20, 9), (7, 30)):
        same(op, random(2, 3, 9, 12), size, align_corners)
    same(op, random(1, 1, 10, 10), (4, 5), align_corners, 0.45, 0.51)


def test_angles() -> None:
    for x in (
        torch.tensor([1.0, -1.0, 0.0, -0.0, math.nan, -math.inf]),
        torch.tensor([2, -1, 0]),
        torch.tensor([True, False]),
    ):
        same(aten.angle.default, x)


def test_hypotenuses() -> None:
    ends = torch.tensor([0.0, -3.0, 4.0, 1e30, -3e38, 1e-40, math.inf, -math.inf, math.nan])
    got = SPECIAL[aten.hypot.default](ends.unsqueeze(1), ends)
    torch.testing.assert_close(got, torch.hypot(ends.unsqueeze(1), ends), equal_nan=True)


def test_rolls_by_half() -> None:
    for dim in (None, [0], [1, 2], [-1, 0]):
        same(aten.fft_fftshift.default, X, dim)
        same(aten.fft_ifftshift.default, X, dim)


NORMS = [
    (None, None),
    (None, [1]),
    (None, [0, -1]),
    (3.0, [1]),
    (0.0, [2]),
    (-math.inf, [0]),
    (1.0, [0, 2]),
    (-1.0, [-1, 0]),
]


@pytest.mark.parametrize(("order", "dim"), [*NORMS, (math.inf, [1, 2]), (-math.inf, [2, 0])])
def test_norms(order: float | None, dim: list[int] | None) -> None:
    for keepdim in (False, True):
        same(aten.linalg_norm.default, random(2, 3, 4), order, dim, keepdim)
    assert PLACED[aten.linalg_norm.default](random(2, 2), 2.0) is NotImplemented


def test_scalars_have_one_extreme() -> None:
    for x in (torch.tensor(3), torch.tensor(True), torch.tensor(-1.5)):
        for op in (aten.max.dim, aten.min.dim):
            assert REPAIRS[op](x, 0) == op(x, 0)
        for op in (aten.argmax.default, aten.argmin.default):
            assert x.dtype == torch.bool or torch.equal(REPAIRS[op](x, -1, True), op(x, -1, True))


COMPILED: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "strided": (lambda x: x.as_strided((2, 2), (1, 5), 1), (X,)),
    "written diagonal": (lambda x, y: torch.diagonal_scatter(x, y, 1, 1, 2), (X, random(2, 3))),
    "put": (lambda x, i, y: x.put(i, y, accumulate=True), (X, torch.tensor([1, -1, 1]), random(3))),
    "least in place": (lambda x, i, y: x.index_reduce(1, i, y, "amin"), (X, torch.tensor([1, 0]), random(2, 2, 4))),
    "pairs": (lambda x: torch.pdist(x), (random(5, 3),)),
    "median": (lambda x: torch.nanmedian(torch.log(x), 1)[0], (random(5, 7) - 0.5,)),
    "mode": (lambda x: torch.mode(x, 0), (torch.arange(12).reshape(4, 3) % 5,)),
    "product of a type": (lambda x: torch.cumprod(x, 1, dtype=torch.float32), (torch.arange(6).reshape(2, 3),)),
    "resized": (
        lambda x: torch.nn.functional.interpolate(x, (3, 4), mode="bilinear", antialias=True),
        (random(1, 2, 7, 9),),
    ),
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_without_a_foreign_call(name: str) -> None:
    op, args = COMPILED[name]
    program = hotdesk.compile(Call(op), args, options=hotdesk.Options(foreign=False))
    torch.testing.assert_close(program(*args), op(*args), equal_nan=True, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["reflection", "replication"])
def test_paddings_of_every_rank_and_of_less_than_there_is(kind: str) -> None:
    for dims, sizes in ((1, (2, 9)), (1, (2, 3, 9)), (2, (3, 7, 9)), (2, (2, 3, 7, 9)), (3, (2, 3, 4, 5, 6))):
        x = torch.arange(float(math.prod(sizes))).reshape(sizes)
        op = getattr(aten, f"{kind}_pad{dims}d").default
        for padding in ((1, 2, 3, 2, 1, 2), (0,) * 6, (-1, 2, 1, -2, 0, 1)):
            same(op, x, padding[: 2 * dims])


def test_what_is_padded_along_one_dim_alone_is_never_there() -> None:
    x = random(2, 3, 7, 9)
    program = hotdesk.compile(torch.nn.ReflectionPad2d((1, 2, 3, 4)), (x,))
    assert torch.equal(program(x), torch.nn.functional.pad(x, (1, 2, 3, 4), mode="reflect"))
    assert program.memory(x).arena == 0
