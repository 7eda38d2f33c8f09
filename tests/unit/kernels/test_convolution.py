"""Convolutions of the common library against PyTorch: machines, windows, padding, groups, threads, and what lies around."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.blocks import depth
from hotdesk.kernels.convolution import CONVOLUTION_ARGUMENTS, most_weights
from hotdesk.kernels.convolution_packing import MOST_TAPS
from hotdesk.kernels.machine import AVX2, AVX512, GENERIC, NEON, Machine, host
from hotdesk.kernels.shared_convolution import shared_convolution_name
from hotdesk.runtime.code.products import CommonCode, common_code
from hotdesk.runtime.code.threads import ThreadPool
from tests.unit.kernels.protected import Protected

Array = Any
TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16}
"""What holds the elements of a type; of bf16 it is their bits."""
ROUNDED = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
SMALL = replace(host(), l1_bytes=8192, l2_bytes=32768)
"""Caches so small that some hundred filters and channels are several blocks."""
MACHINES = {"host": host(), "small caches": SMALL, "AVX2": AVX2, "AVX-512": AVX512, "NEON": NEON, "generic": GENERIC}


@dataclass(frozen=True, slots=True)
class Planes:
    """What a volume has beside rows and columns; an image has one plane."""

    image: int = 1
    window: int = 1
    stride: int = 1
    dilation: int = 1
    low: int = 0
    high: int = 0
    wide: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes of a convolution; pairs are of rows and columns; `high` pads behind, and may be what a window does not reach."""

    batch: int = 1
    groups: int = 1
    filters: int = 5  # of a group
    channels: int = 4  # of a group
    image: tuple[int, int] = (9, 20)
    window: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    low: tuple[int, int] = (1, 1)
    high: tuple[int, int] = (1, 1)
    wide: tuple[int, int] = (1, 1)
    step: int = 1  # from one column of the image to the next, in elements
    planes: Planes = Planes()

    @property
    def window_of_three(self) -> tuple[int, int, int]:
        return (self.planes.window, *self.window)

    @property
    def padding(self) -> tuple[tuple[int, int, int], ...]:
        """In front and behind, and by how much the image is widened, of planes, rows and columns."""
        of_planes = (self.planes.low, self.planes.high, self.planes.wide)
        return (of_planes, *zip(self.low, self.high, self.wide, strict=True))

    @property
    def steps(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Strides and dilations."""
        return (self.planes.stride, *self.strides), (self.planes.dilation, *self.dilations)

    @property
    def output(self) -> tuple[int, int, int]:
        planes, rows, columns = (
            max(0, (max(0, (n - 1) * wide + 1) + low + high - dilation * (taps - 1) - 1) // stride + 1)
            for n, taps, stride, dilation, (low, high, wide) in zip(
                (self.planes.image, *self.image), self.window_of_three, *self.steps, self.padding, strict=True
            )
        )
        return planes, rows, columns

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Of x, with its columns apart, of w and of y."""
        height, length = self.image
        x = (self.batch, self.groups * self.channels, self.planes.image, height, length * self.step)
        features = self.groups * self.filters
        return x, (features, self.channels, *self.window_of_three), (self.batch, features, *self.output)


@cache
def compiled(machine: Machine, element: str, result: str = "", *, pooled: bool = False) -> CommonCode:
    convolutions = common_code(shared_convolution_name(element, result), machine, lambda name: products(machine, name))
    if pooled:
        pool().serve(convolutions.machine, 1)
    return convolutions


@cache
def products(machine: Machine, name: str) -> CommonCode:
    return common_code(name, machine)


@cache
def pool() -> ThreadPool:
    return ThreadPool()


def call(code: CommonCode, case: Case, x: Array, w: Array, y: Array, *, add: bool) -> None:
    (x_n, x_c, x_d, x_h, x_w), w_f = (s // x.itemsize for s in x.strides), math.prod(w.shape[1:])
    slices, rows, columns = case.output
    numbers: dict[str, int] = {
        "first": 0,
        "last": case.batch * case.groups * slices,
        "pixel": 0,
        "stop": rows * columns,
        "filters": case.filters,
        "groups": case.groups,
        "group_filters": case.filters,
        "slices": slices,
        "channels": case.channels,
        "planes": case.planes.window,
        "rows": case.window[0],
        "columns": case.window[1],
        "width": columns,
        "x": x.ctypes.data,
        "x_n": x_n,
        "x_c": x_c,
        "x_d": x_d,
        "x_h": x_h,
        "x_w": x_w,
        "depth": case.planes.image,
        "height": case.image[0],
        "length": case.image[1],
        "sd": case.planes.stride,
        "sh": case.strides[0],
        "sw": case.strides[1],
        "dd": case.planes.dilation,
        "dh": case.dilations[0],
        "dw": case.dilations[1],
        "front": -case.planes.low,
        "top": -case.low[0],
        "left": -case.low[1],
        "wide_d": case.planes.wide,
        "wide_h": case.wide[0],
        "wide_w": case.wide[1],
        "w": w.ctypes.data,
        "w_f": w_f,
        "y": y.ctypes.data,
        "y_n": math.prod(y.shape[1:]),
        "y_c": slices * rows * columns,
        "y_d": rows * columns,
        "y_w": 1,
        "add": int(add),
    }
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(CONVOLUTION_ARGUMENTS))(code.address)
    function(*(numbers[name] for name in CONVOLUTION_ARGUMENTS))


def expected(case: Case, x: Array, w: Array) -> Array:
    """By PyTorch, whose image is widened and padded by hand."""
    if 0 in case.shapes[2] or 0 in w.shape[1:]:
        return np.zeros(case.shapes[2])
    image = x.astype(np.float64)
    for axis, (low, high, wide) in enumerate(case.padding, start=2):
        size = max(0, (image.shape[axis] - 1) * wide + 1)
        padded = np.zeros((*image.shape[:axis], max(0, low) + size + max(0, high), *image.shape[axis + 1 :]))
        view = padded.swapaxes(0, axis)
        view[max(0, low) : max(0, low) + size : wide] = image.swapaxes(0, axis)
        image = view[max(0, -low) : padded.shape[axis] - max(0, -high)].swapaxes(0, axis)
    weight = torch.from_numpy(w.astype(np.float64))
    strides, dilations = case.steps
    return F.conv3d(
        torch.from_numpy(np.ascontiguousarray(image)), weight, None, strides, 0, dilations, case.groups
    ).numpy()


def check(
    code: CommonCode, case: Case, element: str = "f32", result: str = "", *, add: bool = False, behind: bool = True
) -> None:
    """Small whole numbers, whose sums are exact, and rounded once if at all.

    Each operand ends, or begins, where a page begins that nobody may touch.
    """
    values = np.random.default_rng(1)

    def placed(shape: Sequence[int], element: str) -> Array:
        memory = Protected(math.prod(shape), TYPES[element], behind=behind)
        numbers = values.integers(-3, 4, math.prod(shape))
        memory.array[:] = numbers.astype(np.float32).view(np.uint32) >> 16 if element == "bf16" else numbers
        return memory.array.reshape(shape)

    def numbers(array: Array) -> Array:
        return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array

    types = element, element, result or element
    whole, w, y = (placed(shape, kind) for shape, kind in zip(case.shapes, types, strict=True))
    x = whole[..., :: case.step]
    before = [whole.copy(), w.copy()]
    want = torch.from_numpy(expected(case, numbers(x), numbers(w)) + (numbers(y) if add else 0)).to(ROUNDED[types[2]])
    if not add:
        y[...] = np.array(np.nan, np.float32).view(np.uint32) >> 16 if types[2] == "bf16" else np.nan
    call(code, case, x, w, y, add=add)
    np.testing.assert_array_equal(numbers(y), want.double().numpy(), err_msg=str(case))
    np.testing.assert_array_equal(whole, before[0])
    np.testing.assert_array_equal(w, before[1])


CASES = {
    "padded": Case(),
    "as it is": Case(low=(0, 0), high=(0, 0)),
    "uneven padding": Case(low=(0, 3), high=(2, 0)),
    "padding larger than the window": Case(low=(7, 20), high=(5, 19)),
    "cropped": Case(low=(-1, -2), high=(0, -1)),
    "stride": Case(strides=(2, 2), image=(21, 45)),
    "stride of rows": Case(strides=(3, 1)),
    "stride of columns": Case(strides=(1, 2)),
    "stride of one tap": Case(strides=(2, 2), window=(1, 1), low=(0, 0), high=(0, 0), image=(16, 40)),
    "long stride": Case(strides=(4, 4), window=(4, 4), low=(0, 0), high=(0, 0), image=(32, 36)),
    "dilation": Case(dilations=(2, 3), low=(2, 3), high=(2, 3)),
    "dilation and stride": Case(dilations=(3, 2), strides=(2, 2), low=(2, 3), high=(2, 3), image=(30, 40)),
    "groups": Case(groups=3, batch=2),
    "narrow": Case(image=(9, 5)),
    "as long as a vector": Case(image=(11, 8)),
    "one short of a vector": Case(image=(11, 7)),
    "three rows in a vector": Case(image=(17, 14)),
    "four rows in a vector": Case(image=(17, 6), strides=(1, 1), dilations=(2, 1), low=(2, 1), high=(2, 1)),
    "four rows in a vector, with strides": Case(image=(33, 12), strides=(2, 2)),
    "five rows in a vector": Case(image=(29, 4)),
    "four rows of few pixels": Case(image=(4, 3), batch=3),
    "one column": Case(image=(30, 1)),
    "one row": Case(image=(1, 100), window=(1, 3), low=(0, 1), high=(0, 1)),
    "one pixel": Case(image=(1, 1)),
    "window as large as the image": Case(image=(6, 7), window=(6, 7), low=(0, 0), high=(0, 0)),
    "widened": Case(wide=(2, 3), low=(2, 1), high=(2, 1)),
    "widened, with strides": Case(wide=(3, 2), strides=(2, 3), dilations=(2, 1)),
    "columns apart": Case(step=3),
    "many taps in a row": Case(window=(1, MOST_TAPS + 1), image=(2, 200), low=(0, 9), high=(0, 9)),
    "many rows of taps": Case(window=(MOST_TAPS + 1, 1), image=(150, 10), low=(5, 0), high=(4, 0)),
    "as many taps as there are masks for": Case(window=(2, MOST_TAPS // 2), image=(3, 150), low=(1, 9), high=(0, 9)),
    "inside": Case(image=(40, 70), strides=(1, 2)),
    "a window of several depths": Case(window=(30, 29), image=(33, 40), channels=2),
    "a row of taps of several depths": Case(window=(2, 700), image=(3, 720), channels=2),
    "several depths": Case(channels=150, filters=20),
    "several blocks of filters": Case(channels=60, filters=300),
    "a pixel left over from whole panels": Case(channels=100, filters=37, groups=2, image=(7, 7)),
    "a pixel left over, of many filters": Case(channels=30, filters=150, image=(7, 7)),
    "a pixel alone, of many channels": Case(channels=90, filters=21, groups=2, image=(1, 1)),
    "no images": Case(batch=0),
    "no filters": Case(filters=0),
    "no channels": Case(channels=0),
    "no image": Case(image=(0, 5), low=(2, 2), high=(2, 2)),
    "no columns": Case(image=(5, 0), low=(2, 2), high=(2, 2)),
    "no output": Case(image=(1, 1), low=(0, 0), high=(0, 0)),
    "no taps": Case(window=(0, 3)),
    "a volume": Case(planes=Planes(5, 3, low=1, high=1)),
    "a volume, with strides": Case(planes=Planes(9, 3, 2, 2, 1, 3), strides=(2, 2), image=(21, 45), batch=2, groups=2),
    "a volume, widened": Case(planes=Planes(4, 3, 1, 1, 2, 2, 2), wide=(2, 2), low=(2, 2), high=(2, 2)),
    "a volume, cropped": Case(planes=Planes(6, 2, low=-1, high=-2), image=(9, 5)),
    "planes that read nothing": Case(planes=Planes(2, 3, low=5, high=4), step=2),
    "a volume of several depths": Case(planes=Planes(4, 3, low=1, high=1), channels=50, filters=20),
    "planes of one pixel": Case(
        planes=Planes(5, 3, low=1, high=1), image=(1, 1), window=(1, 1), low=(0, 0), high=(0, 0)
    ),
    "no planes": Case(planes=Planes(0, 1)),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", CASES)
def test_every_case(name: str, machine: str) -> None:
    code = compiled(MACHINES[machine], "f32")
    for add in (False, True):
        check(code, CASES[name], add=add, behind=not add)


@pytest.mark.parametrize("machine", ["host", "AVX-512"])
def test_doubles(machine: str) -> None:
    code = compiled(MACHINES[machine], "f64")
    for number, case in enumerate(CASES.values()):
        check(code, case, "f64", add=bool(number % 2))


@pytest.mark.parametrize("pooled", [True, False], ids=["", "without scratch memory"])
@pytest.mark.parametrize("machine", ["host", "small caches", "AVX2", "NEON"])
@pytest.mark.parametrize("result", ["f32", ""], ids=["f32", "rounded"])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_halves_are_summed_in_single_precision(element: str, result: str, machine: str, pooled: bool) -> None:
    code = compiled(MACHINES[machine], element, result, pooled=pooled)
    for number, case in enumerate(CASES.values()):
        check(code, case, element, result, add=bool(number % 2), behind=number % 3 > 0)


def test_blocks_are_several() -> None:
    """What the small caches and the cases of several blocks are for."""
    case = CASES["several blocks of filters"]
    assert depth(SMALL) < case.channels * 9
    assert most_weights(SMALL, "f32") // (depth(SMALL) // 2) < case.filters
    assert depth(host()) < CASES["a window of several depths"].window[0] * 29


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(threads: int) -> None:
    """Shared out by images, by groups, by planes, by pixels and by filters."""
    code = compiled(host(), "f32")
    pool().serve(code.machine, threads)
    large = Case(channels=40, filters=60, image=(40, 41))
    few_pixels = Case(channels=200, filters=500, image=(5, 5))
    halves = compiled(host(), "bf16")
    pool().serve(halves.machine, threads)
    volume = replace(large, planes=Planes(7, 3, 2))
    for case in (large, replace(large, batch=6), replace(large, groups=4), few_pixels, volume):
        check(code, case, add=True)
        check(halves, case, "bf16", add=True)
    check(code, replace(large, strides=(2, 2), batch=2, groups=3))
    pool().serve(code.machine, 1)
    pool().serve(halves.machine, 1)


def test_the_same_numbers_each_time() -> None:
    code = compiled(host(), "f32")
    pool().serve(code.machine, 2)
    case = Case(channels=64, filters=64, image=(30, 30))
    values = np.random.default_rng(1)
    x, w = (values.standard_normal(shape).astype(np.float32) for shape in case.shapes[:2])
    results = [np.empty(case.shapes[2], np.float32) for _ in range(10)]
    for y in results:
        call(code, case, x, w, y, add=False)
    pool().serve(code.machine, 1)
    for y in results[1:]:
        np.testing.assert_array_equal(y, results[0])


def test_sums_are_as_exact_as_they_can_be() -> None:
    """On real numbers: within what an order of additions may change."""
    case = Case(channels=100, filters=20, image=(20, 20))
    values = np.random.default_rng(1)
    x, w = (values.standard_normal(shape) for shape in case.shapes[:2])
    for element, digits in (("f32", 3e-7), ("f64", 6e-16)):
        dtype = TYPES[element]
        y = np.empty(case.shapes[2], dtype)
        call(compiled(host(), element), case, x.astype(dtype), w.astype(dtype), y, add=False)
        exact = expected(case, x.astype(dtype), w.astype(dtype))
        bound = expected(case, np.abs(x), np.abs(w))
        assert float((np.abs(y - exact) / bound).max()) < digits * 4


@st.composite
def cases(draw: st.DrawFn) -> Case:
    def pair(low: int, high: int) -> tuple[int, int]:
        return draw(st.integers(low, high)), draw(st.integers(low, high))

    return Case(
        batch=draw(st.integers(0, 2)),
        groups=draw(st.integers(1, 3)),
        filters=draw(st.sampled_from([1, 2, 6, 7, 13])),
        channels=draw(st.sampled_from([0, 1, 2, 3, 20])),
        image=(draw(st.integers(0, 12)), draw(st.integers(0, 40))),
        window=pair(1, 5),
        strides=pair(1, 4),
        dilations=pair(1, 3),
        low=pair(-2, 5),
        high=pair(-2, 5),
        wide=draw(st.sampled_from([(1, 1), (1, 1), (1, 1), (2, 2), (1, 3)])),
        step=draw(st.sampled_from([1, 1, 1, 2])),
        planes=draw(st.sampled_from([Planes()] * 3 + [Planes(4, 3, low=1, high=2), Planes(7, 2, 2, 3, -1, 4, 2)])),
    )


@settings(max_examples=400, deadline=None, derandomize=True)
@given(cases(), st.booleans(), st.booleans(), st.sampled_from(["host", "small caches", "AVX-512", "NEON"]))
def test_any_convolution(case: Case, add: bool, behind: bool, machine: str) -> None:
    check(compiled(MACHINES[machine], "f32"), case, add=add, behind=behind)


@pytest.mark.parametrize("weight", [1 + 2**-7, 0.1875, 2.0])
def test_sums_are_rounded_as_pytorch_does(weight: float) -> None:
    """Ties, infinities, what is no number, and what is smaller than the smallest normal number, among others."""
    many = 1 << 16
    x = np.zeros((1, 2, 1, 1, many + 5), np.uint16)
    x[0, 0, 0, 0, :many] = np.random.default_rng(1).permutation(many)
    w = torch.tensor([weight, 0]).bfloat16().view(torch.int16).numpy().view(np.uint16).reshape(1, 2, 1, 1, 1)
    y = np.zeros((1, 1, 1, 1, many + 5), np.uint16)
    none = (0, 0)
    case = Case(filters=1, channels=2, image=(1, many + 5), window=(1, 1), low=none, high=none)
    call(compiled(host(), "bf16"), case, x, w, y, add=False)
    image, found = (torch.from_numpy(each.view(np.int16)[0, 0, 0, 0]).view(torch.bfloat16) for each in (x, y))
    torch.testing.assert_close(found, (image.float() * weight).bfloat16(), rtol=0, atol=0, equal_nan=True)
    assert ((found != 0) & (found.abs() < torch.finfo(torch.bfloat16).smallest_normal)).any()
