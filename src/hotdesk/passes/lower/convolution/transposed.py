"""Transposed convolutions, without multiplying by the zeros between the input's elements.

Where the input is widened by exactly the window and the stride is 1, each output reads one input element through one tap.
So each tap is one matrix product, of its filters (gathered into workspace where they are read often) with the input's plane, and
its results go to every window-th output. A stretch of the plane at a time is computed into workspace and spread from there.

Where windows overlap, or leave outputs out, each filter is one matrix product, of all its taps with the input's plane: weights
lie as that wants them, a column for each channel. Its results are added to the outputs, which begin as zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand
from hotdesk.passes.lower.convolution.direct import sum_kind
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, OperandOffsets, Spread
from hotdesk.passes.lower.products import MatrixOperand, ProductSizes, write_product
from hotdesk.passes.lower.scalar import combine, narrow, neutral, widen
from hotdesk.passes.lower.window import Slide, reach

WORKSPACE_LIMIT = 256 * 1024  # bytes
_LANES = 16
_WIDTH = 1024  # input positions at a time, where windows overlap
_LEAST_CHANNELS = 8  # below, adding results to outputs takes longer than multiplying by zeros
_GATHERED_PLANE = 512  # input positions for which weights of a tap that lie apart take longer to read than to gather


def choose_spread(filters: int, channels: int, plane: int | None, capacity: int, *, alike: bool) -> Spread:
    """Half of the workspace, `capacity` elements, for results, and half for filters.

    `plane` is how many input positions there are, None if that is not known; weights are gathered only where they are `alike` the
    sums, whose element type the workspace has, where the plane is large, and a filter fits.
    """
    gathers = alike and channels <= capacity // 2 and (plane is None or plane > _GATHERED_PLANE)
    chunk = min(filters, capacity // 2 // _LANES, capacity // 2 // channels if gathers else filters)
    width = capacity // 2 // chunk // _LANES * _LANES
    width = width if plane is None else min(width, max(1, -(-plane // _LANES)) * _LANES)
    return Spread(chunk, width, gathers)


def choose_overlapping(filters: int, channels: int, taps: int, plane: int | None, capacity: int) -> Spread | None:
    """The workspace, `capacity` elements, for results of all taps; None where that is not worth it or does not fit."""
    lanes = capacity // taps // _LANES * _LANES
    if channels < _LEAST_CHANNELS or not lanes or not filters:
        return None
    positions = _WIDTH if plane is None else max(1, -(-plane // _LANES)) * _LANES
    width = min(positions, _WIDTH, lanes)
    return Spread(min(filters, capacity // (taps * width)), width, gathers=False)


def legal(k: KernelBuilder, p: ConvolutionOperands) -> Condition:
    """What must hold at run time: planes of x that lie together, and taps of w where windows overlap."""
    x_together = p.x_plane(k)[0]
    if not _overlaps(p):
        return x_together
    return reduce(k.both, (_follow(k, p, dim) for dim in range(len(p.slides) - 1)), x_together)


def _follow(k: KernelBuilder, p: ConvolutionOperands, dim: int) -> Condition:
    """Whether taps along a dim are as far apart as all those of the dims behind it take, in steps of the last dim."""
    inner = reduce(k.mul, (slide.window for slide in p.slides[dim + 1 :]), p.tap_strides[-1])
    return k.either(k.equal(p.slides[dim].window, 1), k.equal(p.tap_strides[dim], inner))


def _overlaps(p: ConvolutionOperands) -> bool:
    """Whether windows overlap, or leave outputs out."""
    return any(slide.window != slide.widening for slide in p.slides)


def convolve_spread(k: KernelBuilder, p: ConvolutionOperands, cut: Spread, workspace: Operand) -> None:
    """Writes the loops over groups, taps, filters, images and stretches, where `legal` holds."""
    if _overlaps(p):
        _add_taps(k, p, cut, workspace)
        return
    if not p.accumulate and not _every_output_is_read(p):
        _clear(k, p)
    plane = _positions(k, p.slides)
    assert isinstance(p.channels, int)
    results = cut.filters * p.channels if cut.gathers else 0  # where they begin in the workspace
    taps = [slide.window for slide in p.slides]
    with k.loops([p.groups, *taps]) as (group, *tap), k.loop(0, p.filters, cut.filters) as first:
        filters = k.minimum(cut.filters, k.sub(p.filters, first))
        if cut.gathers:
            _gather(k, p, p.place(k, 0, group, first), tap, filters, workspace)
        with k.loop(0, p.batch) as image, k.loop(0, plane, cut.width) as start:
            here = p.place(k, image, group, first)
            count = k.minimum(cut.width, k.sub(plane, start))
            apart = MatrixOperand(p.w, k.add(here.w, k.dot(tap, p.tap_strides)), *p.w.strides[:2])
            left = MatrixOperand(workspace, 0, p.channels, 1) if cut.gathers else apart
            right = MatrixOperand(p.x, k.add(here.x, start), p.x.strides[1], 1)
            result = MatrixOperand(workspace, results, cut.width, 1)
            write_product(k, ProductSizes(filters, count, p.channels), left, right, result, add=False)
            with k.loop(0, filters) as filter_:
                source = k.add(results, k.mul(filter_, cut.width))
                target = k.add(here.y, k.mul(filter_, p.y.strides[1]))
                _scatter(k, p, (workspace, source), target, tap, (start, count), add=p.accumulate)


def _add_taps(k: KernelBuilder, p: ConvolutionOperands, cut: Spread, workspace: Operand) -> None:
    """Writes the loops over images, groups, filters and stretches, each a product of all taps that is added to the outputs."""
    if not p.accumulate:
        _clear(k, p)
    plane = _positions(k, p.slides)
    windows = [slide.window for slide in p.slides]
    taps = reduce(k.mul, windows, 1)
    with k.loops([p.batch, p.groups]) as (image, group), k.loop(0, p.filters, cut.filters) as first:
        filters = k.minimum(cut.filters, k.sub(p.filters, first))
        here = p.place(k, image, group, first)
        with k.loop(0, plane, cut.width) as start:
            count = k.minimum(cut.width, k.sub(plane, start))
            left = MatrixOperand(p.w, here.w, p.tap_strides[-1], p.w.strides[1], p.w.strides[0])
            right = MatrixOperand(p.x, k.add(here.x, start), p.x.strides[1], 1)
            result = MatrixOperand(workspace, 0, cut.width, 1, k.mul(taps, cut.width))
            write_product(k, ProductSizes(taps, count, p.channels, filters), left, right, result, add=False)
            with k.loops([filters, *windows]) as (filter_, *tap):
                number = reduce(
                    lambda at, each: k.add(k.mul(at, each[0]), each[1]), zip(windows, tap, strict=True), filter_
                )
                source, target = k.mul(number, cut.width), k.add(here.y, k.mul(filter_, p.y.strides[1]))
                _scatter(k, p, (workspace, source), target, tap, (start, count), add=True)


def _every_output_is_read(p: ConvolutionOperands) -> bool:
    """Whether each output is known to read an input element."""
    for slide in p.slides:
        known = isinstance(slide.input, int) and isinstance(slide.output, int)
        if not known or slide.pad_low >= slide.widening:
            return False
        assert isinstance(slide.input, int)
        assert isinstance(slide.output, int)
        if -(-(slide.output - 1 - slide.pad_low) // slide.widening) >= slide.input:
            return False
    return True


def _clear(k: KernelBuilder, p: ConvolutionOperands) -> None:
    strides = [p.y.strides[0], p.y.strides[1], *(slide.output_stride for slide in p.slides)]
    sizes = [p.batch, k.mul(p.filters, p.groups), *(slide.output for slide in p.slides)]
    with k.loops(sizes) as positions:
        k.store(neutral(k, p.y.element), p.y, k.dot(positions, strides))


def _gather(
    k: KernelBuilder, p: ConvolutionOperands, here: OperandOffsets, tap: list[Index], filters: Index, workspace: Operand
) -> None:
    """The weights of one tap, as a matrix of filters and channels."""
    w_tap = k.add(here.w, k.dot(tap, p.tap_strides))
    with k.loops([filters, p.channels]) as (filter_, channel):
        weight = k.load(p.w, k.add(w_tap, k.dot((filter_, channel), p.w.strides[:2])))
        k.store(weight, workspace, k.add(k.mul(filter_, p.channels), channel))


def _scatter(
    k: KernelBuilder,
    p: ConvolutionOperands,
    results: tuple[Operand, Index],
    target: Index,
    tap: list[Index],
    stretch: tuple[Index, Index],
    *,
    add: bool,
) -> None:
    """One filter's results for a stretch of the input's plane, from a position on so many, to where the tap puts them."""
    *outer, columns = p.slides
    (workspace, source), (start, count) = results, stretch
    kind = sum_kind(p)

    def write(line: Index, target: Index) -> None:
        column = k.sub(k.mul(line, columns.input), start)
        first, last = k.maximum(0, k.sub(0, column)), k.minimum(columns.input, k.sub(count, column))
        run = reach(k, k.sub(columns.pad_low, tap[-1]), columns.widening, 1, columns.output, first, last)
        with k.loop(0, run.count(k)) as j:
            value = k.load(workspace, k.add(source, column, run.start, j))
            output = k.add(target, k.mul(k.add(run.input, k.mul(j, run.input_step)), columns.output_stride))
            if add:
                value = combine(k, widen(k, k.load(p.y, output), p.y.element, kind), value, kind)
            k.store(narrow(k, value, kind, p.y.element), p.y, output)

    top, bottom = k.floordiv(start, columns.input), k.ceildiv(k.add(start, count), columns.input)
    _each_line(k, list(zip(outer, tap[:-1], strict=True)), (top, bottom), (0, target), write)


def _each_line(
    k: KernelBuilder,
    outer: Sequence[tuple[Slide, Index]],
    lines: tuple[Index, Index],
    at: tuple[Index, Index],
    write: Callable[[Index, Index], None],
) -> None:
    """Writes loops over lines of the input, of those from one number to another that a tap puts inside the output.

    `outer` are the dims that lines are in, with the place of the tap, `at` the numbers of the first line in these and of its
    output; `write` is given those of a line.
    """
    if not outer:
        write(*at)
        return
    (slide, tap), *inner = outer
    (begin, end), (first, target) = lines, at
    size = _positions(k, [each for each, _ in inner])
    run = reach(
        k, k.sub(slide.pad_low, tap), slide.widening, 1, slide.output, k.floordiv(begin, size), k.ceildiv(end, size)
    )
    with k.loop(0, run.count(k)) as i:
        skipped = k.mul(k.add(run.start, i), size)
        output = k.add(target, k.mul(k.add(run.input, k.mul(i, run.input_step)), slide.output_stride))
        within = k.maximum(0, k.sub(begin, skipped)), k.minimum(size, k.sub(end, skipped))
        _each_line(k, inner, within, (k.add(first, skipped), output), write)


def _positions(k: KernelBuilder, slides: Sequence[Slide]) -> Index:
    """How many there are in the input."""
    return reduce(k.mul, (slide.input for slide in slides), 1)
