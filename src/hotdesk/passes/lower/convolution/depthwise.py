"""Convolutions with one channel per group and few, known taps, all unrolled in the innermost loop.

The rows of input that a row of outputs reads are kept on the stack, padded with zeros where the input ends, so that no
output is a special case. They are kept in a ring: from one row of outputs to the next only the new rows are read. Wide
images are cut into strips of columns. With a stride of s, every s-th column of a row is kept together: neighbouring outputs
read neighbouring elements under each tap.

Where rows lie together and the machine has masks, nothing is kept: see `depthwise_vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from hotdesk.elements import summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.parts import shared_loops
from hotdesk.kernels.text import Index, KernelBuilder, KernelText, Operand
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.passes.lower.convolution.depthwise_vectors import fits_vectors, write_plane
from hotdesk.passes.lower.convolution.direct import start_of_sum, sum_kind
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, widen
from hotdesk.passes.lower.window import Slide, reach

_STRIP = 128  # columns of outputs at a time
_LANES = 8  # outputs are computed in a multiple of so many
_LARGEST_RING = 16 * 1024  # elements
MOST_TAPS = 64
_REGISTERS = 16  # weights kept at a time
_GRAIN = 1 << 17  # multiplications, of whole vectors, that are worth a thread: ten microseconds or more


@dataclass(frozen=True, slots=True)
class Ring:
    """`lines` rows of the input for `strip` columns of outputs, in `phases` parts of `width` elements: every phases-th column."""

    lines: int
    width: int
    strip: int
    phases: int

    @property
    def sums(self) -> int:
        """The outputs that are computed for a strip, whole vectors of them: the last ones are not stored."""
        return -(-self.strip // _LANES) * _LANES

    @property
    def line(self) -> int:
        """The elements of a row."""
        return self.phases * self.width


def choose_ring(
    taps: Sequence[int], strides: Sequence[int], dilations: Sequence[int], columns: int | None
) -> Ring | None:
    """The ring for a window, its last dimension along a row; None if it would be too large or has too many taps."""
    rows = taps[-2] if len(taps) > 1 else 1
    lines = (rows - 1) * dilations[-2] + 1 if len(taps) > 1 else 1
    strip = _STRIP if columns is None else max(1, min(columns, _STRIP))
    width = -(-strip // _LANES) * _LANES + (taps[-1] - 1) * dilations[-1] // strides[-1]
    ring = Ring(lines, width, strip, strides[-1])
    return None if lines * ring.line > _LARGEST_RING or rows * taps[-1] > MOST_TAPS else ring


def depthwise(spec: ConvolutionSpec, ring: Ring | None, machine: Machine) -> KernelText:
    """The kernel of a convolution whose input is not widened: images, groups, filters and planes are shared among threads.

    Without a ring it is one that `fits_vectors`.
    """

    def outer(k: KernelBuilder) -> tuple[Sequence[Index], Index]:
        p = ConvolutionOperands.of(k, spec)
        *planes, rows, columns = (slide.output for slide in p.slides)
        lengths = [p.batch, p.groups, p.filters, *planes]
        lanes = k.lanes if isinstance(k, VectorBuilder) else 1
        work = k.mul(len(_taps(*p.slides)), k.mul(k.ceildiv(columns, lanes), lanes))
        for each in (*lengths, rows):
            work = k.mul(work, each)
        return lengths, k.floordiv(work, _GRAIN)

    def inner(k: KernelBuilder, positions: Sequence[Index]) -> None:
        assert ring is not None
        _plane(k, ConvolutionOperands.of(k, spec), ring, positions)

    def on_vectors(f: VectorBuilder, positions: Sequence[Index]) -> None:
        p = ConvolutionOperands.of(f, spec)
        write_plane(f, p, _taps(*p.slides), positions)

    views = (spec.x, spec.w, spec.y)
    if fits_vectors(spec, machine):
        return shared_loops(
            lambda: VectorBuilder(machine, summed_in(spec.y.element), views, spec.noalias), outer, on_vectors
        )
    return shared_loops(lambda: KernelBuilder(views, spec.noalias), outer, inner)


def _plane(k: KernelBuilder, p: ConvolutionOperands, ring: Ring, positions: Sequence[Index]) -> None:
    """Writes the loops over strips and rows of the outputs of an image, a group and a filter."""
    lines = k.stack(sum_kind(p), ring.lines * ring.line)
    sums = k.stack(sum_kind(p), ring.sums)
    rows, columns = p.slides
    here = p.place(k, *positions)
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


def _taps(*slides: Slide) -> list[tuple[int, ...]]:
    windows = [slide.window for slide in slides if isinstance(slide.window, int)]
    assert len(windows) == len(slides)
    return [*product(*map(range, windows))]


def _read_line(
    k: KernelBuilder, p: ConvolutionOperands, ring: Ring, lines: Operand, x: Index, line: Index, first: Index
) -> None:
    """Puts a row of the padded input, `line` counted from the padding's start, where the ring keeps it."""
    rows, columns = p.slides
    slot = k.mul(k.mod(line, ring.lines), ring.line)
    row = k.sub(line, rows.pad_low)
    inside = k.both(k.at_least(row, 0), k.at_least(k.sub(rows.input, 1), row))
    begin = k.sub(k.mul(first, columns.stride), columns.pad_low)
    run = reach(k, begin, 1, 1, columns.input, 0, ring.line)
    source = k.add(x, k.mul(row, rows.input_stride), k.mul(begin, columns.input_stride))

    def part(phase: int, begin: Index, start: Index, stop: Index, *, zeros: bool) -> None:
        """Elements from `start` up to `stop` of a phase, which begins at `begin`."""
        if start == stop:
            return
        with k.loop(start, stop) as i:
            value = neutral(k, lines.element)
            if not zeros:
                column = k.add(k.mul(i, ring.phases), phase)
                value = k.load(p.x, k.add(source, k.mul(column, columns.input_stride)))
                value = widen(k, value, p.x.element, lines.element)
            k.store(value, lines, k.add(begin, i))

    def copy() -> None:
        for phase in range(ring.phases):
            begin = k.add(slot, phase * ring.width)
            start, stop = (k.ceildiv(k.sub(bound, phase), ring.phases) for bound in (run.start, run.stop))
            part(phase, begin, 0, start, zeros=True)
            part(phase, begin, start, stop, zeros=False)
            part(phase, begin, stop, ring.width, zeros=True)

    k.branch(inside, copy, lambda: part(0, slot, 0, ring.line, zeros=True))


def _outputs(
    k: KernelBuilder,
    p: ConvolutionOperands,
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
        row: k.mul(k.mod(k.add(newest, row * rows.dilation), ring.lines), ring.line)
        for row in sorted({row for row, _ in taps})
    }
    groups = _register_groups(taps, weights)
    whole = isinstance(count, int) and count % _LANES == 0  # then outputs are stored where they are computed
    computed = k.mul(k.ceildiv(count, _LANES), _LANES)
    begun = p.accumulate and not whole
    if begun:
        with k.loop(0, count) as i:
            k.store(start_of_sum(k, p, k.add(y, k.mul(i, columns.output_stride))), sums, i)
    for group in groups:
        with k.loop(0, computed) as i:
            offset = k.add(y, k.mul(i, columns.output_stride))
            total = k.load(sums, i) if begun or group is not groups[0] else start_of_sum(k, p, offset)
            for (row, tap), weight in group:
                column, phase = divmod(tap * columns.dilation, ring.phases)
                value = k.load(lines, k.add(slots[row], i, phase * ring.width + column))
                total = combine(k, total, multiply(k, value, weight, kind), kind)
            if whole and group is groups[-1]:
                k.store(narrow(k, total, kind, p.y.element), p.y, offset)
            else:
                k.store(total, sums, i)
    if not whole:
        with k.loop(0, count) as i:
            value = narrow(k, k.load(sums, i), kind, p.y.element)
            k.store(value, p.y, k.add(y, k.mul(i, columns.output_stride)))


def _register_groups(
    taps: Sequence[tuple[int, ...]], weights: Sequence[str]
) -> list[list[tuple[tuple[int, ...], str]]]:
    """Taps with their weights, in groups few enough for all weights of one to stay in registers."""
    pairs = list(zip(taps, weights, strict=True))
    count = -(-len(pairs) // _REGISTERS)
    size = -(-len(pairs) // count)
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]
