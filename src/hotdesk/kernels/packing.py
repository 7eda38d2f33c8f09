"""Packing: a panel of a matrix copied so that a micro-kernel reads it in order.

    panel[p, j] = b[p, j]     for p < k, j < width; zeros from `columns` on

Rows that lie together are copied, columns that lie together transposed in registers, square by square, and anything else
copied element by element.
"""

from __future__ import annotations

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Index, Operand
from hotdesk.kernels.vectors import VectorBuilder


def pack_name(element: str) -> str:
    return f"hotdesk_pack_{element}"


PACK_ARGUMENTS = ("k", "columns", "b", "b_at", "b_row", "b_column", "panel")


def pack_function(machine: Machine, element: str, vectors: int) -> str:
    """The function that packs a panel of `vectors` vectors a row."""
    f = VectorBuilder(machine, element)
    k, columns = f.number("k"), f.number("columns")
    b, b_at, b_row, b_column = f.pointer("b"), f.number("b_at"), f.number("b_row"), f.number("b_column")
    panel = f.pointer("panel")
    width = vectors * f.lanes
    full = f.equal(columns, width)

    def copied() -> None:
        with f.loop(0, k) as p:
            source, target = f.add(b_at, f.mul(p, b_row)), f.mul(p, width)
            f.prefetch(b, f.add(source, width), write=False)  # the next panel's
            for j in range(vectors):
                f.store_vector(f.load_vector(b, f.add(source, j * f.lanes)), panel, f.add(target, j * f.lanes))

    def transposed() -> None:
        whole = f.sub(k, f.mod(k, f.lanes))
        with f.loop(0, whole, f.lanes) as p, f.loop(0, width, f.lanes) as j:
            first = f.add(b_at, p, f.mul(j, b_column))
            rows = [f.load_vector(b, f.add(first, f.mul(i, b_column))) for i in range(f.lanes)]
            target = f.add(f.mul(p, width), j)
            for i, row in enumerate(f.transpose(rows)):
                f.store_vector(row, panel, f.add(target, i * width))
        gathered(whole)

    def gathered(start: Index) -> None:
        zero = f.constant("0.0", element)
        with f.loop(start, k) as p:
            source, target = f.add(b_at, f.mul(p, b_row)), f.mul(p, width)
            with f.loop(0, columns) as j:
                f.store(f.load(b, f.add(source, f.mul(j, b_column))), panel, f.add(target, j))
            with f.loop(columns, width) as j:
                f.store(zero, panel, f.add(target, j))

    f.branch(
        f.both(full, f.equal(b_column, 1)),
        copied,
        lambda: f.branch(f.both(full, f.equal(b_row, 1)), transposed, lambda: gathered(0)),
    )
    return f.function(pack_name(element))


def copy_rows(f: VectorBuilder, rows: Index, k: Index, a: tuple[Operand, Index, Index, Index], to: Operand) -> None:
    """Writes the loops that copy `rows` by `k` elements of a so that those of a row lie together, rows `k` apart.

    `a` is its memory, offset and strides; its rows are taken to lie closer together than the elements of a row.
    """
    memory, at, row, column = a
    with f.loop(0, k) as p:
        source = f.add(at, f.mul(p, column))
        with f.loop(0, rows) as i:
            f.store(f.load(memory, f.add(source, f.mul(i, row))), to, f.add(f.mul(i, k), p))
