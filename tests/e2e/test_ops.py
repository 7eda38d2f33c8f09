"""Ops of PyTorch by family, each compared with eager PyTorch; and the ops that Hotdesk refuses, with the error they raise.

A family is one program that returns a result for each op, so that four hundred ops are some sixty compilations.
"""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
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


def test_rests_of_large_quotients() -> None:
    """A product of the quotient and the divisor, rounded, would leave nothing of them."""
    x = torch.tensor([1e9, 123456.7, -1e9, 1e20, -0.0, math.inf, math.nan, 5.0])
    y = torch.tensor([3.7, -3.7, 2.5, 7.0, 1.0, 1.0, 1.0, math.inf])

    def model(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return torch.fmod(x, y), torch.fmod(x, 3.7), torch.fmod(x, -3.7), torch.floor_divide(x, y)

    for found, expected in zip(hotdesk.compile(model, (x, y))(x, y), model(x, y), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
        number = ~torch.isnan(expected)
        assert torch.equal(torch.signbit(found)[number], torch.signbit(expected)[number])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_and_signed_zeros(dtype: torch.dtype) -> None:
    x = torch.tensor([-1e-10, -1e-40, -0.0, 0.0, 1e-10, -0.5, -2.5, 2.5, math.inf, -math.inf, math.nan], dtype=dtype)

    def model(x: Tensor) -> tuple[Tensor, ...]:
        functions = nn.functional
        near_zero = torch.log1p(x), torch.expm1(x), functions.elu(x), functions.elu(x, 0.5), functions.selu(x)
        return *near_zero, torch.trunc(x), torch.frac(x)

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0, equal_nan=True)
        number = ~torch.isnan(expected)
        assert torch.equal(torch.signbit(found)[number], torch.signbit(expected)[number])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_numbers_have_the_type_of_the_tensor_they_meet(dtype: torch.dtype) -> None:
    x = torch.tensor([0.1, 1 / 3, -0.1, 16777217, 2, -16777217, math.inf if dtype.is_floating_point else 0]).to(dtype)
    compared = (torch.eq, torch.ne, torch.gt, torch.ge, torch.lt, torch.le)

    def model(x: Tensor) -> list[Tensor]:
        found = [op(x, number) for op in compared for number in (0.1, 1 / 3, 16777216.5, 16777217, math.nan)]
        if x.dtype.is_floating_point:
            found += [nn.functional.threshold(x, 0.1, 7), nn.functional.hardshrink(x, 0.1)]
        return [*found, 0.1 - x, torch.rsub(x, 3, alpha=2)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int32])
def test_integers_are_compared_with_what_is_left_of_a_number_in_their_type(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 44, 255, -1]).to(dtype)
    compared = (torch.eq, torch.ne, torch.gt, torch.ge, torch.lt, torch.le)

    def model(x: Tensor) -> list[Tensor]:
        return [op(x, number) for op in compared for number in (-1, 2, 300, 1 << 31, 1 << 40)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_integers_are_divided_by_what_is_left_of_a_number_in_their_type(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 44, 100, 127]).to(dtype) - 3

    def model(x: Tensor) -> list[Tensor]:
        truncated = torch.div(x, 300, rounding_mode="trunc")
        return [x // 300, x % 300, torch.fmod(x, 300), truncated, 300 - x, torch.rsub(x, 300)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32])
def test_divisions_that_are_not_rounded_are_of_floats(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 44, 100, 127]).to(dtype)

    def model(x: Tensor) -> list[Tensor]:
        return [torch.div(x, y, rounding_mode=None) for y in (3, 300, 2**40, x + 1)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert found.dtype == expected.dtype
        assert torch.allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int64])
def test_thresholds_of_integers_are_integers(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 44, 100, 127]).to(dtype) - 3

    def model(x: Tensor) -> list[Tensor]:
        signed = (1, -1) if dtype.is_signed else (1,)
        ways = [(limit * sign, value * sign) for sign in signed for limit in (1, 1.5) for value in (2.7, 3)]
        return [nn.functional.threshold(x, limit, value) for limit, value in ways]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)


def test_variances_of_complex_numbers_are_real() -> None:
    x = torch.randn(4, 3, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))

    def model(x: Tensor) -> list[Tensor]:
        return [x.var(0), x.std(), *torch.var_mean(x, -1, keepdim=True), *torch.std_mean(x, correction=0)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert found.dtype == expected.dtype
        assert torch.allclose(found, expected, rtol=1e-5)


def test_running_products_have_the_type_asked_for() -> None:
    x = torch.tensor([7, 100, 127, 3], dtype=torch.int32)

    def model(x: Tensor) -> list[Tensor]:
        return [x.cumprod(0, dtype=dtype) for dtype in (torch.int8, torch.int32, torch.int64, torch.float32)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_whole_numbers_are_negated_as_such(dtype: torch.dtype) -> None:
    limits = torch.iinfo(dtype)
    x = torch.tensor([limits.min, limits.min + 1, -1, 0, limits.max - 1, limits.max], dtype=dtype)
    assert torch.equal(hotdesk.compile(lambda x: -x, (x,))(x), -x)


def test_running_totals_are_kept_in_f64() -> None:
    x = torch.tensor([[2.0**24, 1.0, 1.0, 1.0], [3e38, 3e38, -3e38, 1.0], [1e-45, 1e-45, 1e38, 1e38]])

    def model(x: Tensor) -> list[Tensor]:
        return [op(x.T.contiguous() if dim == 0 else x, dim) for op in (torch.cumsum, torch.cumprod) for dim in (0, 1)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert torch.equal(found, expected)


def test_deviations_are_kept_in_f64() -> None:
    x = torch.tensor([[3e38, 3e38, -3e38], [1e10, 1e10, 1e10], [0.1, 0.1, 0.1], [0.0, 0.0, 1e-40], [1.0, 2.0, 4.0]])

    def model(x: Tensor) -> list[Tensor]:
        return [
            each
            for dim in (0, 1)
            for each in (x.std(dim), x.var(dim), *torch.var_mean(x, dim), *torch.std_mean(x, dim))
        ]

    program = hotdesk.compile(model, (x,))
    for found, expected in zip(program(x), model(x), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)


def test_deviations_copy_nothing_in_f64() -> None:
    program = hotdesk.compile(lambda x: x.std(1), (torch.rand(64, 4096),))
    assert program.memory().arena < 64 * 4096


def test_limits_that_are_not_numbers() -> None:
    x = torch.tensor([1.0, 2.0, math.nan, 5.0])
    low, high = torch.tensor([math.nan, 0.0, 0.0, 0.0]), torch.tensor([3.0, math.nan, 1.0, 2.0])

    def model(x: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, ...]:
        return (
            torch.clamp(x, low, high),
            torch.clamp(x, min=low),
            torch.clamp(x, max=high),
            x.clamp_max(low),
            x.clamp_min(high),
        )

    for found, expected in zip(hotdesk.compile(model, (x, low, high))(x, low, high), model(x, low, high), strict=True):
        torch.testing.assert_close(found, expected, equal_nan=True)


def test_what_is_no_number_is_sorted_last() -> None:
    x = torch.tensor([[3.0, math.nan, 1.0], [math.inf, 2.0, -math.inf]])

    def model(x: Tensor) -> list[Tensor]:
        return [
            each for k in (1, 2, 3) for each in (*torch.kthvalue(x, k), *torch.kthvalue(x, k - k // 3, 0, keepdim=True))
        ]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize(
    "model",
    [lambda x, y: torch.masked_select(x, y), lambda x, _: nn.functional.multilabel_margin_loss(x, torch.tensor(0))],
)
def test_scalars_as_one_element(model: Any) -> None:
    x = torch.tensor(2.0)
    for mask in (torch.tensor(True), torch.tensor(False)):
        torch.testing.assert_close(hotdesk.compile(model, (x, mask))(x, mask), model(x, mask))


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_labels_behind_the_first_minus_one_do_not_count(shape: tuple[int, ...]) -> None:
    x, target = torch.rand(shape), torch.tensor([[3, -1, 0, 2], [-1, 0, 0, 0], [0, 1, 2, 3]])[: len(shape) * 2 - 1]
    target = target.reshape(shape)

    def model(x: Tensor, target: Tensor) -> list[Tensor]:
        reductions = ("none", "mean", "sum")
        return [nn.functional.multilabel_margin_loss(x, target, reduction=each) for each in reductions]

    for found, expected in zip(hotdesk.compile(model, (x, target))(x, target), model(x, target), strict=True):
        torch.testing.assert_close(found, expected)


def test_margins_that_are_no_number_do_not_count() -> None:
    x = torch.tensor([[1.0, math.nan, 0.5, 2.0], [math.inf, 0.3, -math.inf, 1.0], [0.1, 0.2, 0.3, math.nan]])
    weight, target = torch.tensor([1.0, math.inf, 2.0, math.nan]), torch.tensor([0, 2, 3])
    labels = torch.tensor([[0, -1, 0, 0], [0, 2, -1, 0], [3, 1, -1, 0]])

    def model(x: Tensor, weight: Tensor, target: Tensor, labels: Tensor) -> list[Tensor]:
        found: list[Tensor] = []
        for each in ("none", "mean", "sum"):
            found += [nn.functional.multi_margin_loss(x, target, p=p, reduction=each) for p in (1, 2)]
            found += [nn.functional.multi_margin_loss(x, target, 1, 0.5, weight, reduction=each)]
            found += [nn.functional.multi_margin_loss(x[0], target[0], reduction=each)]
            found += [nn.functional.multilabel_margin_loss(x, labels, reduction=each)]
        return found

    given = (x, weight, target, labels)
    for found, expected in zip(hotdesk.compile(model, given)(*given), model(*given), strict=True):
        torch.testing.assert_close(found, expected, equal_nan=True)


def test_largest_distances_of_what_is_no_number() -> None:
    x = torch.tensor(
        [[1.0, math.nan, 3.0], [math.inf, 0.0, 1.0], [math.nan, math.nan, math.nan], [-0.0, 2.0, math.inf]]
    )

    def model(x: Tensor) -> list[Tensor]:
        return [torch.cdist(x, x[:3], p=math.inf), nn.functional.pdist(x, p=math.inf)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_of_short_floats_by_index_are_rounded_once(dtype: torch.dtype) -> None:
    rows, index = torch.full((600, 2), 0.75, dtype=dtype), torch.zeros(600, dtype=torch.int64)
    spread = index.unsqueeze(1).expand(600, 2)

    def model(rows: Tensor) -> list[Tensor]:
        begin = torch.zeros(3, 2, dtype=dtype)
        bags = [nn.functional.embedding_bag(index, rows, index[:1], mode=mode) for mode in ("sum", "mean")]
        return [
            begin.index_add(0, index, rows),
            begin.scatter_add(0, spread, rows),
            *(begin.scatter_reduce(0, spread, rows, each) for each in ("sum", "mean", "amax")),
            *bags,
        ]

    for found, expected in zip(hotdesk.compile(model, (rows,))(rows), model(rows), strict=True):
        torch.testing.assert_close(found, expected)
        assert found.dtype == dtype


def test_sums_of_bytes_have_the_type_that_is_asked_for() -> None:
    x = torch.tensor([[200, 100, 7], [1, 2, 3]], dtype=torch.uint8)

    def model(x: Tensor) -> list[Tensor]:
        dtypes = (None, torch.uint8, torch.int8, torch.int32, torch.float32)
        reduced = [
            each for dtype in dtypes for each in (x.sum(1, dtype=dtype), x.prod(dtype=dtype), x.cumsum(1, dtype=dtype))
        ]
        return [*reduced, torch.tensordot(x, x[:1, :2], 0), torch.tensordot(x[:, :1], x[1:, :2], 1)]

    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        torch.testing.assert_close(found, expected)


def test_largest_distances_of_points_without_coordinates() -> None:
    x = torch.zeros(3, 0)
    torch.testing.assert_close(hotdesk.compile(lambda x: torch.cdist(x, x, p=math.inf), (x,))(x), torch.zeros(3, 3))


@pytest.mark.parametrize("points", [25, 26])
def test_distances_to_infinity(points: int) -> None:
    """Those of more than 25 points come from a product of matrices: no number where infinities of it meet."""
    x, y = torch.randn(points, 4), torch.randn(2, 4)
    program = hotdesk.compile(lambda x, y: torch.cdist(x, y), (x, y))
    torch.testing.assert_close(program(x, y), torch.cdist(x, y))
    x[3, 1], x[4, 0], y[1, 2], x[6, 2] = math.inf, -math.inf, math.inf, math.inf
    expected = torch.cdist(x, y)
    assert expected[:5].isnan().any() == (points > 25)
    torch.testing.assert_close(program(x, y), expected, equal_nan=True)


def test_the_way_to_distances_can_be_told() -> None:
    x = torch.randn(30, 4)
    found = {
        mode: hotdesk.compile(lambda x, y, mode=mode: torch.cdist(x, y, compute_mode=mode), (x, x * math.inf))(
            x, x * math.inf
        )
        for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    }
    assert found["use_mm_for_euclid_dist"].isnan().any()
    assert not found["donot_use_mm_for_euclid_dist"].isnan().any()
