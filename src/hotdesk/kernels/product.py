"""Products of matrices on one thread: c (+)= a b for any sizes and strides, all of them numbers known when it is called.

A product is computed block by block (`blocks`), or, where its result has few rows or columns, in a way that reads the other
operand once (`skinny`). Which of the two operands has its elements broadcast, and which is packed to lie in the vectors, is
decided by what packing, storing and edges would cost: c = a b, or its transpose. Every element of c is summed in an order that
depends on k, and on whether it is one of few rows or columns, or of those left over; where there is no scratch memory, on that
too.
"""

from __future__ import annotations

from hotdesk.kernels.blocks import (
    BLOCKS_ARGUMENTS,
    Matrix,
    block_functions,
    blocks_name,
    call,
    deepest,
    is_unpacked,
)
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile, scatter_function, tile_function
from hotdesk.kernels.packing import pack_function
from hotdesk.kernels.scratch import DECLARED
from hotdesk.kernels.skinny import (
    DOTS_ARGUMENTS,
    MOST_ROWS,
    ROWS_ARGUMENTS,
    dots_function,
    dots_name,
    rows_function,
    rows_name,
)
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder

# What things cost, in 1/16 of a cycle: a vector multiplied and added; an element of a panel packed by rows, each of which is on
# another page, by squares, which are asked for in time, or one by one; one of a whose neighbours lie apart; one of c stored as a
# vector, in a square that is transposed, or alone; and a dot product beside its multiplications.
_SUM, _BY_ROWS, _BY_SQUARES, _ONE_BY_ONE, _APART, _AS_VECTOR, _IN_SQUARES, _ALONE = 16, 12, 6, 24, 16, 2, 8, 24
_DOT = 256
_UNPACKED = 2
_IN_COLUMNS = 4  # sums in the time that reading a by columns adds to one, each of them on another page


def product_name(element: str) -> str:
    """The function of a product on one thread."""
    return f"hotdesk_alone_{element}"


def product_functions(machine: Machine, element: str) -> str:
    """The text of the function of a product, and of those it calls."""
    tile = Tile.of(machine)
    return "\n".join(
        [
            DECLARED.format(element=element),
            scatter_function(machine, element),
            *(tile_function(machine, element, rows, vectors) for rows, vectors in tile.parts),
            pack_function(machine, element, tile.vectors),
            rows_function(machine, element),
            *(dots_function(machine, element, rows) for rows in (1, MOST_ROWS)),
            block_functions(machine, element),
            _product(machine, element, tile),
        ]
    )


def _product(machine: Machine, element: str, tile: Tile) -> str:
    """The function that chooses how to compute a product."""
    f = VectorBuilder(machine, element)
    m, n, k = f.number("m"), f.number("n"), f.number("k")
    a, b, c = (Matrix.argument(f, name) for name in "abc")
    add = f.flag("add")

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
            lambda: call(f, dots_name(element, 1), DOTS_ARGUMENTS, values),
            lambda: call(f, dots_name(element, MOST_ROWS), DOTS_ARGUMENTS, values),
        )

    def added_rows(columns: Index, left: Matrix, right: Matrix, result: Matrix) -> None:
        values = [columns, k, left.memory.pointer, left.at, left.column, right.memory.pointer, right.at, right.row]
        call(f, rows_name(element), ROWS_ARGUMENTS, [*values, result.memory.pointer, result.at, add])

    def cost(rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> Index:
        halves = f.ceildiv(columns, tile.narrow * f.lanes)  # panels, the last of which may be a narrow one
        sums = f.mul(f.mul(f.mul(rows, halves), k), tile.narrow * _SUM)
        gathered = f.select(f.equal(right.row, 1), _BY_SQUARES, _ONE_BY_ONE)
        by_rows = f.select(is_unpacked(f, rows, k, left, right, result), _UNPACKED, _BY_ROWS)
        packed = f.mul(f.mul(columns, k), f.select(f.equal(right.column, 1), by_rows, gathered))
        apart = f.select(f.equal(result.row, 1), _IN_SQUARES, _ALONE) if machine.masks else _ALONE
        stored = f.mul(f.mul(rows, columns), f.select(f.equal(result.column, 1), _AS_VECTOR, apart))
        by_columns = f.select(f.equal(left.row, 1), f.floordiv(sums, _IN_COLUMNS), f.mul(f.mul(rows, k), _APART))
        read = f.select(f.equal(left.column, 1), 0, by_columns)
        return f.add(sums, packed, read, f.mul(stored, f.ceildiv(k, deepest(machine))))

    def cheapest(rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> tuple[Index, Index]:
        """What blocks cost, and how many columns are best left over."""
        panel = tile.narrow * f.lanes
        over = f.mod(columns, panel)
        whole = cost(rows, columns, left, right, result)
        summed = f.select(f.equal(over, 1), 1, MOST_ROWS)  # columns
        dots = f.mul(f.mul(rows, summed), f.add(f.mul(f.ceildiv(k, f.lanes), _SUM), _DOT))
        parted = f.add(cost(rows, f.sub(columns, over), left, right, result), dots, f.mul(f.mul(over, k), _ONE_BY_ONE))
        can = f.both(f.both(f.at_least(over, 1), f.at_least(MOST_ROWS, over)), f.at_least(columns, panel))
        can = f.both(f.both(can, f.equal(left.column, 1)), f.negation(is_unpacked(f, rows, k, left, right, result)))
        parts = f.both(can, f.more(whole, parted))
        return f.select(parts, parted, whole), f.select(parts, over, 0)

    def blocks() -> None:
        as_it_is, over = cheapest(m, n, a, b, c)
        other, other_over = cheapest(n, m, b.transpose, a.transpose, c.transpose)
        plain = [m, n, k, *a.arguments, *b.arguments, *c.arguments, add, over]
        turned = [n, m, k, *b.transpose.arguments, *a.transpose.arguments, *c.transpose.arguments, add, other_over]
        f.branch(
            f.at_least(other, as_it_is),
            lambda: call(f, blocks_name(element), BLOCKS_ARGUMENTS, plain),
            lambda: call(f, blocks_name(element), BLOCKS_ARGUMENTS, turned),
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
