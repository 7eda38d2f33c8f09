"""Convolutions with one channel per group and few, known taps, all unrolled in the innermost loop.

The rows of input that a row of outputs reads are kept on the stack, padded with zeros where the input ends, so that no
output is a special case. They are kept in a ring: from one row of outputs to the next only the new rows are read. Wide
images are cut into strips of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.kernels.text import Index, KernelBuilder, Operand
from hotdesk.passes.lower.convolution_direct import start_of_sum, sum_kind
from hotdesk.passes.lower.convolution_problem import Problem
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, widen
from hotdesk.passes.lower.window import Slide, reach

_STRIP = 128  # columns of outputs at a time
_LARGEST_RING = 16 * 1024  # elements
_MOST_TAPS = 64
_REGISTERS = 16  # weights kept at a time


@dataclass(frozen=True, slots=True)
class Ring:
    """`lines` rows of the input, `width` elements each, for `strip` columns of outputs."""

    lines: int
    width: int
    strip: int


def choose_ring(
    taps: Sequence[int], strides: Sequence[int], dilations: Sequence[int], columns: int | None
) -> Ring | None:
    """The ring for a window, its last dimension along a row; None if it would be too large or has too many taps."""
    rows = taps[-2] if len(taps) > 1 else 1
    lines = (rows - 1) * dilations[-2] + 1 if len(taps) > 1 else 1
    strip = _STRIP if columns is None else max(1, min(columns, _STRIP))
    width = (strip - 1) * strides[-1] + (taps[-1] - 1) * dilations[-1] + 1
    if lines * width > _LARGEST_RING or rows * taps[-1] > _MOST_TAPS:
        return None
    return Ring(lines, width, strip)


def convolve_depthwise(k: KernelBuilder, p: Problem, ring: Ring) -> None:
    """Writes the loops over images, groups, filters, strips and rows; the input is not widened."""
    lines = k.stack(sum_kind(p), ring.lines * ring.width)
    sums = k.stack(sum_kind(p), ring.strip)
    rows, columns = p.slides
    with k.loops([p.batch, p.groups, p.filters]) as (image, group, filter_):
        here = p.place(k, image, group, filter_)
        offsets = [k.add(here.w, k.dot(tap, p.tap_strides)) for tap in _taps(rows, columns)]
        weights = [widen(k, k.load(p.w, offset), p.w.element, sum_kind(p)) for offset in offsets]
        with k.loop(0, columns.output, ring.strip) as first, k.loop(0, rows.output) as row:
            newest = k.mul(row, rows.stride)
            kept = k.select(k.equal(row, 0), 0, max(0, ring.lines - rows.stride))
            with k.loop(k.add(newest, kept), k.add(newest, ring.lines)) as line:
                _read_line(k, p, ring, lines, here.x, line, first)
            y_strip = k.add(here.y, k.mul(row, rows.output_stride), k.mul(first, columns.output_stride))
            count = k.minimum(ring.strip, k.sub(columns.output, first))
            _outputs(k, p, ring, lines, sums, weights, newest, y_strip, count)


def _taps(rows: Slide, columns: Slide) -> list[tuple[int, int]]:
    assert isinstance(rows.window, int)
    assert isinstance(columns.window, int)
    return [(row, column) for row in range(rows.window) for column in range(columns.window)]


def _read_line(k: KernelBuilder, p: Problem, ring: Ring, lines: Operand, x: Index, line: Index, first: Index) -> None:
    """Puts a row of the padded input, `line` counted from the padding's start, where the ring keeps it."""
    rows, columns = p.slides
    slot = k.mul(k.mod(line, ring.lines), ring.width)
    row = k.sub(line, rows.pad_low)
    inside = k.both(k.at_least(row, 0), k.at_least(k.sub(rows.input, 1), row))
    begin = k.sub(k.mul(first, columns.stride), columns.pad_low)
    run = reach(k, begin, 1, 1, columns.input, 0, ring.width)
    source = k.add(x, k.mul(row, rows.input_stride), k.mul(begin, columns.input_stride))

    def zero(start: Index, stop: Index) -> None:
        if start == stop:
            return
        with k.loop(start, stop) as i:
            k.store(neutral(k, lines.element), lines, k.add(slot, i))

    def copy() -> None:
        zero(0, run.start)
        with k.loop(run.start, run.stop) as i:
            value = k.load(p.x, k.add(source, k.mul(i, columns.input_stride)))
            k.store(widen(k, value, p.x.element, lines.element), lines, k.add(slot, i))
        zero(run.stop, ring.width)

    k.branch(inside, copy, lambda: zero(0, ring.width))


def _outputs(
    k: KernelBuilder,
    p: Problem,
    ring: Ring,
    lines: Operand,
    sums: Operand,
    weights: Sequence[str],
    newest: Index,
    y: Index,
    count: Index,
) -> None:
    """`count` outputs of a row whose first line is `newest`."""
    rows, columns = p.slides
    kind = lines.element
    taps = _taps(rows, columns)
    slots = {
        row: k.mul(k.mod(k.add(newest, row * rows.dilation), ring.lines), ring.width)
        for row in sorted({row for row, _ in taps})
    }
    groups = _register_groups(taps, weights)
    for group in groups:
        with k.loop(0, count) as i:
            column = k.mul(i, columns.stride)
            offset = k.add(y, k.mul(i, columns.output_stride))
            total = start_of_sum(k, p, offset) if group is groups[0] else k.load(sums, i)
            for (row, tap), weight in group:
                value = k.load(lines, k.add(slots[row], column, tap * columns.dilation))
                total = combine(k, total, multiply(k, value, weight, kind), kind)
            if group is groups[-1]:
                k.store(narrow(k, total, kind, p.y.element), p.y, offset)
            else:
                k.store(total, sums, i)


def _register_groups(
    taps: Sequence[tuple[int, int]], weights: Sequence[str]
) -> list[list[tuple[tuple[int, int], str]]]:
    """Taps with their weights, in groups few enough for all weights of one to stay in registers."""
    pairs = list(zip(taps, weights, strict=True))
    count = -(-len(pairs) // _REGISTERS)
    size = -(-len(pairs) // count)
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]
