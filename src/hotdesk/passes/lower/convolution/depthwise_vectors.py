"""Depthwise convolutions on vectors: a row of outputs at a time, from the image as it lies.

    for each strip of as many columns as a vector has lanes, for each row of outputs
        sum = Σ over the window's rows inside the image, over its columns: x[row, columns under the tap] * w[tap]

Of a volume, the sum goes over the planes of the window inside it, too. Columns left and right of the image are lanes that a mask
leaves out: they count as zeros, and nothing is read for them. With a stride of two, two vectors are read and every other element
of them taken. The last strip ends where the row does, over columns that the one before it has computed: some processors take long
to store some lanes of a vector. 16-bit floats become f32 as they are read, and such sums are rounded as they are stored. Where
the machine adds products of pairs of them (`Machine.sums_pairs`), two columns of the window are read, and multiplied, at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, cast

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.products import has_matrix_products
from hotdesk.passes.lower.window import Slide

_MOST_STRIDE = 2
_MOST_ROWS = 7  # of outputs at a time
_MOST_PRODUCTS = 128  # written for the rows that are computed at a time

_Readers: TypeAlias = "tuple[tuple[int, int], ...]"
"""Outputs, counted from the first row of those that are computed at a time, each with a row of the window."""


def fits_vectors(spec: ConvolutionSpec, machine: Machine) -> bool:
    """Whether rows of the image and of the outputs lie together, and the machine reads some lanes of a vector alone."""
    if not machine.masks or not has_matrix_products(spec.x.element, spec.w.element, spec.y.element):
        return False
    return spec.x.strides[-1] == spec.y.strides[-1] == 1 and spec.strides[-1] <= _MOST_STRIDE


def write_plane(
    f: VectorBuilder, p: ConvolutionOperands, taps: Sequence[tuple[int, ...]], positions: Sequence[Index]
) -> None:
    """Writes the loops over strips and rows of the outputs of an image, a group and a filter, and of a volume's plane.

    `taps` are the rows and columns of the window, behind its planes where it has any.
    """
    *depth, rows, columns = p.slides
    here = p.place(f, *positions[:3])
    y_plane = f.add(here.y, *(f.mul(at, each.output_stride) for at, each in zip(positions[3:], depth, strict=True)))
    planes = [(tap, *_plane_under(f, here.x, depth, tap, positions[3:])) for tap in sorted({tap[:-2] for tap in taps})]
    in_pairs = f.machine.sums_pairs(p.x.element)
    weights = _weights(f, p, here.w, taps, columns, in_pairs=in_pairs)
    last = columns.output - f.lanes if isinstance(columns.output, int) and not p.accumulate else -1
    multiply = f.add_pairs if in_pairs else f.multiply_add
    halves = isinstance(columns.output, int) and f.lanes // 2 <= columns.output < f.lanes
    halves = halves and f.machine.slow_masked_stores

    def strip(first: Index) -> None:
        """The outputs from a column on."""
        runs = _runs(f, columns, first, in_pairs=in_pairs)
        written = "" if last >= 0 else f.first_lanes(f.sub(columns.output, first))

        def outputs(row: Index, count: int) -> None:
            """Writes so many rows of the strip: each row of the image is read once for all of them."""
            places = [f.add(y_plane, f.mul(f.add(row, i), rows.output_stride), first) for i in range(count)]
            totals = [f.load_masked_wide(p.y, at, written) if p.accumulate else f.zeros() for at in places]
            reading = _readers(rows, sorted({tap[-2] for tap in taps}), count)
            for (plane, inside, x), (below, readers) in product(planes, reading.items()):
                line = f.add(f.mul(row, rows.stride), below - rows.pad_low)
                start = f.frozen(f.add(x, f.mul(line, rows.input_stride)))

                def products(
                    readers: _Readers = readers, start: Index = start, plane: tuple[int, ...] = plane
                ) -> list[str]:
                    sums = [totals[output] for output, _ in readers]
                    for run in runs:
                        for column, value in run.read(f, p.x, start):
                            of_rows = [weights[(*plane, number, column)] for _, number in readers]
                            sums = [multiply(value, *each) for each in zip(of_rows, sums, strict=True)]
                    return sums

                old = [totals[output] for output, _ in readers]
                within = f.both(inside, f.within(line, rows.input))
                sums = f.chosen(within, products, lambda old=old: old, [f.vector] * len(old))
                for (output, _), total in zip(readers, sums, strict=True):
                    totals[output] = total
            if p.y.element != f.element:
                totals = f.all_narrowed(totals, p.y.element)
            for at, total in zip(places, totals, strict=True):
                if not written:
                    f.store_vector(total, p.y, at)
                elif halves:
                    f.store_first(total, cast(int, columns.output), p.y, at)
                else:
                    f.store_masked(total, p.y, at, written)

        height = _height(rows.output, len(taps), f.machine)
        whole = f.mul(f.floordiv(rows.output, height), height)
        with f.loop(0, whole, height) as row:
            outputs(row, height)
        if whole != rows.output:
            with f.loop(whole, rows.output) as row:
                outputs(row, 1)

    with f.loop(0, columns.output, f.lanes) as number:
        strip(number if last < 0 else f.minimum(number, last))


def _plane_under(
    f: VectorBuilder, x: Index, depth: Sequence[Slide], tap: Sequence[int], outputs: Sequence[Index]
) -> tuple[Condition, Index]:
    """Whether a plane of outputs reads inside the volume under a tap, and where what it reads begins; an image is at `x`."""
    inside: Condition = True
    for each, number, output in zip(depth, tap, outputs, strict=True):
        plane = f.add(f.mul(output, each.stride), number * each.dilation - each.pad_low)
        inside, x = f.both(inside, f.within(plane, each.input)), f.add(x, f.mul(plane, each.input_stride))
    return inside, x


def _height(rows: Index, taps: int, machine: Machine) -> int:
    """How many rows of outputs are computed at a time: as many as there are registers for, if possible no row left over."""
    most = max(1, min(_MOST_ROWS, machine.registers // 4, _MOST_PRODUCTS // taps))
    even = [count for count in range(2, most + 1) if isinstance(rows, int) and rows and rows % count == 0]
    return max(even, default=min(most, 4))


def _readers(rows: Slide, window: Sequence[int], count: int) -> dict[int, _Readers]:
    """For each row of the image below the first that is read, the outputs that read it, each with its row of the window."""
    found: dict[int, list[tuple[int, int]]] = {}
    for output in range(count):
        for number in window:
            found.setdefault(output * rows.stride + number * rows.dilation, []).append((output, number))
    return {below: tuple(found[below]) for below in sorted(found)}


def _columns_read(columns: Slide, lanes: int, *, in_pairs: bool) -> list[tuple[int, list[int]]]:
    """Columns of the window that what is read at once serves, and how far behind the first pixel's first column that begins."""
    window = range(columns.window) if isinstance(columns.window, int) else ()
    found: list[tuple[int, list[int]]] = []
    for column in window:
        place = column * columns.dilation
        begin, many = (place, 2) if in_pairs else (place - place % columns.stride, columns.stride)
        reach = lanes if in_pairs and columns.stride == 1 else columns.stride - 1
        if found and len(found[-1][1]) < many and place - found[-1][0] <= reach:
            found[-1][1].append(column)
        else:
            found.append((begin, [column]))
    return found


def _weights(
    f: VectorBuilder,
    p: ConvolutionOperands,
    w: Index,
    taps: Sequence[tuple[int, ...]],
    columns: Slide,
    *,
    in_pairs: bool,
) -> dict[tuple[int, ...], str]:
    """The weights that multiply what is read, each in all lanes: by tap, or, `in_pairs`, two by the first's."""
    places = {tap: f.add(w, f.dot(tap, p.tap_strides)) for tap in taps}
    if not in_pairs:
        return {tap: f.broadcast(f.load_wide(p.w, place, vector=False)) for tap, place in places.items()}
    found: dict[tuple[int, ...], str] = {}
    for line in sorted({tap[:-1] for tap in taps}):
        for _, (first, *second) in _columns_read(columns, f.lanes, in_pairs=True):
            other = places[(*line, second[0])] if second else None
            found[(*line, first)] = f.broadcast_pair(p.w, places[(*line, first)], other)
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    """Elements of a row of the image: for each vector where it begins, and the mask of the lanes that are inside.

    `columns` are those of the window that read them, each with the number of the first element that it reads; with a stride of 2
    every other one follows. `in_pairs` the vector has 16-bit floats in twice as many lanes, of which two columns read some
    together; one alone, with a stride of 1, has them in the lanes.
    """

    vectors: tuple[tuple[Index, str], ...]
    columns: tuple[tuple[int, int], ...]
    stride: int
    in_pairs: bool

    def read(self, f: VectorBuilder, x: Operand, start: Index) -> list[tuple[int, str]]:
        """What each of the columns reads of the row that begins at `start`, or, `in_pairs`, the first of them with the other."""
        places = [(f.add(start, each), mask) for each, mask in self.vectors]
        if self.in_pairs:
            ((place, mask),), ((column, begin), *other) = places, self.columns
            if not other and self.stride == 1:
                return [(column, f.load_alone(x, place, mask))]
            steps = range(0, f.lanes * self.stride, self.stride)
            pairs = [(begin + step, other[0][1] + step if other else None) for step in steps]
            return [(column, f.pairs_of(f.load_line(x, place, mask), pairs))]
        vectors = [f.load_masked_wide(x, place, mask) for place, mask in places]
        if self.stride == 1:
            return [(column, vectors[0]) for column, _ in self.columns]
        return [(column, f.every_other(*vectors, start=begin)) for column, begin in self.columns]


def _runs(f: VectorBuilder, columns: Slide, first: Index, *, in_pairs: bool) -> list[_Run]:
    """What the strip of outputs from `first` on reads of a row, for the columns of a window."""
    runs: list[_Run] = []
    for offset, reading in _columns_read(columns, f.lanes, in_pairs=in_pairs):
        begin = f.add(f.mul(first, columns.stride), offset - columns.pad_low)
        lanes = 2 * f.lanes if in_pairs and (columns.stride > 1 or len(reading) > 1) else f.lanes
        starts = [begin] if in_pairs else [f.add(begin, number * f.lanes) for number in range(columns.stride)]
        masks = [f.lanes_between(f.sub(0, each), f.sub(columns.input, each), lanes) for each in starts]
        vectors = tuple(zip(starts, masks, strict=True))
        places = tuple((column, column * columns.dilation - offset) for column in reading)
        runs.append(_Run(vectors, places, columns.stride, in_pairs))
    return runs
