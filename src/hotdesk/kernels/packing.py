"""Packing: a panel of a matrix copied so that a micro-kernel reads it in order.

    panel[p, j] = b[p, j]     for p < k, j < width

What lies together is copied as vectors, what lies together the other way is transposed in registers, square by square, and
anything else is copied element by element. A panel of 16-bit floats becomes one of f32: two steps of p are transposed as one, and
the same elements of the next panel are asked for. What a panel has beyond its columns is never stored, and may be anything.

A panel of pairs has two steps of p in each element, of which the second is 0 behind the last step:

    panel[p / 2, j] = b[p, j], b[p + 1, j]     for even p < k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Index, Operand
from hotdesk.kernels.vectors import VectorBuilder


def pack_name(element: str) -> str:
    return f"hotdesk_pack_{element}"


PACK_ARGUMENTS = ("k", "columns", "b", "b_at", "b_row", "b_column", "panel", "panel_at")

PACK_SHORT_ARGUMENTS = (*PACK_ARGUMENTS, "panel_row")
"""The same, and how long a row of the panel is: whole vectors of the columns, or more. Up to a row may be written behind it."""


def pack_function(machine: Machine, element: str, vectors: int, source: str = "") -> str:
    """The function that packs a panel of `vectors` vectors a row, of which at least one column is there: `PACK_SHORT_ARGUMENTS`.

    `source` is the element type of b where it is another, one of 16 bits; rows of the panel are whole then: `PACK_ARGUMENTS`.
    """
    f = VectorBuilder(machine, element)
    k, columns = f.number("k"), f.number("columns")
    b, b_at, b_row, b_column = f.pointer("b", source), f.number("b_at"), f.number("b_row"), f.number("b_column")
    panel, panel_at = f.pointer("panel"), f.number("panel_at")
    width = vectors * f.lanes
    step = width if source else f.number("panel_row")
    full = f.equal(columns, width)

    def by_rows(load: Sequence[str] | None) -> None:
        with f.loop(0, k) as p:
            begin, target = f.add(b_at, f.mul(p, b_row)), f.add(panel_at, f.mul(p, step))
            for j in range(vectors):
                at = f.add(begin, j * f.lanes)
                value = f.load_wide(b, at) if load is None else f.load_masked_wide(b, at, load[j])
                f.store_vector(value, panel, f.add(target, j * f.lanes))

    def some_rows() -> None:
        by_rows([f.first_lanes(f.sub(columns, j * f.lanes)) for j in range(vectors)])

    def squares() -> None:
        """Columns that are not there are the last one again."""
        last = f.sub(columns, 1)
        in_pairs = f.sub(k, f.mod(k, 2 * f.lanes)) if source else 0
        whole = f.sub(k, f.mod(k, f.lanes))

        def ask(at: Index) -> None:
            """For the line that an element of the next panel is in."""
            f.prefetch_far(f.integer(f.place(b, at, 2)))

        def square(p: Index, j: Index, load: Callable[[Operand, Index], str]) -> tuple[list[str], Index]:
            """The rows of a square, and where the first belongs."""
            each = [f.mul(f.minimum(f.add(j, i), last), b_column) for i in range(f.lanes)]
            found = [load(b, f.add(b_at, p, place)) for place in each]
            return f.transpose(found), f.add(panel_at, f.mul(p, step), j)

        across = f.mul(f.ceildiv(columns, f.lanes), f.lanes)
        if source:
            with f.loop(0, in_pairs, 2 * f.lanes) as p, f.loop(0, across, f.lanes) as j:
                pairs, target = square(p, j, f.load_pairs)
                for i in range(f.lanes):
                    ask(f.add(b_at, p, f.mul(f.add(j, i + width), b_column)))
                rows = [row for both in pairs for row in f.widened_pairs(both, source)]
                for i, row in enumerate(rows):
                    f.store_vector(row, panel, f.add(target, f.mul(step, i)))
        with f.loop(in_pairs, whole, f.lanes) as p, f.loop(0, across, f.lanes) as j:
            rows, target = square(p, j, f.load_wide)
            for i, row in enumerate(rows):
                f.store_vector(row, panel, f.add(target, f.mul(step, i)))
        elements(whole)

    def elements(start: Index) -> None:
        with f.loop(start, k) as p:
            begin, target = f.add(b_at, f.mul(p, b_row)), f.add(panel_at, f.mul(p, step))
            with f.loop(0, columns) as j:
                value = f.load_wide(b, f.add(begin, f.mul(j, b_column)), vector=False)
                f.store(value, panel, f.add(target, j))

    partly = some_rows if machine.masks else lambda: elements(0)
    ways = (
        (f.both(full, f.equal(b_column, 1)), lambda: by_rows(None)),
        (f.equal(b_column, 1), partly),
        (f.equal(b_row, 1), squares),
    )
    f.first_of(ways, lambda: elements(0))
    return f.function(pack_name(source or element))


def pack_pairs_name(element: str) -> str:
    return f"hotdesk_pack_pairs_{element}"


def pack_pairs_function(machine: Machine, element: str, vectors: int) -> str:
    """The function that packs a panel of pairs, for machines with masks; it writes whole squares: up to `lanes` - 1 rows more."""
    f = VectorBuilder(machine, "f32")
    k, columns = f.number("k"), f.number("columns")
    b, b_at, b_row, b_column = f.pointer("b", element), f.number("b_at"), f.number("b_row"), f.number("b_column")
    panel, panel_at = f.pointer("panel"), f.number("panel_at")
    width, deep = vectors * f.lanes, 2 * f.lanes
    odd = f.equal(f.mod(k, 2), 1)

    def by_rows() -> None:
        masks = [f.first_lanes(f.sub(columns, j * f.lanes)) for j in range(vectors)]
        none = f.first_lanes(0)

        def row(p: Index, *, whole: bool) -> None:
            begin = f.add(b_at, f.mul(p, b_row))
            for j, mask in enumerate(masks):
                first = f.add(begin, j * f.lanes)
                both = f.load_masked(b, first, mask), f.load_masked(b, f.add(first, b_row), mask if whole else none)
                f.store_vector(
                    f.paired(*both, element), panel, f.add(panel_at, f.mul(f.floordiv(p, 2), width), j * f.lanes)
                )

        with f.loop(0, f.sub(k, f.mod(k, 2)), 2) as p:
            row(p, whole=True)
        f.branch(odd, lambda: row(f.sub(k, 1), whole=False))

    def squares() -> None:
        """Columns that are not there are the last one again."""
        last, whole = f.sub(columns, 1), f.sub(k, f.mod(k, deep))
        across = f.mul(f.ceildiv(columns, f.lanes), f.lanes)

        def square(p: Index, j: Index, load: Callable[[Index], str]) -> None:
            found = [load(f.add(b_at, p, f.mul(f.minimum(f.add(j, i), last), b_column))) for i in range(f.lanes)]
            target = f.add(panel_at, f.mul(f.floordiv(p, 2), width), j)
            for i, pairs in enumerate(f.transpose(found)):
                f.store_vector(pairs, panel, f.add(target, i * width))

        with f.loop(0, whole, deep) as p, f.loop(0, across, f.lanes) as j:
            for i in range(f.lanes):
                f.prefetch_far(f.integer(f.place(b, f.add(b_at, p, f.mul(f.add(j, i + width), b_column)), 2)))
            square(p, j, lambda at: f.load_pairs(b, at))
        with f.loop(whole, k, deep) as p, f.loop(0, across, f.lanes) as j:
            square(p, j, lambda at: f.load_first_pairs(b, at, f.sub(k, p)))

    def elements() -> None:
        with f.loop(0, k) as p, f.loop(0, columns) as j:
            store(f.load(b, f.add(b_at, f.dot((p, j), (b_row, b_column)))), p, j)
        f.branch(odd, clear_last)

    def clear_last() -> None:
        with f.loop(0, columns) as j:
            store(f.constant("0.0", element), k, j)

    def store(value: str, p: Index, j: Index) -> None:
        pair = f.add(panel_at, f.mul(f.floordiv(p, 2), width), j)
        f.store(value, f.as_elements(panel, element), f.add(f.mul(pair, 2), f.mod(p, 2)))

    f.first_of(((f.equal(b_column, 1), by_rows), (f.equal(b_row, 1), squares)), elements)
    return f.function(pack_pairs_name(element))
