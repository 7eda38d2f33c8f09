"""The bounds of a sliding window against trying every number."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.text import KernelBuilder
from hotdesk.passes.lower.window import reach


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
