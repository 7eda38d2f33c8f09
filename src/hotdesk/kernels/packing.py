"""Packing: a panel of a matrix copied so that a micro-kernel reads it in order.

    panel[p, j] = b[p, j]     for p < k, j < width

What lies together is copied as vectors, what lies together the other way is transposed in registers, square by square, and
anything else is copied element by element. What a panel has beyond its columns is never stored, and may be anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder


def pack_name(element: str) -> str:
    return f"hotdesk_pack_{element}"


PACK_ARGUMENTS = ("k", "columns", "b", "b_at", "b_row", "b_column", "panel", "panel_at")


def pack_function(machine: Machine, element: str, vectors: int) -> str:
    """The function that packs a panel of `vectors` vectors a row, of which at least one column is there."""
    f = VectorBuilder(machine, element)
    k, columns = f.number("k"), f.number("columns")
    b, b_at, b_row, b_column = f.pointer("b"), f.number("b_at"), f.number("b_row"), f.number("b_column")
    panel, panel_at = f.pointer("panel"), f.number("panel_at")
    width = vectors * f.lanes
    full = f.equal(columns, width)

    def rows(load: Sequence[str] | None) -> None:
        with f.loop(0, k) as p:
            source, target = f.add(b_at, f.mul(p, b_row)), f.add(panel_at, f.mul(p, width))
            for j in range(vectors):
                at = f.add(source, j * f.lanes)
                value = f.load_vector(b, at) if load is None else f.load_masked(b, at, load[j])
                f.store_vector(value, panel, f.add(target, j * f.lanes))

    def some_rows() -> None:
        rows([f.first_lanes(f.sub(columns, j * f.lanes)) for j in range(vectors)])

    def squares() -> None:
        """Columns that are not there are the last one again."""
        last = f.sub(columns, 1)
        whole = f.sub(k, f.mod(k, f.lanes))
        with f.loop(0, whole, f.lanes) as p, f.loop(0, f.mul(f.ceildiv(columns, f.lanes), f.lanes), f.lanes) as j:
            each = [f.mul(f.minimum(f.add(j, i), last), b_column) for i in range(f.lanes)]
            found = [f.load_vector(b, f.add(b_at, p, place)) for place in each]
            target = f.add(panel_at, f.mul(p, width), j)
            for i, row in enumerate(f.transpose(found)):
                f.store_vector(row, panel, f.add(target, i * width))
        elements(whole)

    def elements(start: Index) -> None:
        with f.loop(start, k) as p:
            source, target = f.add(b_at, f.mul(p, b_row)), f.add(panel_at, f.mul(p, width))
            with f.loop(0, columns) as j:
                f.store(f.load(b, f.add(source, f.mul(j, b_column))), panel, f.add(target, j))

    partly = some_rows if machine.masks else lambda: elements(0)
    ways = (
        (f.both(full, f.equal(b_column, 1)), lambda: rows(None)),
        (f.equal(b_column, 1), partly),
        (f.equal(b_row, 1), squares),
    )
    f.first_of(ways, lambda: elements(0))
    return f.function(pack_name(element))
