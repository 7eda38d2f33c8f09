"""Pooling of every kind against an unfold in f64."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.text import View
from hotdesk.passes.lower.pooling import PoolingSpec, pooling
from tests.unit.passes.lower.running import DTYPES, Kernel, assert_close, contiguous, place, unread, values, view_of


@dataclass(frozen=True, slots=True)
class Case:
    """A pooling by its numbers."""

    kind: Literal["max", "min", "sum"] = "max"
    leading: tuple[int, ...] = (2, 3)
    image: tuple[int, ...] = (9, 21)
    window: tuple[int, ...] = (3, 3)
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pad_low: tuple[int, ...] = (0, 0)
    pad_high: tuple[int, ...] = (0, 0)
    element: str = "f32"
    accumulate: bool = False
    dynamic: bool = False
    gap: int = 0

    @property
    def output(self) -> tuple[int, ...]:
        numbers = zip(self.image, self.window, self.strides, self.dilations, self.pad_low, self.pad_high, strict=True)
        return tuple(
            max(0, (n + low + high - dilation * (taps - 1) - 1) // stride + 1)
            for n, taps, stride, dilation, low, high in numbers
        )


def neutral(kind: str, dtype: torch.dtype) -> float | int:
    if kind == "sum":
        return 0
    if dtype.is_floating_point:
        return float("-inf") if kind == "max" else float("inf")
    if dtype == torch.bool:
        return int(kind == "min")
    return torch.iinfo(dtype).min if kind == "max" else torch.iinfo(dtype).max


def expected(case: Case, x: torch.Tensor) -> torch.Tensor:
    """The windows gathered one by one from a padded copy, then reduced."""
    dtype = DTYPES[case.element]
    wide = x.to(torch.float64 if dtype.is_floating_point else torch.int64)
    pads = [pad for low, high in zip(case.pad_low, case.pad_high, strict=True) for pad in (high, low)][::-1]
    inside = F.pad(torch.ones_like(wide, dtype=torch.bool), pads)
    padded = torch.where(inside, F.pad(wide, pads), torch.tensor(neutral(case.kind, dtype), dtype=wide.dtype))
    first = len(case.leading)
    for d, (taps, stride, dilation, count) in enumerate(
        zip(case.window, case.strides, case.dilations, case.output, strict=True), start=first
    ):
        index = (torch.arange(count) * stride)[:, None] + torch.arange(taps) * dilation
        windows = padded.index_select(d, index.flatten()).unflatten(d, (count, taps))
        reduce = {"max": windows.amax, "min": windows.amin, "sum": windows.sum}[case.kind]
        padded = reduce(dim=d + 1)
    return padded


def run(case: Case) -> str:
    generator = torch.Generator().manual_seed(3)
    sizes = [(*case.leading, *case.image), (*case.leading, *case.output)]
    strides = [(*contiguous((*size[:-1], size[-1] + case.gap))[:-1], 1) for size in sizes]
    x = place(values(sizes[0], case.element, generator), strides[0])
    before = values(sizes[1], case.element, generator) if case.accumulate else unread(sizes[1], case.element)
    y = place(before, strides[1])
    views = [view_of(each.tensor, dynamic=case.dynamic) for each in (x, y)]
    spec = PoolingSpec(
        *views,
        kind=case.kind,
        window=case.window,
        strides=case.strides,
        dilations=case.dilations,
        pad_low=case.pad_low,
        pad_high=case.pad_high,
        accumulate=case.accumulate,
        noalias=(True, True),
    )
    text = pooling(spec)
    Kernel(text, views)(x.tensor, y.tensor)
    exact = expected(case, x.tensor)
    if case.accumulate:
        combine = {"max": torch.maximum, "min": torch.minimum, "sum": torch.add}[case.kind]
        exact = combine(exact, before.to(exact.dtype))
    assert_close(y.tensor, exact)
    x.check_untouched()
    y.check_guards()
    return text.text


BOTH = pytest.mark.parametrize("dynamic", [False, True])
PADDED = Case(pad_low=(1, 1), pad_high=(1, 1))


@BOTH
@pytest.mark.parametrize("kind", ["max", "min", "sum"])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    "case",
    [
        Case(),
        PADDED,
        replace(PADDED, strides=(2, 2)),
        replace(PADDED, strides=(2, 3), dilations=(2, 3), pad_low=(0, 3), pad_high=(2, 1)),
        replace(PADDED, pad_low=(3, 4), pad_high=(3, 5)),  # windows with nothing but padding
        replace(PADDED, pad_low=(-1, -2), pad_high=(0, -1)),  # crops
        Case(image=(7, 7), window=(7, 7)),  # global
        Case(image=(6, 300), window=(2, 2)),  # rows longer than the row on the stack
        Case(image=(6, 30), window=(5, 12), strides=(1, 9)),  # few outputs, long windows
    ],
)
def test_floats(case: Case, kind: Literal["max", "min", "sum"], accumulate: bool, dynamic: bool) -> None:
    run(replace(case, kind=kind, accumulate=accumulate, dynamic=dynamic))


@pytest.mark.parametrize("kind", ["max", "min", "sum"])
@pytest.mark.parametrize("element", ["f64", "f16", "bf16", "i8", "i32", "i64", "i1"])
@pytest.mark.parametrize("window", [(3, 3), (9, 21)])
def test_element_types(window: tuple[int, int], element: str, kind: Literal["max", "min", "sum"]) -> None:
    run(replace(PADDED, kind=kind, element=element, window=window))


@BOTH
def test_one_and_three_dimensions(dynamic: bool) -> None:
    one = ((1,), (1,), (1,), (1,))
    run(Case("max", (2,), (40,), (3,), *one, dynamic=dynamic))
    three = ((2, 1, 1), (1, 1, 1), (1, 0, 1), (1, 0, 1))
    run(Case("sum", (2, 1), (5, 6, 17), (3, 2, 3), *three, dynamic=dynamic))


@BOTH
def test_rows_apart(dynamic: bool) -> None:
    run(replace(PADDED, gap=3, dynamic=dynamic))


@BOTH
@pytest.mark.parametrize("image", [(0, 5), (5, 0), (1, 1)])
@pytest.mark.parametrize("leading", [(2, 3), (0, 3), ()])
def test_zero_sizes(leading: tuple[int, ...], image: tuple[int, int], dynamic: bool) -> None:
    run(replace(PADDED, leading=leading, image=image, pad_low=(2, 2), pad_high=(2, 2), dynamic=dynamic))
    run(replace(PADDED, leading=leading, image=image, pad_low=(0, 0), pad_high=(0, 0), dynamic=dynamic))


def test_nan_wins() -> None:
    for size in (3, 30):
        x, y = torch.zeros(1, 1, size), torch.zeros(1, 1, size)
        x[0, 0, 1] = float("nan")
        views = [view_of(x), view_of(y)]
        spec = PoolingSpec(*views, "max", (3,), (1,), (1,), (1,), (1,), accumulate=False, noalias=(True, True))
        Kernel(pooling(spec), views)(x, y)
        assert y.isnan().flatten().tolist() == [True] * 3 + [False] * (size - 3)


def test_what_is_no_pooling_is_refused() -> None:
    x, y = View("f32", (2, 9), (9, 1)), View("f32", (2, 7), (7, 1))
    with pytest.raises(ValueError, match="one number for each spatial dimension"):
        PoolingSpec(x, y, "max", (3,), (1, 1), (1,), (0,), (0,), accumulate=False, noalias=(True, True))
    with pytest.raises(ValueError, match="of one rank"):
        PoolingSpec(View("f32", (9,), (1,)), y, "max", *[(1,)] * 5, accumulate=False, noalias=(True, True))
    with pytest.raises(ValueError, match="at least 1"):
        PoolingSpec(x, y, "max", (0,), *[(1,)] * 4, accumulate=False, noalias=(True, True))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any pooling of one or two dimensions that has outputs."""
    rank = draw(st.integers(1, 2))

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    image, window, dilations = numbers(1, 14), numbers(1, 5), numbers(1, 3)
    pad_low, pad_high = numbers(-1, 4), numbers(-1, 4)
    room = [
        max(0, d * (t - 1) + 1 - (n + low + high))
        for n, t, d, low, high in zip(image, window, dilations, pad_low, pad_high, strict=True)
    ]
    return Case(
        kind=draw(st.sampled_from(["max", "min", "sum"])),
        leading=tuple(draw(st.lists(st.integers(1, 3), max_size=2))),
        image=image,
        window=window,
        strides=numbers(1, 4),
        dilations=dilations,
        pad_low=pad_low,
        pad_high=tuple(high + more for high, more in zip(pad_high, room, strict=True)),
        element=draw(st.sampled_from(["f32", "f64", "bf16", "i32"])),
        accumulate=draw(st.booleans()),
        dynamic=draw(st.booleans()),
        gap=draw(st.sampled_from([0, 2])),
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(cases())
def test_any_pooling(case: Case) -> None:
    run(case)
