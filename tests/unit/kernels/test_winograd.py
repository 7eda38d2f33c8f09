"""Convolutions by Winograd's filtering against PyTorch: matrices, machines, edges, blocks, threads, and what lies around."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.elements import summed_in
from hotdesk.kernels.machine import AVX2, AVX512, GENERIC, NEON, Machine, host
from hotdesk.kernels.scratch import CONVERTED, PRODUCTS, SLOTS, SLOTS_AT
from hotdesk.kernels.shared_convolution import shared_winograd_name
from hotdesk.kernels.sharing import POOL_BYTES, USE_POOL
from hotdesk.kernels.values import Values
from hotdesk.kernels.winograd import (
    CHANNELS,
    FEW_CHANNELS,
    FEW_FILTERS,
    FEW_TILES,
    FEWER_FILTERS,
    FILTERS,
    WINOGRAD_ARGUMENTS,
    room_needed,
    summed_at_once,
)
from hotdesk.kernels.winograd_matrices import OUTPUTS, SIZE, TAPS, after_matrix, before_matrix, filter_matrix
from hotdesk.kernels.winograd_transforms import tiles_in_panel
from hotdesk.runtime.code.products import CommonCode, common_code
from hotdesk.runtime.code.threads import ThreadPool
from tests.unit.kernels.protected import Protected

Array = Any
TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16}
"""What holds the elements of a type; of bf16 it is their bits."""
MACHINES = {"host": host(), "AVX2": AVX2, "AVX-512": AVX512, "NEON": NEON, "generic": GENERIC}
ERROR = {"f32": 3e-6, "f64": 6e-15}
"""Of the largest result that there could be: some ten times what sums of products have."""
ROUNDING = {"bf16": 2**-8, "f16": 2**-11}
"""Of a result of 16 bits: once, to the nearest."""


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes of a convolution; pairs are of rows and columns."""

    batch: int = 1
    filters: int = 5
    channels: int = 4
    image: tuple[int, int] = (9, 20)
    low: tuple[int, int] = (1, 1)
    high: tuple[int, int] = (1, 1)

    @property
    def tiles(self) -> int:
        """Of all images, as they are numbered."""
        rows, columns = self.shapes[2][2:]
        return self.batch * -(-rows // OUTPUTS) * (-(-columns // OUTPUTS) + 1)

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Of x, w and y."""
        rows, columns = (
            max(0, n + low + high - TAPS + 1) for n, low, high in zip(self.image, self.low, self.high, strict=True)
        )
        x = (self.batch, self.channels, *self.image)
        return x, (self.filters, self.channels, TAPS, TAPS), (self.batch, self.filters, rows, columns)


@cache
def compiled(machine: Machine, element: str, result: str = "") -> CommonCode:
    return common_code(shared_winograd_name(element, result), machine, lambda name: products(machine, name))


@cache
def products(machine: Machine, name: str) -> CommonCode:
    return common_code(name, machine)


@cache
def pool() -> ThreadPool:
    return ThreadPool()


def call(code: CommonCode, case: Case, x: Array, w: Array, y: Array, *, add: bool) -> None:
    (x_n, x_c, x_h, _), (y_n, y_c, y_h, _) = ([s // each.itemsize for s in each.strides] for each in (x, y))
    rows, columns = y.shape[2:]
    numbers: dict[str, int] = {
        "first": 0,
        "last": case.batch,
        "tile": 0,
        "stop": -(-rows // OUTPUTS) * (-(-columns // OUTPUTS) + 1),
        "filters": case.filters,
        "channels": case.channels,
        "x": x.ctypes.data,
        "x_n": x_n,
        "x_c": x_c,
        "x_h": x_h,
        "height": case.image[0],
        "length": case.image[1],
        "top": -case.low[0],
        "left": -case.low[1],
        "w": w.ctypes.data,
        "w_f": case.channels * TAPS * TAPS,
        "y": y.ctypes.data,
        "y_n": y_n,
        "y_c": y_c,
        "y_h": y_h,
        "rows": rows,
        "columns": columns,
        "add": int(add),
    }
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(WINOGRAD_ARGUMENTS))(code.address)
    function(*(numbers[name] for name in WINOGRAD_ARGUMENTS))


def expected(case: Case, x: Array, w: Array) -> Array:
    if 0 in case.shapes[2]:
        return np.zeros(case.shapes[2])
    (top, left), (bottom, right) = case.low, case.high
    image = F.pad(torch.from_numpy(x.astype(np.float64)), (left, right, top, bottom))
    return F.conv2d(image, torch.from_numpy(w.astype(np.float64))).numpy()


@contextmanager
def scratch_of(code: CommonCode, machine: Machine, case: Case, element: str, *, kept: bool) -> Generator[None]:
    """Lets code take blocks of just the bytes it asks for, behind which a page begins that nobody may touch, or none."""
    pool = np.zeros(POOL_BYTES // 8, np.int64)
    most_filters = FEWER_FILTERS if case.tiles < FEW_TILES else FILTERS
    panel = tiles_in_panel(machine, element)
    filters, channels = min(case.filters, most_filters), min(case.channels, CHANNELS)
    rooms = {PRODUCTS: room_needed(Values(), filters, channels, panel, machine.lanes(element))}
    panels, images = summed_at_once(Values(), case.batch, case.tiles // max(1, case.batch), panel)
    rooms[CONVERTED] = Values().even(case.filters, most_filters) * panels * images * OUTPUTS * OUTPUTS * panel
    given: dict[int, Protected] = {}
    for kind, room in rooms.items():
        size = int(room) * machine.bytes_of(element)
        block = given[SLOTS_AT + 8 * SLOTS * kind] = Protected(64 + size, np.uint8, behind=True)
        block.array[:16].view(np.int64)[:] = pool.ctypes.data + SLOTS_AT + 8 * SLOTS * kind, size
        block.array[64:].view(TYPES[element])[:] = np.nan
    for slot, block in given.items():
        pool[slot // 8] = block.array.ctypes.data + 64
    code.machine.call(USE_POOL, pool.ctypes.data if kept else 0, 1)
    yield
    code.machine.call(USE_POOL, 0, 1)
    for slot, block in given.items():
        assert pool[slot // 8] == block.array.ctypes.data + 64


def check(
    machine: Machine,
    case: Case,
    element: str = "f32",
    result: str = "",
    *,
    add: bool = False,
    behind: bool = True,
    kept: bool = True,
) -> None:
    """Real numbers; a result of 16 bits is rounded. Each operand ends, or begins, where a page begins that nobody may touch."""
    values = np.random.default_rng(1)
    total, result = summed_in(element), result or element

    def placed(shape: Sequence[int], element: str) -> Array:
        memory = Protected(math.prod(shape), TYPES[element], behind=behind)
        numbers = values.standard_normal(math.prod(shape))
        memory.array[:] = numbers.astype(np.float32).view(np.uint32) >> 16 if element == "bf16" else numbers
        return memory.array.reshape(shape)

    def numbers(array: Array) -> Array:
        return (array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array

    x, w, y = (placed(shape, kind) for shape, kind in zip(case.shapes, (element, element, result), strict=True))
    before, want = [x.copy(), w.copy()], expected(case, numbers(x), numbers(w))
    largest = float(expected(case, np.abs(numbers(x)), np.abs(numbers(w))).max(initial=1.0))
    want = want + numbers(y) if add else want
    if not add:
        y[...] = np.array(np.nan, np.float32).view(np.uint32) >> 16 if result == "bf16" else np.nan
    code = compiled(machine, element, result)
    with scratch_of(code, machine, case, total, kept=kept):
        call(code, case, x, w, y, add=add)
    rounding = ROUNDING.get(result, 0.0)
    np.testing.assert_allclose(
        numbers(y), want, rtol=rounding, atol=ERROR[total] * largest * (1 + rounding), err_msg=str(case)
    )
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(w, before[1])


def test_the_matrices_compute_a_window() -> None:
    """In fractions, so exactly."""
    before, filters, after = before_matrix(), filter_matrix(), after_matrix()
    assert (len(before), len(filters), len(after)) == (SIZE, SIZE, OUTPUTS)
    data = [Fraction(n * n % 7 - 3, 2) for n in range(SIZE)]
    taps = [Fraction(5), Fraction(-2, 3), Fraction(7)]

    def times(matrix: Sequence[Sequence[Fraction]], values: Sequence[Fraction]) -> list[Fraction]:
        return [sum((a * b for a, b in zip(row, values, strict=True)), Fraction(0)) for row in matrix]

    products = [a * b for a, b in zip(times(filters, taps), times(before, data), strict=True)]
    window = [sum((data[i + j] * taps[j] for j in range(TAPS)), Fraction(0)) for i in range(OUTPUTS)]
    assert times(after, products) == window


CASES = {
    "padded": Case(),
    "as it is": Case(low=(0, 0), high=(0, 0)),
    "uneven padding": Case(low=(0, 3), high=(2, 0)),
    "padding larger than the window": Case(low=(7, 20), high=(5, 19)),
    "cropped": Case(low=(-1, -2), high=(0, -1)),
    "images": Case(batch=3),
    "whole tiles": Case(image=(12, 32)),
    "one row of a tile": Case(image=(13, 33)),
    "a line as long as a vector of tiles": Case(image=(6, 64), filters=3),
    "a line longer than a panel": Case(image=(7, 150)),
    "a line much longer than a panel": Case(image=(5, 417), channels=2),
    "a panel of many lines": Case(image=(70, 3)),
    "one column": Case(image=(30, 1)),
    "one row": Case(image=(1, 100)),
    "one pixel": Case(image=(1, 1)),
    "one output": Case(image=(3, 3), low=(0, 0), high=(0, 0)),
    "one channel and filter": Case(channels=1, filters=1),
    "channels of several vectors": Case(channels=37),
    "several blocks of channels": Case(channels=2 * CHANNELS + 3),
    "several blocks of filters": Case(filters=2 * FILTERS + 5),
    "several blocks of filters and many tiles": Case(filters=FILTERS + 5, channels=2, image=(64, 63)),
    "one tile too few": Case(filters=FILTERS + 5, channels=2, image=(4, 4 * (FEW_TILES - 2))),
    "several blocks of both": Case(filters=FILTERS + 1, channels=CHANNELS + 20, image=(20, 21)),
    "several blocks of channels and a few small images": Case(batch=5, channels=CHANNELS + 5, image=(11, 9)),
    "several blocks of channels and images": Case(batch=2, channels=CHANNELS + 5, filters=FILTERS + 3, image=(40, 90)),
    "several small blocks": Case(filters=2 * FEW_FILTERS + 1, channels=2 * FEW_CHANNELS + 1),
    "no images": Case(batch=0),
    "no filters": Case(filters=0),
    "no output": Case(image=(2, 5), low=(0, 0), high=(0, 0)),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", CASES)
def test_every_case(name: str, machine: str) -> None:
    for add in (False, True):
        for kept in (False, True):
            check(MACHINES[machine], CASES[name], add=add, behind=not add, kept=kept)


@pytest.mark.parametrize("machine", ["host", "AVX2"])
def test_doubles(machine: str) -> None:
    for number, case in enumerate(CASES.values()):
        check(MACHINES[machine], case, "f64", add=bool(number % 2))


@pytest.mark.parametrize("machine", ["host", "AVX2", "NEON"])
@pytest.mark.parametrize("result", ["f32", ""], ids=["f32", "rounded"])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_halves_are_summed_in_single_precision(element: str, result: str, machine: str) -> None:
    for number, case in enumerate(CASES.values()):
        for kept in (False, True):
            check(MACHINES[machine], case, element, result, add=bool(number % 2), behind=number % 3 > 0, kept=kept)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(threads: int) -> None:
    """Shared out by images, by tiles and by filters; each thread takes a block of its own."""
    large, few_tiles = Case(channels=40, filters=60, image=(40, 41)), Case(channels=200, filters=500, image=(9, 9))
    code = compiled(host(), "f32")
    pool().serve(code.machine, threads)
    for case in (large, replace(large, batch=6), few_tiles):
        values = np.random.default_rng(1)
        x, w = (values.standard_normal(shape).astype(np.float32) for shape in case.shapes[:2])
        y = np.full(case.shapes[2], np.nan, np.float32)
        call(code, case, x, w, y, add=False)
        largest = float(expected(case, np.abs(x), np.abs(w)).max())
        np.testing.assert_allclose(y, expected(case, x, w), rtol=0, atol=ERROR["f32"] * largest)
    pool().serve(code.machine, 1)


def test_the_same_numbers_each_time() -> None:
    code = compiled(host(), "f32")
    pool().serve(code.machine, 2)
    case = Case(channels=64, filters=64, image=(60, 60))
    values = np.random.default_rng(1)
    x, w = (values.standard_normal(shape).astype(np.float32) for shape in case.shapes[:2])
    results = [np.empty(case.shapes[2], np.float32) for _ in range(10)]
    for y in results:
        call(code, case, x, w, y, add=False)
    pool().serve(code.machine, 1)
    for y in results[1:]:
        np.testing.assert_array_equal(y, results[0])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    def pair(low: int, high: int) -> tuple[int, int]:
        return draw(st.integers(low, high)), draw(st.integers(low, high))

    case = Case(
        batch=draw(st.integers(0, 2)),
        filters=draw(st.sampled_from([1, 2, 12, 13, 25])),
        channels=draw(st.sampled_from([1, 2, 3, 20, CHANNELS + 1])),
        image=(draw(st.integers(1, 30)), draw(st.integers(1, 90))),
        low=pair(-1, 5),
        high=pair(0, 5),
    )
    return case if min(case.image) > 1 else replace(case, low=(1, 1), high=(1, 1))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(cases(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from(list(MACHINES)))
def test_any_convolution(case: Case, add: bool, behind: bool, kept: bool, machine: str) -> None:
    check(MACHINES[machine], case, add=add, behind=behind, kept=kept)
