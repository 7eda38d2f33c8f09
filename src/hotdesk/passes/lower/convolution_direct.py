"""Convolutions as plain loops: any element type, layout and rank; and depthwise ones with their taps unrolled.

One row of outputs at a time is summed on the stack. For each tap the loop covers just the outputs that read inside the
input, so that padding costs nothing and the innermost loop has no branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.passes.lower.convolution_problem import Place, Problem
from hotdesk.passes.lower.kernel import Index, KernelBuilder, Operand
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, sum_type, widen

_ROW = 128  # outputs summed on the stack at a time


def convolve_directly(k: KernelBuilder, p: Problem) -> None:
    """Writes the loops of a convolution."""
    sums = _row_of_sums(k, p)
    *outer, last = p.slides
    with k.loops([p.batch, p.groups, p.filters]) as (image, group, filter_):
        here = p.place(k, image, group, filter_)
        with k.loops([slide.output for slide in outer]) as outputs:
            _row(k, p, here, sums, outputs, 0, last.output)


def convolve_depthwise(k: KernelBuilder, p: Problem) -> None:
    """Writes the loops of a convolution with one channel per group, two slides and few, known taps.

    Outputs whose every tap reads inside the input are one loop with all taps in its body; the border around them is rows
    of sums.
    """
    sums = _row_of_sums(k, p)
    rows, columns = p.slides
    top, bottom = rows.whole(k)
    left, right = columns.whole(k)
    with k.loops([p.batch, p.groups, p.filters]) as (image, group, filter_):
        here = p.place(k, image, group, filter_)
        weights = _weights(k, p, here)
        for start, stop in ((0, top), (bottom, rows.output)):
            if start == stop:
                continue
            with k.loop(start, stop) as row:
                _row(k, p, here, sums, (row,), 0, columns.output)
        with k.loop(top, bottom) as row:
            for start, stop in ((0, left), (right, columns.output)):
                if start != stop:
                    _row(k, p, here, sums, (row,), start, stop)
            _whole_windows(k, p, here, weights, row, left, right)


def _kind(p: Problem) -> str:
    return sum_type(p.y.element, p.x.element, p.w.element)


def _row_of_sums(k: KernelBuilder, p: Problem) -> Operand:
    width = p.slides[-1].output
    return k.stack(_kind(p), min(width, _ROW) if isinstance(width, int) and width else _ROW)


def _start(k: KernelBuilder, p: Problem, offset: Index) -> str:
    """What the sum of an output begins with."""
    return widen(k, k.load(p.y, offset), p.y.element, _kind(p)) if p.accumulate else neutral(k, _kind(p))


def _row(
    k: KernelBuilder,
    p: Problem,
    here: Place,
    sums: Operand,
    outputs: Sequence[Index],
    start: Index,
    stop: Index,
) -> None:
    """The outputs from `start` to `stop` of the row at `outputs` in the other dimensions."""
    kind = _kind(p)
    last = p.slides[-1]
    width = sums.sizes[0]
    assert isinstance(width, int)
    y_row = k.add(here.y, k.dot(outputs, [slide.output_stride for slide in p.slides[:-1]]))
    with k.loop(start, stop, width) as first:
        count = k.minimum(width, k.sub(stop, first))
        y_first = k.add(y_row, k.mul(first, last.output_stride))
        with k.loop(0, count) as i:
            k.store(_start(k, p, k.add(y_first, k.mul(i, last.output_stride))), sums, i)
        _taps(k, p, here.x, here.w, sums, outputs, first, count)
        with k.loop(0, count) as i:
            value = narrow(k, k.load(sums, i), kind, p.y.element)
            k.store(value, p.y, k.add(y_first, k.mul(i, last.output_stride)))


def _taps(
    k: KernelBuilder,
    p: Problem,
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
    kind = _kind(p)
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


def _taps_of(p: Problem) -> list[tuple[int, int]]:
    rows, columns = (slide.window for slide in p.slides)
    assert isinstance(rows, int)
    assert isinstance(columns, int)
    return [(row, column) for row in range(rows) for column in range(columns)]


def _weights(k: KernelBuilder, p: Problem, here: Place) -> list[str]:
    offsets = [k.add(here.w, k.dot(tap, p.tap_strides)) for tap in _taps_of(p)]
    return [widen(k, k.load(p.w, offset), p.w.element, _kind(p)) for offset in offsets]


def _whole_windows(
    k: KernelBuilder, p: Problem, here: Place, weights: Sequence[str], row: Index, left: Index, right: Index
) -> None:
    """The outputs of a row whose every tap reads inside the input."""
    kind = _kind(p)
    rows, columns = p.slides
    y_row = k.add(here.y, k.mul(row, rows.output_stride))
    x_row = k.add(
        here.x,
        k.mul(k.sub(k.mul(row, rows.stride), rows.pad_low), rows.input_stride),
        k.mul(-columns.pad_low, columns.input_stride),
    )
    steps = (k.mul(rows.dilation, rows.input_stride), k.mul(columns.dilation, columns.input_stride))
    taps = [k.add(x_row, k.dot(tap, steps)) for tap in _taps_of(p)]
    with k.loop(left, right) as column:
        y_here = k.add(y_row, k.mul(column, columns.output_stride))
        x_here = k.mul(column, k.mul(columns.stride, columns.input_stride))
        total = _start(k, p, y_here)
        for tap, weight in zip(taps, weights, strict=True):
            value = widen(k, k.load(p.x, k.add(tap, x_here)), p.x.element, kind)
            total = combine(k, total, multiply(k, value, weight, kind), kind)
        k.store(narrow(k, total, kind, p.y.element), p.y, y_here)
