"""Convolutions on every path against PyTorch in f64."""

# Views and flags are unpacked from lists and products, whose lengths no checker sees.
# pyright: reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.elements import summed_in
from hotdesk.kernels.machine import AVX2, AVX512, AVX512_BF16, GENERIC, Machine, generating_for, host
from hotdesk.kernels.text import View
from hotdesk.passes.lower.convolution.dispatch import ConvolutionSpec, convolution, with_spread, workspace_bytes
from hotdesk.passes.lower.convolution.transposed import WORKSPACE_LIMIT
from tests.unit.passes.lower.running import (
    DTYPES,
    Kernel,
    assert_close,
    contiguous,
    place,
    unread,
    values,
    view_of,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A convolution by its numbers; spatial lists have one entry a dimension."""

    batch: int = 2
    groups: int = 1
    channels: int = 3  # of a group
    filters: int = 4  # of a group
    image: tuple[int, ...] = (9, 11)
    window: tuple[int, ...] = (3, 3)
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    pad_low: tuple[int, ...] = (0, 0)
    pad_high: tuple[int, ...] = (0, 0)
    widening: tuple[int, ...] = (1, 1)
    element: str = "f32"
    result: str = ""  # where it is another type
    accumulate: bool = False
    dynamic: bool = False
    gap: int = 0  # elements between the rows of x and of y

    @property
    def output(self) -> tuple[int, ...]:
        numbers = zip(
            self.image,
            self.window,
            self.strides,
            self.dilations,
            self.pad_low,
            self.pad_high,
            self.widening,
            strict=True,
        )
        return tuple(
            max(0, ((max(n - 1, 0) * wide + (n > 0)) + low + high - dilation * (taps - 1) - 1) // stride + 1)
            for n, taps, stride, dilation, low, high, wide in numbers
        )


def expected(case: Case, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The convolution in f64, its input widened and padded by hand."""
    widened = [max(n - 1, 0) * wide + (n > 0) for n, wide in zip(case.image, case.widening, strict=True)]
    wide = torch.zeros(*x.shape[:2], *widened, dtype=torch.float64)
    wide[(..., *(slice(None, None, step) for step in case.widening))] = x.to(torch.float64)
    pads = [pad for low, high in zip(case.pad_low, case.pad_high, strict=True) for pad in (high, low)][::-1]
    wide = F.pad(wide, pads)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(case.image) - 1]
    return convolve(wide, w.to(torch.float64), stride=case.strides, dilation=case.dilations, groups=case.groups)


def spaced(sizes: Sequence[int], gap: int) -> tuple[int, ...]:
    """Strides with a gap after each row."""
    return (*contiguous((*sizes[:-1], sizes[-1] + gap))[:-1], 1)


def run(case: Case, w_strides: Sequence[int] | None = None, machine: Machine | None = None) -> str:
    """Runs a case, checks the values and every guard, and returns the kernel's text."""
    generator = torch.Generator().manual_seed(7)
    shapes = [
        (case.batch, case.groups * case.channels, *case.image),
        (case.groups * case.filters, case.channels, *case.window),
        (case.batch, case.groups * case.filters, *case.output),
    ]
    x = place(values(shapes[0], case.element, generator), spaced(shapes[0], case.gap))
    w = place(values(shapes[1], case.element, generator), w_strides)
    result = case.result or case.element
    before = values(shapes[2], result, generator) if case.accumulate else unread(shapes[2], result)
    y = place(before, spaced(shapes[2], case.gap))
    free = [True, False, *[True] * len(case.image)] if case.dynamic else False
    views = [view_of(x.tensor, dynamic=free), view_of(w.tensor), view_of(y.tensor, dynamic=free)]
    spec = ConvolutionSpec(
        *views,
        groups=case.groups,
        strides=case.strides,
        dilations=case.dilations,
        pad_low=case.pad_low,
        pad_high=case.pad_high,
        input_dilations=case.widening,
        accumulate=case.accumulate,
        noalias=(True, True, True),
    )
    spec = with_spread(spec)
    size = workspace_bytes(spec)
    assert size <= WORKSPACE_LIMIT
    dtype, summed = DTYPES[result], summed_in(result)
    scratch = place(unread((size // DTYPES[summed].itemsize,), summed)) if size else None
    text = convolution(spec, machine)
    assert ("%pW" in text.text) is (scratch is not None)
    kernel = Kernel(text, views)
    kernel(x.tensor, w.tensor, y.tensor, workspace=scratch.tensor if scratch else None)
    exact = expected(case, x.tensor, w.tensor)
    if not dtype.is_floating_point:
        exact = exact.to(torch.int64)
    assert_close(y.tensor, exact + before.to(exact.dtype) if case.accumulate else exact)
    x.check_untouched()
    w.check_untouched()
    for each in (y, scratch):
        if each is not None:
            each.check_guards()
    return text.text


BOTH = pytest.mark.parametrize("dynamic", [False, True])
PADDED = Case(pad_low=(1, 1), pad_high=(1, 1))
GEMM = "hotdesk_product_f32"
UNFOLDED = "hotdesk_convolution_f32"


@BOTH
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    "case",
    [
        Case(),
        PADDED,
        replace(PADDED, pad_low=(2, 0), pad_high=(0, 3)),
        replace(PADDED, strides=(2, 2)),
        replace(PADDED, strides=(3, 2), dilations=(2, 3), pad_low=(2, 3), pad_high=(2, 3)),
        replace(PADDED, window=(1, 9), pad_low=(0, 4), pad_high=(0, 4)),
        replace(PADDED, image=(40, 37), channels=60),
        replace(PADDED, image=(3, 3), channels=600, batch=1),
        replace(PADDED, groups=3),
        replace(PADDED, pad_low=(-1, -2), pad_high=(-1, 0)),  # crops
        replace(PADDED, widening=(2, 2)),
        replace(PADDED, widening=(3, 2), strides=(2, 3), dilations=(2, 1)),
        replace(PADDED, widening=(4, 4), strides=(2, 6), dilations=(2, 1)),  # not coprime
        replace(PADDED, strides=(2, 2), window=(1, 1), pad_low=(0, 0), pad_high=(0, 0)),
        replace(PADDED, element="f64"),
        replace(PADDED, element="bf16", result="f32", groups=2),
        replace(PADDED, element="bf16", groups=2),
        replace(PADDED, element="f16", result="f32", strides=(2, 2), image=(40, 37), channels=60),
        replace(PADDED, element="f16", strides=(2, 2), image=(40, 37), channels=60),
    ],
)
def test_unfolded(case: Case, accumulate: bool, dynamic: bool) -> None:
    text = run(replace(case, accumulate=accumulate, dynamic=dynamic))
    assert f"hotdesk_convolution_{case.element}" in text
    assert "%pW" not in text


WINOGRAD = "hotdesk_winograd_f32"
WIDE = Case(batch=1, channels=18, filters=17, image=(23, 27), pad_low=(1, 1), pad_high=(1, 1))


@BOTH
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    "case",
    [
        WIDE,
        replace(WIDE, pad_low=(0, 2), pad_high=(3, 0)),
        replace(WIDE, pad_low=(-1, -2), pad_high=(0, 1)),
        replace(WIDE, image=(14, 14), batch=2),
        replace(WIDE, image=(9, 130), channels=70),
        replace(WIDE, gap=3),
        replace(WIDE, element="f64"),
        replace(WIDE, element="bf16", result="f32"),
        replace(WIDE, element="f16", result="f32", batch=2),
        replace(WIDE, element="bf16", channels=70, batch=2),
        replace(WIDE, element="f16"),
    ],
)
def test_winograd(case: Case, accumulate: bool, dynamic: bool) -> None:
    text = run(replace(case, accumulate=accumulate, dynamic=dynamic))
    assert f"hotdesk_winograd_{case.element}" in text
    assert (f"hotdesk_convolution_{case.element}" in text) is dynamic  # where sizes turn out to be small


@BOTH
@pytest.mark.parametrize("image", [(7, 7), (8, 8), (12, 12), (1, 300), (14, 14)])
def test_few_outputs_are_computed_from_all_their_products(image: tuple[int, int], dynamic: bool) -> None:
    text = run(replace(WIDE, image=image, dynamic=dynamic))
    assert (WINOGRAD in text) is dynamic


@BOTH
@pytest.mark.parametrize(
    "case",
    [
        replace(WIDE, channels=15),
        replace(WIDE, filters=15),
        replace(WIDE, groups=2),
        replace(WIDE, strides=(1, 2)),
        replace(WIDE, dilations=(2, 1)),
        replace(WIDE, window=(3, 2)),
        replace(WIDE, widening=(2, 2)),
    ],
)
def test_other_convolutions_are_computed_from_all_their_products(case: Case, dynamic: bool) -> None:
    assert WINOGRAD not in run(replace(case, dynamic=dynamic))


def test_all_products_are_computed_where_that_is_wanted() -> None:
    x, w = torch.randn(1, 18, 23, 27), torch.randn(17, 18, 3, 3)
    y = torch.full((1, 17, 23, 27), float("nan"))
    views = [view_of(each) for each in (x, w, y)]
    ones = {"strides": (1, 1), "dilations": (1, 1), "pad_low": (1, 1), "pad_high": (1, 1), "input_dilations": (1, 1)}
    spec = ConvolutionSpec(*views, groups=1, **ones, accumulate=False, noalias=(True, True, True), winograd=False)
    text = convolution(spec)
    assert WINOGRAD not in text.text
    Kernel(text, views)(x, w, y)
    assert_close(y, F.conv2d(x.double(), w.double(), padding=1))


@BOTH
@pytest.mark.parametrize(
    "case",
    [
        Case(image=(30,), window=(3,), strides=(1,), dilations=(1,), pad_low=(1,), pad_high=(1,), widening=(1,)),
        Case(image=(400,), window=(10,), strides=(5,), dilations=(1,), pad_low=(0,), pad_high=(0,), widening=(1,)),
        Case(image=(50,), window=(128,), strides=(1,), dilations=(1,), pad_low=(64,), pad_high=(64,), widening=(1,)),
    ],
)
def test_one_dimension(case: Case, dynamic: bool) -> None:
    assert UNFOLDED in run(replace(case, dynamic=dynamic))
    run(replace(case, dynamic=dynamic, groups=3, channels=1, filters=2))


@BOTH
@pytest.mark.parametrize("element", ["f32", "bf16", "i32"])
def test_three_dimensions(element: str, dynamic: bool) -> None:
    ones = (1, 1, 1)
    case = Case(1, 2, 3, 2, (5, 6, 7), (2, 3, 3), (1, 2, 1), ones, (1, 0, 1), ones, ones, element, dynamic=dynamic)
    assert (UNFOLDED in run(case)) is (element == "f32")
    run(replace(case, gap=3, dilations=(2, 1, 2), strides=(2, 1, 1)))
    run(replace(case, widening=(2, 1, 3), accumulate=True))
    run(replace(case, window=(2, 2, 2), widening=(2, 2, 2), strides=ones))


@BOTH
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "i8"])
def test_pointwise_needs_no_workspace(element: str, groups: int, accumulate: bool, dynamic: bool) -> None:
    case = Case(2, groups, 16, 24, window=(1, 1), element=element, accumulate=accumulate, dynamic=dynamic)
    text = run(case)
    assert "%pW" not in text
    assert ("hotdesk_product" in text) is (element != "i8")
    run(replace(case, gap=3))


def test_pointwise_on_whole_planes_is_one_call_an_image() -> None:
    text = run(Case(batch=1, channels=16, filters=24, window=(1, 1)))
    assert text.count(GEMM) == 1
    assert "scf" not in text


@BOTH
@pytest.mark.parametrize(
    ("element", "accumulate"),
    [("f32", False), ("f32", True), ("f64", False), ("f16", False), ("bf16", True), ("i32", True)],
)
@pytest.mark.parametrize(
    "case",
    [
        Case(groups=5, channels=1, filters=1, pad_low=(1, 1), pad_high=(1, 1)),
        Case(groups=5, channels=1, filters=2, strides=(2, 2), pad_low=(1, 1), pad_high=(1, 1)),
        Case(groups=5, channels=1, filters=1, dilations=(2, 3), pad_low=(2, 3), pad_high=(2, 3)),
        Case(groups=5, channels=1, filters=1, window=(5, 5), image=(3, 3), pad_low=(2, 2), pad_high=(2, 2)),
        Case(groups=5, channels=1, filters=1, window=(7, 7), pad_low=(6, 6), pad_high=(6, 6)),
        Case(groups=1, channels=1, filters=3),
        Case(groups=2, channels=1, filters=1, image=(6, 300), strides=(1, 3), dilations=(1, 2), pad_low=(1, 5)),
        Case(groups=2, channels=1, filters=1, image=(6, 16), pad_low=(1, 1), pad_high=(1, 1)),
    ],
)
def test_depthwise(case: Case, element: str, accumulate: bool, dynamic: bool) -> None:
    text = run(replace(case, element=element, accumulate=accumulate, dynamic=dynamic))
    assert "%pW" not in text
    assert "hotdesk_product" not in text


MACHINES = [machine for machine in (AVX2, GENERIC) if machine.vector_bytes <= host().vector_bytes]
"""Those beside the host that it can run the code of."""


@BOTH
@pytest.mark.parametrize("machine", [host(), *MACHINES], ids=lambda machine: f"{machine.vector_bytes} bytes")
@pytest.mark.parametrize(
    "case",
    [
        Case(groups=3, image=(13, 37), pad_low=(1, 1), pad_high=(1, 1)),  # a part of a vector, rows left over
        Case(groups=3, image=(14, 32), pad_low=(1, 1), pad_high=(1, 1), gap=3),
        Case(groups=3, image=(1, 1), pad_low=(1, 1), pad_high=(1, 1)),
        Case(groups=3, image=(15, 71), strides=(2, 2), pad_low=(1, 1), pad_high=(1, 1)),
        Case(
            groups=3, image=(15, 71), strides=(1, 2), window=(2, 5), dilations=(3, 3), pad_low=(0, 7), pad_high=(5, 8)
        ),
        Case(groups=3, image=(9, 40), pad_low=(-1, -2), pad_high=(0, -3)),
        Case(groups=3, image=(4, 70), window=(1, 6), dilations=(1, 17), pad_low=(0, 40), pad_high=(0, 40)),
        Case(groups=3, image=(4, 90), window=(1, 4), strides=(1, 2), dilations=(1, 20), pad_high=(0, 9)),
        Case(groups=3, image=(5, 5), pad_low=(4, 9), pad_high=(3, 40)),  # outputs that read nothing
        Case(groups=3, image=(0, 5), pad_low=(1, 1), pad_high=(3, 1)),
        Case(batch=0, groups=3, image=(5, 5)),
        Case(
            groups=2, image=(30,), window=(7,), strides=(2,), dilations=(1,), pad_low=(3,), pad_high=(3,), widening=(1,)
        ),
    ],
)
def test_depthwise_on_vectors(case: Case, machine: Machine, dynamic: bool) -> None:
    case = replace(case, channels=1, filters=2, dynamic=dynamic)
    text = run(case, machine=machine)
    assert ("vector.maskedload" in text) is machine.masks
    run(replace(case, element="f64", accumulate=True), machine=machine)
    for half in ("bf16", "f16"):
        for result in ("f32", half):
            text = run(replace(case, element=half, result=result, accumulate=half == "f16"), machine=machine)
            assert ("vector.maskedload" in text) is machine.masks


@BOTH
@pytest.mark.parametrize("machine", [host(), *MACHINES], ids=lambda machine: f"{machine.vector_bytes} bytes")
def test_depthwise_volumes(machine: Machine, dynamic: bool) -> None:
    """On vectors where the machine has masks, else as products of one filter."""
    ones = (1, 1, 1)
    case = Case(2, 3, 1, 2, (5, 9, 37), (3, 3, 3), ones, ones, ones, ones, ones, dynamic=dynamic)
    for other in (
        case,
        replace(case, strides=(2, 1, 2), pad_low=(2, 0, 1), gap=3, accumulate=True),
        replace(case, dilations=(2, 1, 3), pad_low=(4, 1, 3), pad_high=(5, 1, 3)),
        replace(case, image=(1, 5, 5), window=(5, 2, 1), pad_low=(2, 1, 0), pad_high=(2, 1, 0)),
        replace(case, element="bf16", result="f32"),
    ):
        text = run(other, machine=machine)
        assert ("vector.maskedload" in text) is machine.masks


def test_rows_of_an_image_are_read_once_for_the_outputs_that_are_computed_together() -> None:
    text = run(
        Case(batch=1, groups=4, channels=1, filters=1, image=(7, 7), pad_low=(1, 1), pad_high=(1, 1)), machine=host()
    )
    read = 9 * 3  # by all seven at a time; or by four, and three one by one: 6 * 3 + 3 * 3
    assert text.count("vector.maskedload") == (read if host().masks else 0)


def test_two_columns_of_a_window_are_multiplied_at_once_where_the_machine_sums_pairs() -> None:
    def text(machine: Machine, element: str, stride: int) -> str:
        x, w, y = (
            view_of(torch.zeros(sizes, dtype=DTYPES[element]))
            for sizes in ((1, 4, 28, 32), (4, 1, 3, 3), (1, 4, 28 // stride, 32 // stride))
        )
        ones = (1, 1)
        spec = ConvolutionSpec(
            x, w, y, 4, (stride, stride), ones, ones, ones, ones, accumulate=False, noalias=(True,) * 3
        )
        return convolution(spec, machine).text

    both_rows, dot = 3 * 7, AVX512_BF16.bf16_dot  # of the window, for each of the outputs that are computed together
    assert text(AVX512_BF16, "bf16", 1).count(dot) == both_rows * 2
    assert text(AVX512_BF16, "bf16", 2).count(dot) == both_rows * 2
    assert "math.fma" not in text(AVX512_BF16, "bf16", 1)
    assert text(AVX512, "bf16", 1).count("math.fma") == both_rows * 3
    assert text(AVX512_BF16, "f16", 1).count("math.fma") == both_rows * 3


def test_rows_that_do_not_lie_together_are_kept_in_a_ring() -> None:
    case = Case(groups=3, channels=1, filters=1, image=(9, 11), strides=(1, 3))
    assert "vector" not in run(case)


def test_depthwise_with_many_taps() -> None:
    run(Case(groups=3, channels=1, filters=1, window=(9, 9), pad_low=(4, 4), pad_high=(4, 4)))


@BOTH
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    ("window", "pad_low", "pad_high"),
    [
        ((2, 2), (1, 1), (1, 1)),
        ((2, 2), (0, 0), (0, 0)),
        ((3, 2), (2, 1), (2, 1)),
        ((3, 2), (2, 1), (4, 3)),  # outputs that read nothing
        ((3, 2), (5, 4), (1, 1)),
        ((4, 4), (3, 2), (1, 3)),
        ((2, 1), (-1, 0), (0, 0)),
    ],
)
def test_spread(
    window: tuple[int, int], pad_low: tuple[int, int], pad_high: tuple[int, int], accumulate: bool, dynamic: bool
) -> None:
    case = Case(window=window, pad_low=pad_low, pad_high=pad_high, widening=window)
    case = replace(case, accumulate=accumulate, dynamic=dynamic)
    assert GEMM in run(case)
    run(replace(case, groups=2, image=(2, 2), channels=20))
    for image in ((20, 30), (12, 13)):  # several stretches and chunks of filters, which are gathered, and which are not
        run(replace(case, image=image, channels=300, filters=120, batch=1))
    for element in ("f16", "bf16"):
        half = replace(case, element=element, result="f32")
        assert f"hotdesk_product_{element}_f32" in run(half)
        run(replace(half, image=(20, 30), channels=60, filters=20, batch=1))
        run(replace(half, result=element))


@BOTH
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    ("window", "widening", "pad_low", "pad_high"),
    [
        ((4, 4), (2, 2), (2, 2), (2, 2)),
        ((3, 3), (2, 2), (1, 1), (2, 2)),
        ((2, 5), (3, 2), (1, 4), (1, 4)),  # outputs that read nothing, and some that read two
        ((1, 1), (2, 3), (0, 0), (1, 2)),
        ((3, 3), (2, 2), (5, 4), (-1, 0)),
        ((5, 1), (2, 1), (-1, 0), (2, 0)),
    ],
)
def test_windows_that_overlap_are_added(
    window: tuple[int, int],
    widening: tuple[int, int],
    pad_low: tuple[int, int],
    pad_high: tuple[int, int],
    accumulate: bool,
    dynamic: bool,
) -> None:
    case = Case(channels=9, window=window, pad_low=pad_low, pad_high=pad_high, widening=widening)
    case = replace(case, accumulate=accumulate, dynamic=dynamic)
    assert GEMM in run(case)
    assert UNFOLDED in run(replace(case, channels=7))
    run(replace(case, groups=2, image=(4, 4), filters=300))
    run(replace(case, image=(40, 41), filters=19, batch=1, gap=2))  # several stretches and chunks of filters
    row = replace(case, image=(1100,), window=(16,), strides=(1,), dilations=(1,), widening=(8,))
    run(replace(row, pad_low=(15,), pad_high=(11,)))
    half = replace(case, element="bf16", result="f32")
    assert "hotdesk_product_bf16_f32" in run(half)


@BOTH
@pytest.mark.parametrize(
    ("window", "widening", "pad_low", "pad_high"),
    [
        ((2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 1, 1)),
        ((2, 1, 3), (2, 1, 3), (-1, 0, 1), (4, 0, 2)),  # outputs that read nothing
        ((4, 4, 4), (2, 2, 2), (2, 2, 2), (2, 2, 2)),
        ((3, 1, 2), (2, 2, 1), (2, 0, 1), (3, 1, -1)),
    ],
)
def test_transposed_volumes(
    window: tuple[int, int, int],
    widening: tuple[int, int, int],
    pad_low: tuple[int, int, int],
    pad_high: tuple[int, int, int],
    dynamic: bool,
) -> None:
    ones = (1, 1, 1)
    case = Case(2, 2, 9, 3, (3, 2, 5), window, ones, ones, pad_low, pad_high, widening)
    case = replace(case, accumulate=dynamic, dynamic=dynamic)
    assert GEMM in run(case)
    run(replace(case, image=(7, 13, 12), filters=19, batch=1, groups=1, gap=2))  # stretches end in the middle of planes
    run(replace(case, element="bf16", result="f32"))
    apart = list(contiguous((6, 9, *window)))
    apart[3] = 7 if window[1] == 1 else apart[3]  # of one tap
    run(case, w_strides=apart)


def test_windows_of_many_taps_that_overlap_have_no_workspace() -> None:
    case = Case(channels=9, image=(6, 6), window=(70, 70), widening=(2, 2), pad_low=(69, 69), pad_high=(69, 69))
    assert UNFOLDED in run(case)


def test_spread_is_what_a_transposed_convolution_is() -> None:
    x, w = torch.randn(1, 6, 5, 4), torch.randn(6, 8, 2, 2)
    flipped = w.flip(2, 3).transpose(0, 1).contiguous()
    y = torch.full((1, 8, 10, 8), float("nan"))
    views = [view_of(each) for each in (x, flipped, y)]
    pairs = {"strides": (1, 1), "dilations": (1, 1), "pad_low": (1, 1), "pad_high": (1, 1), "input_dilations": (2, 2)}
    spec = ConvolutionSpec(*views, groups=1, **pairs, accumulate=False, noalias=(True, True, True))
    given = with_spread(spec)
    Kernel(convolution(given), views)(x, flipped, y, workspace=torch.empty(workspace_bytes(given) // 4))
    torch.testing.assert_close(y, F.conv_transpose2d(x, w, stride=2), rtol=1e-5, atol=1e-5)


def test_a_kernel_keeps_to_its_workspace_where_sizes_are_known_no_longer() -> None:
    x, w = torch.randn(1, 6, 5, 4), torch.randn(6, 8, 2, 2)
    flipped = w.flip(2, 3).transpose(0, 1).contiguous()
    y = torch.full((1, 8, 10, 8), float("nan"))
    pairs = {"strides": (1, 1), "dilations": (1, 1), "pad_low": (1, 1), "pad_high": (1, 1), "input_dilations": (2, 2)}
    views = [view_of(each) for each in (x, flipped, y)]
    spec = ConvolutionSpec(*views, groups=1, **pairs, accumulate=False, noalias=(True, True, True))
    chosen = with_spread(spec)
    scratch = place(unread((workspace_bytes(chosen) // 4,), "f32"))
    open_views = [view_of(each, dynamic=True) for each in (x, flipped, y)]
    open_views[1] = View("f32", views[1].sizes, (None,) * 4)
    given = replace(chosen, x=open_views[0], w=open_views[1], y=open_views[2])
    Kernel(convolution(given), open_views)(x, flipped, y, workspace=scratch.tensor)
    torch.testing.assert_close(y, F.conv_transpose2d(x, w, stride=2), rtol=1e-5, atol=1e-5)
    scratch.check_guards()


@BOTH
@pytest.mark.parametrize("element", ["f16", "bf16", "i8", "i32", "i64"])
def test_loops_for_other_element_types(element: str, dynamic: bool) -> None:
    case = replace(PADDED, element=element, dynamic=dynamic)
    assert "%pW" not in run(case)
    run(replace(case, strides=(2, 1), dilations=(1, 2), groups=2, accumulate=True))
    run(replace(case, widening=(2, 3)))


def test_rows_apart_are_a_call_each() -> None:
    """Planes of y that do not lie together; a dynamic kernel asks whether they do."""
    assert run(replace(PADDED, gap=2)).count(f"@{UNFOLDED}") == 1
    assert run(replace(PADDED, gap=2, dynamic=True)).count(f"@{UNFOLDED}") == 2
    run(replace(PADDED, gap=2, strides=(2, 2), dilations=(2, 1), accumulate=True))
    assert GEMM in run(replace(PADDED, gap=2, dynamic=True, widening=(3, 3), pad_low=(2, 2), pad_high=(2, 2)))


def test_columns_apart() -> None:
    """One output a row: what lies between columns says nothing of where rows lie."""
    x, w = values((1, 3, 9, 3), "f32", torch.Generator().manual_seed(7)), torch.ones(4, 3, 3, 3)
    y = place(unread((1, 4, 7, 1), "f32"), (28, 7, 1, 50))
    views = [view_of(x), view_of(w), view_of(y.tensor)]
    ones, none = (1, 1), (0, 0)
    spec = ConvolutionSpec(*views, 1, ones, ones, none, none, ones, accumulate=False, noalias=(True,) * 3)
    Kernel(convolution(spec), views)(x, w, y.tensor)
    assert_close(y.tensor, F.conv2d(x.double(), w.double()))
    y.check_guards()


def test_filters_in_another_order_are_loops() -> None:
    text = run(PADDED, w_strides=(27, 1, 9, 3))
    assert UNFOLDED not in text


@BOTH
@pytest.mark.parametrize(
    "case",
    [
        replace(PADDED, batch=0),
        replace(PADDED, image=(0, 5)),
        replace(PADDED, image=(5, 0)),
        replace(PADDED, filters=0),
        replace(PADDED, image=(1, 1), pad_low=(0, 0), pad_high=(0, 0)),  # no output
        replace(PADDED, image=(0, 4), window=(2, 2), widening=(2, 2)),
        Case(groups=3, channels=1, filters=1, image=(0, 5), pad_low=(2, 2), pad_high=(2, 2)),
        Case(window=(1, 1), image=(0, 5)),
    ],
)
def test_zero_sizes(case: Case, dynamic: bool) -> None:
    if 0 in case.output or case.filters == 0 or case.batch == 0:
        return run_empty(replace(case, dynamic=dynamic))
    run(replace(case, dynamic=dynamic))
    return None


def run_empty(case: Case) -> None:
    """A convolution without outputs, which PyTorch refuses: nothing may be written."""
    x = place(torch.zeros(case.batch, case.groups * case.channels, *case.image))
    w = place(torch.zeros(case.groups * case.filters, case.channels, *case.window))
    y = place(torch.zeros(case.batch, case.groups * case.filters, *case.output))
    free = [True, False, True, True] if case.dynamic else False
    views = [view_of(x.tensor, dynamic=free), view_of(w.tensor), view_of(y.tensor, dynamic=free)]
    spec = ConvolutionSpec(
        *views,
        case.groups,
        case.strides,
        case.dilations,
        case.pad_low,
        case.pad_high,
        case.widening,
        accumulate=False,
        noalias=(True, True, True),
    )
    spec = with_spread(spec)
    size = workspace_bytes(spec)
    scratch = place(torch.zeros(size // 4)) if size else None
    text = convolution(spec)
    Kernel(text, views)(x.tensor, w.tensor, y.tensor, workspace=scratch.tensor if scratch else None)
    for each in (x, w, y):
        each.check_untouched()


def test_no_channels_give_zero() -> None:
    for window in ((1, 1), (3, 3)):
        x, w = torch.zeros(1, 0, 5, 5), torch.zeros(4, 0, *window)
        y = place(torch.full((1, 4, 6 - window[0], 6 - window[1]), float("nan")))
        views = [view_of(x), view_of(w), view_of(y.tensor)]
        ones, none = (1, 1), (0, 0)
        spec = ConvolutionSpec(*views, 1, ones, ones, none, none, ones, accumulate=False, noalias=(True,) * 3)
        Kernel(convolution(spec), views)(x, w, y.tensor)
        assert bool((y.tensor == 0).all())
        y.check_guards()


def test_what_is_no_convolution_is_refused() -> None:
    x, w, y = View("f32", (1, 2, 5), (10, 5, 1)), View("f32", (4, 2, 3), (6, 3, 1)), View("f32", (1, 4, 3), (12, 3, 1))
    one = ((1,), (1,), (0,), (0,), (1,))
    with pytest.raises(ValueError, match="one number for each spatial dimension"):
        ConvolutionSpec(x, w, y, 1, (1, 1), *one[1:], accumulate=False, noalias=(True,) * 3)
    with pytest.raises(ValueError, match="expected w to have rank 3"):
        ConvolutionSpec(x, View("f32", (4, 2), (2, 1)), y, 1, *one, accumulate=False, noalias=(True,) * 3)
    with pytest.raises(ValueError, match="at least 1"):
        ConvolutionSpec(x, w, y, 1, (0,), *one[1:], accumulate=False, noalias=(True,) * 3)
    mixed = ConvolutionSpec(x, View("i8", w.sizes, w.strides), y, 1, *one, accumulate=False, noalias=(True,) * 3)
    with pytest.raises(ValueError, match="all floats or all integers"):
        convolution(mixed)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any convolution of one or two dimensions that has outputs and that PyTorch accepts."""
    rank = draw(st.integers(1, 2))

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    window, dilations, widening = numbers(1, 4), numbers(1, 3), numbers(1, 3)
    image = tuple(max(n, 1) for n in numbers(1, 13))
    if draw(st.booleans()):
        widening = (1,) * rank
    pad_low, pad_high = numbers(-1, 4), numbers(-1, 4)
    spans = [
        max(0, d * (t - 1) + 1 - ((n - 1) * w + 1 + low + high))
        for n, t, d, w, low, high in zip(image, window, dilations, widening, pad_low, pad_high, strict=True)
    ]
    pad_high = tuple(high + span for high, span in zip(pad_high, spans, strict=True))  # room for a window
    return Case(
        batch=draw(st.integers(1, 2)),
        groups=draw(st.integers(1, 3)),
        channels=draw(st.integers(1, 5)),
        filters=draw(st.integers(1, 4)),
        image=image,
        window=window,
        strides=numbers(1, 4),
        dilations=dilations,
        pad_low=pad_low,
        pad_high=pad_high,
        widening=widening,
        element=draw(st.sampled_from(["f32", "f32", "f64", "bf16", "i32"])),
        accumulate=draw(st.booleans()),
        dynamic=draw(st.booleans()),
        gap=draw(st.sampled_from([0, 0, 3])),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(cases())
def test_any_convolution(case: Case) -> None:
    run(case)


def test_kernels_are_those_of_the_machine_that_they_are_generated_for() -> None:
    sizes = (1, 4, 20, 40), (4, 1, 3, 3), (1, 4, 20, 40)
    ones = {"strides": (1, 1), "dilations": (1, 1), "pad_low": (1, 1), "pad_high": (1, 1), "input_dilations": (1, 1)}
    views = [View("f32", each, contiguous(each)) for each in sizes]
    spec = ConvolutionSpec(*views, groups=4, **ones, accumulate=False, noalias=(True, True, True))
    texts = {machine: convolution(spec, machine) for machine in (AVX512, AVX2, GENERIC)}
    assert len(set(texts.values())) == 3
    for machine, text in texts.items():
        with generating_for(machine):
            assert convolution(spec) == text
    assert convolution(spec) == convolution(spec, host())
