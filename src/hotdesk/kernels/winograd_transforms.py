"""The three transforms of Winograd's convolution, by vectors: of filters, of a panel of tiles of the image, of sums to outputs.

    filter    lanes are channels, whose taps lie together and are put apart by shuffles
    before    lanes are tiles. Rows of the image are transformed first, as they lie, then split by column modulo `OUTPUTS` into
              rows of tiles on the stack, where the columns of a tile are neighbours of those of the next
    after     lanes are tiles; sums are put in order, added to those of other channels, then copied to where they belong

Matrices of the places of a tile lie `u_step`, `v_step`, `m_step` elements apart: filters by channels, channels by tiles, filters
by tiles. Filters and images of 16-bit floats are transformed in f32; outputs of 16 bits are rounded as they are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.kernels.winograd_matrices import (
    OUTPUTS,
    SIZE,
    TAPS,
    Matrix,
    after_matrix,
    before_matrix,
    filter_matrix,
)

FILTER_ARGUMENTS = ("filters", "channels", "w", "w_at", "w_f", "u", "u_step")

BEFORE_ARGUMENTS = (
    *("channels", "x", "x_at", "x_c", "x_h", "height", "length", "top", "left"),
    *("pitch", "tile", "count", "v", "v_at", "v_step"),
)

AFTER_ARGUMENTS = (
    *("filters", "m", "m_at", "m_step", "pitch", "tile", "count"),
    *("s", "s_at", "s_step", "begun", "done"),
    *("y", "y_at", "y_c", "y_h", "rows", "columns", "add"),
)
"""Sums in order are added to what is in `s` where some are `begun`, for each filter `s_step` elements apart, and put in y when
they are `done`."""

PANEL_BYTES = 128
"""Of a row of the widest panel of tiles: scratch memory does not depend on which machine a program is compiled for."""


def tiles_in_panel(machine: Machine, element: str) -> int:
    """How many tiles are computed together."""
    return min(Tile.of(machine).columns(machine, element), PANEL_BYTES // machine.bytes_of(element))


def filter_name(image: str) -> str:
    return f"hotdesk_winograd_filters_{image}"


def before_name(image: str) -> str:
    return f"hotdesk_winograd_before_{image}"


def after_name(image: str) -> str:
    return f"hotdesk_winograd_after_{image}"


def transform_functions(machine: Machine, image: str, element: str, result: str) -> str:
    """The text of the three functions, for images and filters of a type, sums of `element` and a result of a type."""
    tiles = tiles_in_panel(machine, element)
    parts = [_filters(machine, image, element), _before(machine, image, element, tiles)]
    return "\n".join([*parts, _after(machine, image, (element, result), tiles)])


def _filters(machine: Machine, image: str, element: str) -> str:
    f = VectorBuilder(machine, element)
    filters, channels = f.number("filters"), f.number("channels")
    w, w_at, w_f = f.pointer("w", image), f.number("w_at"), f.number("w_f")
    u, u_step = f.pointer("u"), f.number("u_step")
    taps = TAPS * TAPS
    with f.loop(0, filters) as filter_, f.loop(0, channels, f.lanes) as channel:
        left = f.sub(channels, channel)
        weights = f.mul(left, taps)
        first = f.add(w_at, f.mul(filter_, w_f), f.mul(channel, taps))
        lines = [
            f.load_masked_wide(w, f.add(first, i * f.lanes), f.first_lanes(f.sub(weights, i * f.lanes)))
            for i in range(taps)
        ]
        window = _windows(f, lines)
        target = f.add(f.mul(filter_, channels), channel)
        values = [value for row in _both_ways(f, filter_matrix(), window) for value in row]
        f.store_some(values, u, [f.add(target, f.mul(u_step, i)) for i in range(len(values))], left)
    return f.function(filter_name(image))


def _before(machine: Machine, image: str, element: str, tiles: int) -> str:
    f = VectorBuilder(machine, element)
    channels, x, x_at = f.number("channels"), f.pointer("x", image), f.number("x_at")
    x_c, x_h, height, length = (f.number(name) for name in ("x_c", "x_h", "height", "length"))
    top, left, pitch, tile, count = (f.number(name) for name in ("top", "left", "pitch", "tile", "count"))
    v, v_at, v_step = f.pointer("v"), f.number("v_at"), f.number("v_step")
    lanes = f.lanes
    # Tiles of a row on the stack: one more than a panel, and the rest of a vector from the last on.
    wide = tiles + 2 * lanes
    rows = f.scratch(SIZE * OUTPUTS * wide)
    end = f.add(tile, count, 1)
    lines = f.floordiv(tile, pitch), f.ceildiv(end, pitch)

    def strip(plane: Index, line: Index, tiles_of: tuple[Index, Index], place: Index) -> None:
        """Up to `lanes` tiles of a line: rows transformed and split, to a place of the rows on the stack."""
        first, stop = tiles_of
        above, before = f.add(f.mul(line, OUTPUTS), top), f.add(f.mul(first, OUTPUTS), left)
        reads = [f.add(above, i) for i in range(SIZE)]
        starts = [f.add(plane, f.mul(read, x_h), before) for read in reads]

        def transformed(vectors: int, *, masked: bool) -> None:
            loaded: list[list[str]] = []
            for number in range(vectors):
                ahead = number * lanes
                if masked:
                    column = f.add(before, ahead)
                    inside = f.lanes_between(f.sub(0, column), f.sub(length, column))
                    values = [
                        f.load_masked_wide(x, f.add(start, ahead), f.all_or_none(inside, f.within(read, height)))
                        for start, read in zip(starts, reads, strict=True)
                    ]
                else:
                    values = [f.load_wide(x, f.add(start, ahead)) for start in starts]
                loaded.append(_times(f, before_matrix(), values))
            loaded += [[f.zeros()] * SIZE] * (OUTPUTS - vectors)
            for i in range(SIZE):
                for phase, value in enumerate(_split(f, [each[i] for each in loaded])):
                    f.store_vector(value, rows, f.add(place, (i * OUTPUTS + phase) * wide))

        whole = f.both(f.at_least(before, 0), f.at_least(length, f.add(before, OUTPUTS * lanes)))
        whole = f.both(whole, f.both(f.at_least(above, 0), f.at_least(height, f.add(above, SIZE))))
        pixels = f.mul(f.sub(stop, first), OUTPUTS)
        ways = (
            (f.at_least(lanes, pixels), lambda: transformed(1, masked=True)),
            (f.at_least(OUTPUTS // 2 * lanes, pixels), lambda: transformed(OUTPUTS // 2, masked=True)),
            (whole, lambda: transformed(OUTPUTS, masked=False)),
        )
        f.first_of(ways, lambda: transformed(OUTPUTS, masked=True))

    with f.loop(count, wide - lanes + 1, lanes) as place:  # zeros where no tile is read: numbers, and no slow ones
        for i in range(SIZE * OUTPUTS):
            f.store_vector(f.zeros(), rows, f.add(place, i * wide))
    with f.loop(0, channels) as channel:
        plane = f.add(x_at, f.mul(channel, x_c))
        with f.loop(*lines) as line:
            behind = f.sub(tile, f.mul(line, pitch))
            start, stop = f.maximum(0, behind), f.minimum(pitch, f.add(behind, count, 1))
            with f.loop(start, stop, lanes) as first:
                strip(plane, line, (first, stop), f.sub(first, behind))
        target = f.add(v_at, f.mul(channel, tiles))
        with f.loop(0, tiles, lanes) as place:
            for i in range(SIZE):
                values = [
                    f.load_vector(rows, f.add(place, (i * OUTPUTS + j % OUTPUTS) * wide + j // OUTPUTS))
                    for j in range(SIZE)
                ]
                for j, value in enumerate(_times(f, before_matrix(), values)):
                    f.store_vector(value, v, f.add(target, place, f.mul(v_step, i * SIZE + j)))
    return f.function(before_name(image))


def _after(machine: Machine, image: str, types: tuple[str, str], tiles: int) -> str:
    element, result = types
    f = VectorBuilder(machine, element)
    filters, m, m_at, m_step = f.number("filters"), f.pointer("m"), f.number("m_at"), f.number("m_step")
    pitch, tile, count = f.number("pitch"), f.number("tile"), f.number("count")
    s, s_at, s_step, begun, done = f.pointer("s"), f.number("s_at"), f.number("s_step"), f.flag("begun"), f.flag("done")
    y, y_at, y_c, y_h = f.pointer("y", result), f.number("y_at"), f.number("y_c"), f.number("y_h")
    rows, columns, add = f.number("rows"), f.number("columns"), f.flag("add")
    lanes, wide = f.lanes, OUTPUTS * tiles
    end = f.add(tile, count)
    lines = f.floordiv(tile, pitch), f.ceildiv(end, pitch)

    def copied(source: Index, target: Index, size: Index) -> None:
        def each(*, adds: bool) -> None:
            with f.loop(0, size, lanes) as i:
                value, left = f.load_vector(s, f.add(source, i)), f.sub(size, i)
                if adds:
                    value = f.add_vectors(f.load_masked_wide(y, f.add(target, i), f.first_lanes(left)), value)
                (rounded,) = [value] if result == element else f.all_narrowed([value], result)
                f.store_some([rounded], y, [f.add(target, i)], left)

        f.branch(add, lambda: each(adds=True), lambda: each(adds=False))

    def summed(source: Index, here: Index, *, adds: bool) -> None:
        """The outputs of all tiles for a filter, in order."""
        with f.loop(0, tiles, lanes) as place:
            window = [
                [f.load_vector(m, f.add(source, place, f.mul(m_step, i * SIZE + j))) for j in range(SIZE)]
                for i in range(SIZE)
            ]
            for i, row in enumerate(_both_ways(f, after_matrix(), window)):
                for number, value in enumerate(_joined(f, row)):
                    at = f.add(here, f.mul(place, OUTPUTS), i * wide + number * lanes)
                    total = f.add_vectors(f.load_vector(s, at), value) if adds else value
                    f.store_vector(total, s, at)

    def put(plane: Index, here: Index) -> None:
        with f.loop(*lines) as line:
            behind = f.sub(tile, f.mul(line, pitch))
            start, stop = f.maximum(0, behind), f.minimum(f.sub(pitch, 1), f.add(behind, count))
            row, column = f.mul(line, OUTPUTS), f.mul(start, OUTPUTS)
            size = f.minimum(f.sub(columns, column), f.mul(f.sub(stop, start), OUTPUTS))
            with f.loop(0, f.minimum(OUTPUTS, f.sub(rows, row))) as i:
                target = f.add(plane, f.mul(f.add(row, i), y_h), column)
                copied(f.add(here, f.mul(i, wide), f.mul(f.sub(start, behind), OUTPUTS)), target, size)

    with f.loop(0, filters) as filter_:
        source, here = f.add(m_at, f.mul(filter_, tiles)), f.add(s_at, f.mul(filter_, s_step))
        f.branch(
            begun,
            partial(summed, source, here, adds=True),
            partial(summed, source, here, adds=False),
        )
        f.branch(done, partial(put, f.add(y_at, f.mul(filter_, y_c)), here))
    return f.function(after_name(image))


def _windows(f: VectorBuilder, lines: Sequence[str]) -> list[list[str]]:
    """Of vectors in a row, one for each tap, the elements of each tap: those of a number modulo that of taps."""
    columns = [f.every_third(*lines[i : i + TAPS]) for i in range(0, len(lines), TAPS)]
    by_column = [f.every_third(*(thirds[j] for thirds in columns)) for j in range(TAPS)]
    return [[by_column[j][i] for j in range(TAPS)] for i in range(TAPS)]


def _split(f: VectorBuilder, values: Sequence[str]) -> list[str]:
    """Of vectors in a row, as many as tiles have outputs, the elements of each number modulo that."""
    if len(values) == 1:
        return list(values)
    pairs = list(zip(values[::2], values[1::2], strict=True))
    even = _split(f, [f.every_other(*pair) for pair in pairs])
    odd = _split(f, [f.every_other(*pair, start=1) for pair in pairs])
    return [value for pair in zip(even, odd, strict=True) for value in pair]


def _joined(f: VectorBuilder, values: Sequence[str]) -> list[str]:
    """The reverse of `_split`."""
    if len(values) == 1:
        return list(values)
    even, odd = _joined(f, values[::2]), _joined(f, values[1::2])
    return [value for pair in zip(even, odd, strict=True) for value in f.interleaved(*pair)]


def _both_ways(f: VectorBuilder, matrix: Matrix, window: Sequence[Sequence[str]]) -> list[list[str]]:
    """matrix times window times the transposed matrix."""
    columns = [_times(f, matrix, [row[j] for row in window]) for j in range(len(window[0]))]
    return [_times(f, matrix, [column[i] for column in columns]) for i in range(len(matrix))]


def _times(f: VectorBuilder, matrix: Matrix, values: Sequence[str]) -> list[str]:
    """The matrix times vectors. Two rows that differ in signs alone have what they share computed once."""
    found: dict[int, str] = {}
    for i, row in enumerate(matrix):
        if i in found:
            continue
        twin = next((k for k in range(i + 1, len(matrix)) if k not in found and _are_twins(row, matrix[k])), None)
        if twin is None:
            found[i] = f.weighted(values, row)
            continue
        same = [a == b for a, b in zip(row, matrix[twin], strict=True)]
        shared = f.weighted(values, [a if each else Fraction(0) for a, each in zip(row, same, strict=True)])
        apart = f.weighted(values, [Fraction(0) if each else a for a, each in zip(row, same, strict=True)])
        found[i], found[twin] = f.add_vectors(shared, apart), f.subtract_vectors(shared, apart)
    return [found[i] for i in range(len(matrix))]


def _are_twins(row: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
    """Whether two rows are the same but for signs, of which some differ and some do not."""
    signs = {a == b for a, b in zip(row, other, strict=True) if a}
    return len(signs) == 2 and all(abs(a) == abs(b) for a, b in zip(row, other, strict=True))
