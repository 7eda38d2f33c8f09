"""The bounds of a sliding window against trying every number."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.text import KernelBuilder, View
from hotdesk.passes.lower.convolution.dispatch import convolution
from hotdesk.passes.lower.convolution.problem import ConvolutionSpec
from hotdesk.passes.lower.pooling import PoolingSpec, pooling
from hotdesk.passes.lower.window import dims_that_slide, reach


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    base=st.integers(-30, 30),
    stride=st.integers(1, 7),
    widening=st.integers(1, 7),
    size=st.integers(0, 12),
    start=st.integers(0, 6),
    count=st.integers(0, 20),
)
def test_reach_is_what_reads_inside(base: int, stride: int, widening: int, size: int, start: int, count: int) -> None:
    k = KernelBuilder((), ())
    found = reach(k, base, stride, widening, size, start, start + count)
    known = [(found.start, found.stop, found.input, found.count(k))]
    assert all(isinstance(number, int) for number in known[0])
    first, stop, position, length = (int(number) for number in known[0])
    pairs = [(first + i * found.step, position + i * found.input_step) for i in range(length)]
    exact = [(x, base + x * stride) for x in range(start, start + count)]
    assert pairs == [(x, p // widening) for x, p in exact if p % widening == 0 and 0 <= p // widening < size]
    assert start <= first <= stop <= start + count


def test_an_image_of_one_column_is_a_row() -> None:
    """Of convolutions and poolings; not where the column is padded, or its stride comes with the call."""
    column, row = View("f32", (2, 8, 40, 1), (320, 40, 1, 1)), View("f32", (2, 8, 40), (320, 40, 1))
    below, behind = View("f32", (2, 8, 20, 1), (160, 20, 1, 1)), View("f32", (2, 8, 20), (160, 20, 1))
    wide = PoolingSpec(column, below, "max", (2, 1), (2, 1), (1, 1), (0, 0), (0, 0), False, (True, True))
    assert pooling(wide) == pooling(PoolingSpec(row, behind, "max", (2,), (2,), (1,), (0,), (0,), False, (True, True)))
    taps, flat = View("f32", (8, 8, 3, 1), (24, 3, 1, 1)), View("f32", (8, 8, 3), (24, 3, 1))
    alone = (True, True, True)
    of_columns = ConvolutionSpec(column, taps, column, 1, (1, 1), (1, 1), (1, 0), (1, 0), (1, 1), False, alone)
    of_rows = ConvolutionSpec(row, flat, row, 1, (1,), (1,), (1,), (1,), (1,), False, alone)
    assert convolution(of_columns) == convolution(of_rows)
    open_ = replace(column, strides=(320, 40, 1, None))
    assert dims_that_slide((column, below), (2, 1), (0, 0)) == [0]
    assert dims_that_slide((column, below), (2, 1), (0, 1)) == [0, 1]
    assert dims_that_slide((open_, below), (2, 1), (0, 0)) == [0, 1]
