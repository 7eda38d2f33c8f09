"""Where a sliding window meets its input: for one tap, which outputs read inside it; for one output, which taps do.

Output o and tap t of a window read the padded, widened input at ``p = o * stride + t * dilation - pad_low``, and the
input itself at ``p / widening``, when widening (the input dilation of a transposed convolution) divides p and the quotient
is inside. With o fixed this bounds t, with t fixed it bounds o: the same question, `reach`, with other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.kernels.text import Condition, Index, KernelBuilder, View


def dims_that_slide(views: Sequence[View], window: Sequence[int | None], *padding: Sequence[int]) -> list[int]:
    """The spatial dims of a window's operands but those where all of them have one element, with one tap and no padding.

    Without such a dim behind them, rows are columns: there is more in a row, as in an image of one column. One dim stays.
    """
    first = len(views[0].sizes) - len(window)

    def stays(dim: int) -> bool:
        taps, low_and_high = window[dim], [each[dim] for each in padding]
        places = [(view.sizes[first + dim], view.strides[first + dim]) for view in views]
        return taps != 1 or any(low_and_high) or any(size != 1 or stride is None for size, stride in places)

    return [dim for dim in range(len(window)) if stays(dim)] or [0]


@dataclass(frozen=True, slots=True)
class Slide:
    """One spatial dimension of a window: sizes of input, window and output; strides of input and output in elements."""

    input: Index
    window: Index
    output: Index
    stride: int
    dilation: int
    pad_low: int
    widening: int
    input_stride: Index
    output_stride: Index

    def taps(self, k: KernelBuilder, output: Index) -> Reach:
        """The taps that read inside the input, for one output."""
        base = k.sub(k.mul(output, self.stride), self.pad_low)
        return reach(k, base, self.dilation, self.widening, self.input, 0, self.window)

    def outputs(self, k: KernelBuilder, tap: Index, start: Index, stop: Index) -> Reach:
        """The outputs from `start` to `stop` that read inside the input, for one tap."""
        base = k.sub(k.mul(tap, self.dilation), self.pad_low)
        return reach(k, base, self.stride, self.widening, self.input, start, stop)


@dataclass(frozen=True, slots=True)
class Reach:
    """The numbers ``start, start + step, ...`` below `stop`; the i-th reads input ``input + i * input_step``."""

    start: Index
    stop: Index
    step: int
    input: Index
    input_step: int

    def count(self, k: KernelBuilder) -> Index:
        return k.ceildiv(k.sub(self.stop, self.start), self.step)


def reach(k: KernelBuilder, base: Index, stride: int, widening: int, size: Index, start: Index, stop: Index) -> Reach:
    """The x of ``start <= x < stop`` for which ``base + x * stride`` is ``widening * i`` with ``0 <= i < size``.

    Always ``start <= result.start <= result.stop``, and where `stop` is not below `start` no more than `stop`.
    """
    last = k.mul(k.sub(size, 1), widening)
    low = k.minimum(k.maximum(start, k.ceildiv(k.sub(0, base), stride)), stop)
    high = k.maximum(low, k.minimum(stop, k.add(k.floordiv(k.sub(last, base), stride), 1)))
    if widening == 1:
        return Reach(low, high, 1, k.add(base, k.mul(low, stride)), stride)
    common = math.gcd(stride, widening)
    step, advance = widening // common, stride // common
    # base + x * stride is a multiple of widening iff common divides base and x is this modulo step:
    residue = k.mod(k.mul(k.floordiv(base, common), -pow(advance, -1, step) % step if step > 1 else 0), step)
    divides: Condition = True if common == 1 else k.equal(k.mod(base, common), 0)
    first = k.minimum(k.add(low, k.mod(k.sub(residue, low), step)), high)
    high = k.select(divides, high, first)
    return Reach(first, high, step, k.floordiv(k.add(base, k.mul(first, stride)), widening), advance)
