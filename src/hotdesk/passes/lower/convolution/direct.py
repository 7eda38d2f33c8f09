"""Convolutions as plain loops: any element type, layout and rank.

One row of outputs at a time is summed on the stack. For each tap the loop covers just the outputs that read inside the
input, so that padding costs nothing and the innermost loop has no branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.kernels.text import Index, KernelBuilder, Operand
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, OperandOffsets
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, sum_type, widen

_ROW = 128  # outputs summed on the stack at a time


def convolve_directly(k: KernelBuilder, p: ConvolutionOperands) -> None:
    """Writes the loops of a convolution."""
    sums = _sums(k, p)
    outer = p.slides[:-1]
    with k.loops([p.batch, p.groups, p.filters]) as (image, group, filter_):
        here = p.place(k, image, group, filter_)
        with k.loops([slide.output for slide in outer]) as outputs:
            _row(k, p, here, sums, outputs)


def sum_kind(p: ConvolutionOperands) -> str:
    """The type an output is summed in."""
    return sum_type(p.y.element, p.x.element, p.w.element)


def _sums(k: KernelBuilder, p: ConvolutionOperands) -> Operand:
    width = p.slides[-1].output
    return k.stack(sum_kind(p), min(width, _ROW) if isinstance(width, int) and width else _ROW)


def start_of_sum(k: KernelBuilder, p: ConvolutionOperands, offset: Index) -> str:
    """What the sum of an output begins with."""
    return widen(k, k.load(p.y, offset), p.y.element, sum_kind(p)) if p.accumulate else neutral(k, sum_kind(p))


def _row(
    k: KernelBuilder, p: ConvolutionOperands, here: OperandOffsets, sums: Operand, outputs: Sequence[Index]
) -> None:
    """The row of outputs at the positions `outputs` of the other dimensions."""
    kind = sum_kind(p)
    last = p.slides[-1]
    width = sums.sizes[0]
    assert isinstance(width, int)
    y_row = k.add(here.y, k.dot(outputs, [slide.output_stride for slide in p.slides[:-1]]))
    with k.loop(0, last.output, width) as first:
        count = k.minimum(width, k.sub(last.output, first))
        y_first = k.add(y_row, k.mul(first, last.output_stride))
        with k.loop(0, count) as i:
            k.store(start_of_sum(k, p, k.add(y_first, k.mul(i, last.output_stride))), sums, i)
        _taps(k, p, here.x, here.w, sums, outputs, first, count)
        with k.loop(0, count) as i:
            value = narrow(k, k.load(sums, i), kind, p.y.element)
            k.store(value, p.y, k.add(y_first, k.mul(i, last.output_stride)))


def _taps(
    k: KernelBuilder,
    p: ConvolutionOperands,
    x: Index,
    w: Index,
    sums: Operand,
    outputs: Sequence[Index],
    first: Index,
    count: Index,
) -> None:
    """Adds every tap's products to the sums; `outputs` are the positions in the dimensions still to be looped over."""
    depth = len(p.slides) - 1 - len(outputs)
    if outputs:
        reach = p.slides[depth].taps(k, outputs[0])
        with k.loop(0, reach.count(k)) as i:
            tap = k.add(reach.start, k.mul(i, reach.step))
            position = k.add(reach.input, k.mul(i, reach.input_step))
            x_next = k.add(x, k.mul(position, p.slides[depth].input_stride))
            w_next = k.add(w, k.mul(tap, p.tap_strides[depth]))
            _taps(k, p, x_next, w_next, sums, outputs[1:], first, count)
        return
    kind = sum_kind(p)
    last = p.slides[-1]
    with k.loop(0, last.window) as tap:
        reach = last.outputs(k, tap, first, k.add(first, count))
        w_tap = k.add(w, k.mul(tap, p.tap_strides[-1]))
        x_first = k.add(x, k.mul(reach.input, last.input_stride))
        s_first = k.sub(reach.start, first)
        with k.loop(0, p.channels) as channel:
            weight = k.load(p.w, k.add(w_tap, k.mul(channel, p.w.strides[1])))
            weight = widen(k, weight, p.w.element, kind)
            x_channel = k.add(x_first, k.mul(channel, p.x.strides[1]))
            with k.loop(0, reach.count(k)) as i:
                offset = k.add(x_channel, k.mul(i, k.mul(reach.input_step, last.input_stride)))
                value = widen(k, k.load(p.x, offset), p.x.element, kind)
                slot = k.add(s_first, k.mul(i, reach.step))
                k.store(combine(k, k.load(sums, slot), multiply(k, value, weight, kind), kind), sums, slot)
