"""Depthwise convolutions on vectors: a row of outputs at a time, from the image as it lies.

    for each strip of as many columns as a vector has lanes, for each row of outputs
        sum = Σ over the window's rows inside the image, over its columns: x[row, columns under the tap] * w[tap]

Of a volume, the sum goes over the planes of the window inside it, too. Columns left and right of the image are lanes that a mask
leaves out: they count as zeros, and nothing is read for them. With a stride of two, two vectors are read and every other element
of them taken. The last strip ends where the row does, over columns that the one before it has computed: some processors take long
to store some lanes of a vector. 16-bit floats become f32 as they are read, and such sums are rounded as they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, cast

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Condition, Index
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
    places = [f.add(here.w, f.dot(tap, p.tap_strides)) for tap in taps]
    weights = {tap: f.broadcast(f.load_wide(p.w, place, vector=False)) for tap, place in zip(taps, places, strict=True)}
    last = columns.output - f.lanes if isinstance(columns.output, int) and not p.accumulate else -1
    halves = isinstance(columns.output, int) and f.lanes // 2 <= columns.output < f.lanes
    halves = halves and f.machine.slow_masked_stores

    def strip(first: Index) -> None:
        """The outputs from a column on."""
        runs = _runs(f, columns, first, sorted({tap[-1] for tap in taps}))
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
                        places = [(f.add(start, each), mask) for each, mask in run.vectors]
                        vectors = [f.load_masked_wide(p.x, place, mask) for place, mask in places]
                        for column, parity in run.columns:
                            value = f.every_other(*vectors, start=parity) if len(vectors) > 1 else vectors[0]
                            of_rows = [weights[(*plane, number, column)] for _, number in readers]
                            sums = [f.multiply_add(value, *each) for each in zip(of_rows, sums, strict=True)]
                    return sums

                old = [totals[output] for output, _ in readers]
                within = f.both(inside, f.within(line, rows.input))
                sums = f.chosen(within, products, lambda old=old: old, [f.vector] * len(old))
                for (output, _), total in zip(readers, sums, strict=True):
                    totals[output] = total
            for at, total in zip(places, totals, strict=True):
                total = total if p.y.element == f.element else f.narrowed(total, p.y.element)
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


@dataclass(frozen=True, slots=True)
class _Run:
    """Elements of a row of the image: for each vector where it begins, and the mask of the lanes that are inside.

    `columns` are those of the window that read them; with a stride of 2, from which of the first two elements on.
    """

    vectors: tuple[tuple[Index, str], ...]
    columns: tuple[tuple[int, int], ...]


def _runs(f: VectorBuilder, columns: Slide, first: Index, window: Sequence[int]) -> list[_Run]:
    """What the strip of outputs from `first` on reads of a row, for the columns of a window."""
    found: dict[int, list[tuple[int, int]]] = {}
    for column in window:
        parity = column * columns.dilation % columns.stride
        found.setdefault(column * columns.dilation - parity, []).append((column, parity))
    runs: list[_Run] = []
    for offset, reading in found.items():
        begin = f.add(f.mul(first, columns.stride), offset - columns.pad_low)
        starts = [f.add(begin, number * f.lanes) for number in range(columns.stride)]
        masks = [f.lanes_between(f.sub(0, each), f.sub(columns.input, each)) for each in starts]
        vectors = list(zip(starts, masks, strict=True))
        runs.append(_Run(tuple(vectors), tuple(reading)))
    return runs
