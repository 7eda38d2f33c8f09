"""Products of matrices on one thread: c (+)= a b for any sizes and strides, all of them numbers known when it is called.

    for a depth of k that lets a panel of b stay in the nearest cache:
      for as many rows of a as stay in the next one:
        for each panel of b, as wide as a tile:  pack it; for each tile of rows: micro-kernel

After Goto and van de Geijn, 2008. A panel is packed just before it is used, on the stack: every element of b comes from memory
once for each block of rows, and threads share no buffer. Where few rows would use it, a panel whose rows lie together is read in
place. Rows are cut into tiles of much the same height, so that none idles on an edge. Which of the two operands has its elements
broadcast, and which lies in the vectors, is decided by what packing, storing and edges would cost: c = a b, or its transpose.

A result of few rows or columns is another matter (`skinny`). Every element of c is summed in an order that depends on k alone, or
on being skinny.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import TILE_ARGUMENTS, Tile, scatter_function, tile_function, tile_name
from hotdesk.kernels.packing import PACK_ARGUMENTS, copy_rows, pack_function, pack_name
from hotdesk.kernels.skinny import (
    DOTS_ARGUMENTS,
    MOST_ROWS,
    ROWS_ARGUMENTS,
    dots_function,
    dots_name,
    rows_function,
    rows_name,
)
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

_FEW_TILES = 3  # rows of tiles that are too few to pack a panel for
_COPIED_ROWS = 96  # rows of a that are copied at a time where their elements do not lie together

# What things cost, in 1/16 of a cycle: for an element of a panel packed by rows, by squares, or one by one; for one of a copied;
# for one of c stored as a vector, in a square that is transposed, or alone.
_BY_ROWS, _BY_SQUARES, _ONE_BY_ONE, _COPIED, _AS_VECTOR, _IN_SQUARES, _ALONE = 2, 6, 24, 16, 2, 6, 24


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix in a function: memory, where its first element is, and its strides in elements."""

    memory: Operand
    at: Index
    row: Index
    column: Index

    @classmethod
    def argument(cls, f: VectorBuilder, name: str) -> Matrix:
        memory = f.pointer(name)
        return cls(memory, f.number(f"{name}_at"), f.number(f"{name}_row"), f.number(f"{name}_column"))

    @property
    def transpose(self) -> Matrix:
        return Matrix(self.memory, self.at, self.column, self.row)

    def moved(self, f: VectorBuilder, row: Index, column: Index) -> Matrix:
        at = f.add(self.at, f.mul(row, self.row), f.mul(column, self.column))
        return Matrix(self.memory, at, self.row, self.column)

    @property
    def arguments(self) -> tuple[Index, ...]:
        return self.memory.pointer, self.at, self.row, self.column


def _matrix_arguments(name: str) -> tuple[str, ...]:
    return name, f"{name}_at", f"{name}_row", f"{name}_column"


PRODUCT_ARGUMENTS = ("m", "n", "k", *_matrix_arguments("a"), *_matrix_arguments("b"), *_matrix_arguments("c"), "add")
"""Arguments of a product: sizes, and of each matrix a pointer, an offset and two strides in elements; whether to add to c."""

SWEEP_ARGUMENTS = ("m", *TILE_ARGUMENTS)


def product_name(element: str) -> str:
    """The function of a product on one thread."""
    return f"hotdesk_alone_{element}"


def call_product(
    f: VectorBuilder, sizes: tuple[Index, Index, Index], a: Matrix, b: Matrix, c: Matrix, add: Condition
) -> None:
    """Writes a call of the product; sizes are m, n and k."""
    values = [*sizes, *a.arguments, *b.arguments, *c.arguments, str(add)]
    _call(f, product_name(f.element), PRODUCT_ARGUMENTS, values)


def product_functions(machine: Machine, element: str) -> str:
    """The text of the function of a product, and of those it calls."""
    tile = Tile.of(machine)
    return "\n".join(
        [
            scatter_function(machine, element),
            *(tile_function(machine, element, rows, vectors) for rows, vectors in tile.parts),
            pack_function(machine, element, tile.vectors),
            rows_function(machine, element),
            *(dots_function(machine, element, rows) for rows in (1, MOST_ROWS)),
            _sweep(machine, element, tile),
            _blocks(machine, element, tile),
            _product(machine, element, tile),
        ]
    )


def depth(machine: Machine, element: str) -> int:
    """Steps of k for which a panel fits the nearest cache: half of one costs more passes over c than it saves of a panel."""
    row = Tile.of(machine).vectors * machine.vector_bytes
    return max(64, machine.l1_bytes // row // 8 * 8)


def block_rows(machine: Machine, element: str) -> int:
    """Rows of a, as deep as a panel, that fit the second cache."""
    element_bytes = machine.vector_bytes // machine.lanes(element)
    rows = Tile.of(machine).rows
    return max(1, machine.l2_bytes // (depth(machine, element) * element_bytes) // rows) * rows


def _call(f: VectorBuilder, symbol: str, names: Sequence[str], values: Sequence[Index]) -> None:
    f.call_local(symbol, list(zip(values, kinds(names, f.element), strict=True)))


def kinds(names: Sequence[str], element: str) -> list[str]:
    pointers = ("a", "b", "c", "panel")
    return [f"memref<{element}>" if name in pointers else "i1" if name == "add" else "index" for name in names]


def sweep_name(element: str) -> str:
    return f"hotdesk_sweep_{element}"


def _sweep(machine: Machine, element: str, tile: Tile) -> str:
    """The function of all tiles of a panel: `m` rows, at least one, in tiles of two heights that differ by one."""
    f = VectorBuilder(machine, element)
    m, k, a, a_at, a_row = f.number("m"), f.number("k"), f.pointer("a"), f.number("a_at"), f.number("a_row")
    b, b_at, b_row = f.pointer("b"), f.number("b_at"), f.number("b_row")
    c, c_at, c_row, c_column = f.pointer("c"), f.number("c_at"), f.number("c_row"), f.number("c_column")
    columns, add = f.number("columns"), f.flag("add")
    count = f.ceildiv(m, tile.rows)
    low = f.floordiv(m, count)
    middle = f.mul(f.sub(m, f.mul(low, count)), f.add(low, 1))

    def tiles(vectors: int) -> None:
        for height, first, stop in ((f.add(low, 1), 0, middle), (low, middle, m)):
            with f.steps(first, stop, height) as i:
                a_here, c_here = f.add(a_at, f.mul(i, a_row)), f.add(c_at, f.mul(i, c_row))
                values = [k, a.pointer, a_here, a_row, b.pointer, b_at, b_row]
                values += [c.pointer, c_here, c_row, c_column, columns, add]

                def one(rows: int, values: list[Index] = values) -> None:
                    _call(f, tile_name(element, rows, vectors), TILE_ARGUMENTS, values)

                f.switch(height, range(1, tile.rows + 1), one)

    narrow = tile.narrow
    f.branch(f.at_least(narrow * f.lanes, columns), lambda: tiles(narrow), lambda: tiles(tile.vectors))
    return f.function(sweep_name(element))


def _blocks_name(element: str) -> str:
    return f"hotdesk_blocks_{element}"


def _blocks(machine: Machine, element: str, tile: Tile) -> str:
    """The function of a product by blocks, elements of a broadcast and those of b in vectors; k is at least 1."""
    f = VectorBuilder(machine, element)
    m, n, k = f.number("m"), f.number("n"), f.number("k")
    a, b, c = (Matrix.argument(f, name) for name in "abc")
    add = f.flag("add")
    width, deepest = tile.columns(machine, element), depth(machine, element)
    panel = f.scratch(deepest * width)

    def panels(height: Index, deep: Index, rows: Matrix, right: Matrix, result: Matrix, adds: Condition) -> None:
        """All columns of the result for `height` rows and `deep` steps of k."""
        few = f.at_least(_FEW_TILES * tile.rows - 1, height)
        with f.loop(0, n, width) as j:
            columns = f.minimum(width, f.sub(n, j))
            b_here, c_here = right.moved(f, 0, j), result.moved(f, 0, j)

            def sweep(source: Operand, at: Index, row: Index) -> None:
                a_values = (rows.memory.pointer, rows.at, rows.row)
                values = [height, deep, *a_values, source.pointer, at, row, *c_here.arguments, columns, str(adds)]
                _call(f, sweep_name(element), SWEEP_ARGUMENTS, values)

            def packed() -> None:
                _call(f, pack_name(element), PACK_ARGUMENTS, [deep, columns, *b_here.arguments, panel.pointer])
                sweep(panel, 0, width)

            in_place = f.both(few, f.both(f.equal(b.column, 1), f.equal(columns, width)))
            f.branch(in_place, lambda: sweep(b.memory, b_here.at, b.row), packed)

    def blocks(tallest: int, copy: Operand | None) -> None:
        deep_steps = f.ceildiv(k, f.ceildiv(k, deepest))
        height = f.ceildiv(m, f.ceildiv(m, tallest))
        with f.steps(0, k, deep_steps) as p:
            deep = f.minimum(deep_steps, f.sub(k, p))
            adds = f.either(add, f.at_least(p, 1))
            with f.steps(0, m, height) as i:
                here = f.minimum(height, f.sub(m, i))
                rows = a.moved(f, i, p)
                if copy is not None:
                    copy_rows(f, here, deep, (rows.memory, rows.at, rows.row, rows.column), copy)
                    rows = Matrix(copy, 0, deep, 1)
                panels(here, deep, rows, b.moved(f, p, 0), c.moved(f, i, 0), adds)

    copy = f.scratch(deepest * _COPIED_ROWS)
    empty = f.either(f.equal(m, 0), f.equal(n, 0))
    f.branch(
        empty,
        lambda: None,
        lambda: f.branch(
            f.equal(a.column, 1),
            lambda: blocks(block_rows(machine, element), None),
            lambda: blocks(_COPIED_ROWS // tile.rows * tile.rows, copy),
        ),
    )
    return f.function(_blocks_name(element))


def _product(machine: Machine, element: str, tile: Tile) -> str:
    """The function that chooses how to compute a product."""
    f = VectorBuilder(machine, element)
    m, n, k = f.number("m"), f.number("n"), f.number("k")
    a, b, c = (Matrix.argument(f, name) for name in "abc")
    add = f.flag("add")
    width = tile.columns(machine, element)

    def clear() -> None:
        zero = f.constant("0.0", element)
        with f.loop(0, m) as i, f.loop(0, n) as j:
            f.store(zero, c.memory, f.add(c.at, f.dot((i, j), (c.row, c.column))))

    def dots(rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> None:
        values = [
            rows,
            columns,
            k,
            left.memory.pointer,
            left.at,
            left.row,
            right.memory.pointer,
            right.at,
            right.column,
        ]
        values += [*result.arguments, add]
        f.branch(
            f.equal(rows, 1),
            lambda: _call(f, dots_name(element, 1), DOTS_ARGUMENTS, values),
            lambda: _call(f, dots_name(element, MOST_ROWS), DOTS_ARGUMENTS, values),
        )

    def added_rows(columns: Index, left: Matrix, right: Matrix, result: Matrix) -> None:
        values = [columns, k, left.memory.pointer, left.at, left.column, right.memory.pointer, right.at, right.row]
        _call(f, rows_name(element), ROWS_ARGUMENTS, [*values, result.memory.pointer, result.at, add])

    def cost(rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> Index:
        tiles = f.mul(f.ceildiv(rows, tile.rows), f.ceildiv(columns, width))
        sums = f.mul(f.mul(tiles, k), tile.rows * tile.vectors * 8)
        gathered = f.select(f.equal(right.row, 1), _BY_SQUARES, _ONE_BY_ONE)
        packed = f.mul(f.mul(columns, k), f.select(f.equal(right.column, 1), _BY_ROWS, gathered))
        copied = f.mul(f.mul(rows, k), f.select(f.equal(left.column, 1), 0, _COPIED))
        apart = f.select(f.equal(result.row, 1), _IN_SQUARES, _ALONE) if machine.masks else _ALONE
        stored = f.mul(f.mul(rows, columns), f.select(f.equal(result.column, 1), _AS_VECTOR, apart))
        return f.add(sums, packed, copied, stored)

    def blocks() -> None:
        as_it_is = cost(m, n, a, b, c)
        other = cost(n, m, b.transpose, a.transpose, c.transpose)
        plain = [m, n, k, *a.arguments, *b.arguments, *c.arguments, add]
        turned = [n, m, k, *b.transpose.arguments, *a.transpose.arguments, *c.transpose.arguments, add]
        f.branch(
            f.at_least(other, as_it_is),
            lambda: _call(f, _blocks_name(element), PRODUCT_ARGUMENTS, plain),
            lambda: _call(f, _blocks_name(element), PRODUCT_ARGUMENTS, turned),
        )

    along_k = f.both(f.equal(a.column, 1), f.equal(b.row, 1))
    few_rows = f.both(along_k, f.both(f.at_least(m, 1), f.at_least(MOST_ROWS, m)))
    few_columns = f.both(along_k, f.both(f.at_least(n, 1), f.at_least(MOST_ROWS, n)))
    one_row = f.both(f.equal(m, 1), f.both(f.equal(b.column, 1), f.equal(c.column, 1)))
    one_column = f.both(f.equal(n, 1), f.both(f.equal(a.row, 1), f.equal(c.row, 1)))
    ways = (
        (f.equal(k, 0), lambda: f.branch(add, lambda: None, clear)),
        (few_rows, lambda: dots(m, n, a, b, c)),
        (few_columns, lambda: dots(n, m, b.transpose, a.transpose, c.transpose)),
        (one_row, lambda: added_rows(n, a, b, c)),
        (one_column, lambda: added_rows(m, b.transpose, a.transpose, c.transpose)),
    )
    f.first_of(ways, blocks)
    return f.function(product_name(element))
