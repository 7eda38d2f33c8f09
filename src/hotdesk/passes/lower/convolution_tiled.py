"""Convolutions as matrix products with a tile of the input unfolded into workspace.

For a stretch of output positions and a number of channels, the tile has one row for each channel and tap and one column
for each position; the filters times the tile is that stretch of every output channel. The tile stays in the cache, so
its size is bounded whatever the problem's; where all channels do not fit, the products of several tiles add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand
from hotdesk.passes.lower.convolution_problem import Problem
from hotdesk.passes.lower.products import Matrix, Sizes, write_product
from hotdesk.passes.lower.scalar import neutral
from hotdesk.passes.lower.window import Reach

WORKSPACE_LIMIT = 256 * 1024  # bytes
_LANES = 16  # tiles are a multiple of this wide
_CALL_COST = 4096  # moved elements that cost as much time as a call and the loops around it
_UNROLLED_TAPS = 8
_GUESSED_POSITIONS = 1024


@dataclass(frozen=True, slots=True)
class Tile:
    """How a convolution is cut: channels at a time, the tile's width, and rows of outputs at a time.

    `rows` is None where tiles end anywhere in a row of outputs.
    """

    channels: int
    width: int
    rows: int | None


def choose_tile(
    filters: int, channels: int, taps: int, output: tuple[int | None, int | None], element_bytes: int
) -> Tile | None:
    """The cheapest tile within the limit, by the elements of filters and outputs it moves; None if none is.

    `output` is the number of rows and of columns of outputs.
    """
    rows, columns = output
    positions = rows * columns if rows is not None and columns is not None else _GUESSED_POSITIONS
    capacity = WORKSPACE_LIMIT // element_bytes
    best: tuple[float, Tile] | None = None
    for width, whole_rows, covered in _widths(rows, columns, capacity // taps):
        chunk = min(channels, capacity // (taps * width))
        chunk = -(-channels // -(-channels // chunk))  # chunks of much the same size
        tiles, chunks = -(-positions // covered), -(-channels // chunk)
        moved = filters * channels * taps * tiles + 2 * filters * positions * chunks + _CALL_COST * tiles * chunks
        cost = moved * (1.0 if whole_rows is not None else 1.1)
        if best is None or cost < best[0]:
            best = (cost, Tile(chunk, width, whole_rows))
    return best[1] if best is not None else None


def _widths(rows: int | None, columns: int | None, widest: int) -> Iterator[tuple[int, int | None, int]]:
    """Widths up to `widest`: the width, the rows of outputs it holds whole, and the positions it covers."""
    if rows and columns:
        for count in sorted({-(-rows // tiles) for tiles in range(1, rows + 1)}, reverse=True):
            width = _round_up(count * columns)
            if width <= widest:
                yield width, count, count * columns
    longest = _round_up(rows * columns) if rows and columns else _GUESSED_POSITIONS
    for width in range(min(longest, widest // _LANES * _LANES), 0, -_LANES):
        yield width, None, width


def _round_up(width: int) -> int:
    return -(-width // _LANES) * _LANES


def legal(k: KernelBuilder, p: Problem) -> Condition:
    """What must hold at run time: planes of y that lie together."""
    return p.y_plane(k)[0]


def convolve_tiled(k: KernelBuilder, p: Problem, tile: Tile, workspace: Operand) -> None:
    """Writes the loops over images, groups, tiles and channels, where `legal` holds."""
    rows, columns = p.slides
    assert isinstance(p.channels, int)
    assert isinstance(rows.window, int)
    assert isinstance(columns.window, int)
    taps = rows.window * columns.window
    positions = k.mul(rows.output, columns.output)
    covered = tile.rows * columns.output if tile.rows is not None and isinstance(columns.output, int) else tile.width
    with k.loops([p.batch, p.groups]) as (image, group), k.loop(0, positions, covered) as start:
        here = p.place(k, image, group)
        count = covered if _divides(covered, positions) else k.minimum(covered, k.sub(positions, start))
        stretch = _Stretch.of(k, p, tile, start, count)
        with k.loop(0, p.channels, tile.channels) as channel:
            chunk = tile.channels
            if not _divides(chunk, p.channels):
                chunk = k.minimum(chunk, k.sub(p.channels, channel))
            with k.loop(0, chunk) as c:
                x_channel = k.add(here.x, k.mul(k.add(channel, c), p.x.strides[1]))
                _unfold(k, p, x_channel, workspace, k.mul(c, taps * tile.width), tile.width, stretch)
            depth = k.mul(chunk, taps)
            left = Matrix(p.w, k.add(here.w, k.mul(channel, taps)), p.w.strides[0], 1)
            right = Matrix(workspace, 0, tile.width, 1)
            result = Matrix(p.y, k.add(here.y, start), p.y.strides[1], 1)
            add = k.either(p.accumulate, k.at_least(channel, 1))  # all but the first channels
            write_product(k, Sizes(p.filters, count, depth), left, right, result, add=add)


def _divides(part: Index, whole: Index) -> bool:
    return isinstance(part, int) and isinstance(whole, int) and whole % part == 0


# Unfolding


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Output positions from `start` on, `count` of them, which touch output rows `top` to `bottom`."""

    start: Index
    count: Index
    top: Index
    bottom: Index
    whole_rows: bool

    @classmethod
    def of(cls, k: KernelBuilder, p: Problem, tile: Tile, start: Index, count: Index) -> _Stretch:
        width = p.slides[1].output
        stop = k.ceildiv(k.add(start, count), width)
        return cls(start, count, k.floordiv(start, width), stop, tile.rows is not None)

    def column(self, k: KernelBuilder, p: Problem, row: Index) -> Index:
        """The tile's column where an output row begins; negative where it begins before the tile."""
        return k.sub(k.mul(row, p.slides[1].output), self.start)

    def clamped(self, k: KernelBuilder, column: Index) -> Index:
        return column if self.whole_rows else k.minimum(k.maximum(column, 0), self.count)

    def within(self, k: KernelBuilder, p: Problem, column: Index) -> tuple[Index, Index]:
        """The outputs of the row beginning at `column` that are in the tile."""
        width = p.slides[1].output
        if self.whole_rows:
            return 0, width
        return k.maximum(0, k.sub(0, column)), k.minimum(width, k.sub(self.count, column))


def _unfold(k: KernelBuilder, p: Problem, x: Index, tile: Operand, slot: Index, width: int, stretch: _Stretch) -> None:
    """The tile's rows of one channel: `x` is the channel's offset, `slot` where its first row goes."""
    rows, columns = p.slides
    assert isinstance(columns.window, int)
    with k.loop(0, rows.window) as row_tap:
        lines = rows.outputs(k, row_tap, stretch.top, stretch.bottom)
        slot_of_row = k.add(slot, k.mul(row_tap, columns.window * width))
        for taps in _tap_loops(columns.window):
            with k.loop(*taps) as tap:
                _unfold_tap(k, p, x, tile, k.add(slot_of_row, k.mul(tap, width)), tap, lines, stretch)


def _tap_loops(window: int) -> Sequence[tuple[int, int]]:
    """One range a tap, so that its bounds are known, or one range for all where there are many."""
    return [(tap, tap + 1) for tap in range(window)] if window <= _UNROLLED_TAPS else [(0, window)]


def _unfold_tap(
    k: KernelBuilder, p: Problem, x: Index, tile: Operand, slot: Index, tap: Index, lines: Reach, stretch: _Stretch
) -> None:
    """One row of the tile: `lines` are the output rows that read inside the input."""
    rows, columns = p.slides
    spread = columns.widening > 1 or rows.widening > 1
    if spread:
        _zero(k, tile, slot, 0, stretch.count)
    else:
        _zero(k, tile, slot, 0, stretch.clamped(k, stretch.column(k, p, lines.start)))
        _zero(k, tile, slot, stretch.clamped(k, stretch.column(k, p, lines.stop)), stretch.count)
    with k.loop(0, lines.count(k)) as i:
        column = stretch.column(k, p, k.add(lines.start, k.mul(i, lines.step)))
        line = k.add(x, k.mul(k.add(lines.input, k.mul(i, lines.input_step)), rows.input_stride))
        start, stop = stretch.within(k, p, column)
        run = columns.outputs(k, tap, start, stop)
        slot_of_line = k.add(slot, column)
        if not spread:
            _zero(k, tile, slot_of_line, start, run.start)
            _zero(k, tile, slot_of_line, run.stop, stop)
        source = k.add(line, k.mul(run.input, columns.input_stride))
        target = k.add(slot_of_line, run.start)
        with k.loop(0, run.count(k)) as j:
            value = k.load(p.x, k.add(source, k.mul(j, k.mul(run.input_step, columns.input_stride))))
            k.store(value, tile, k.add(target, k.mul(j, run.step)))


def _zero(k: KernelBuilder, tile: Operand, slot: Index, start: Index, stop: Index) -> None:
    if start == stop:
        return
    with k.loop(start, stop) as i:
        k.store(neutral(k, tile.element), tile, k.add(slot, i))
