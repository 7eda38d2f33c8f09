"""Products of matrices on one thread: c (+)= a b for any sizes and strides, all of them numbers known when it is called.

A product is computed block by block (`blocks`), or, where its result has few rows or columns, in a way that reads the other
operand once (`skinny`). Which of the two operands has its elements broadcast, and which is packed to lie in the vectors, is
decided by what packing, storing and edges would cost: c = a b, or its transpose. Every element of c is summed in an order that
depends on k, and on whether it is one of few rows or columns, or of those left over; where there is no scratch memory, on that
too.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from hotdesk.kernels.text import Condition, Index
from hotdesk.kernels.vectors import VectorBuilder

# What things cost, in 1/16 of a cycle: a vector multiplied and added; an element of a panel packed by rows, each of which is on
# another page, by squares, which are asked for in time, or one by one; one of a whose neighbours lie apart; one of c stored as a
# vector, in a square that is transposed, or alone; and a dot product beside its multiplications.
_SUM, _BY_ROWS, _BY_SQUARES, _ONE_BY_ONE, _APART, _AS_VECTOR, _IN_SQUARES, _ALONE = 16, 12, 6, 24, 16, 2, 8, 24
_DOT = 256
_UNPACKED = 2
_IN_COLUMNS = 4  # sums in the time that reading a by columns adds to one, each of them on another page


_Call = tuple[str, Sequence[str], Sequence[Index]]
"""A call: of which function, its arguments' names, and what they are."""


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
    return _ProductChoice(machine, element, tile).function()


class _ProductChoice:
    """Writes the choice among the ways to compute a product, and the calls of what computes it."""

    def __init__(self, machine: Machine, element: str, tile: Tile) -> None:
        self.machine, self.element, self.tile = machine, element, tile
        self.f = f = VectorBuilder(machine, element)
        self.m, self.n, self.k = f.number("m"), f.number("n"), f.number("k")
        self.a, self.b, self.c = (Matrix.argument(f, name) for name in "abc")
        self.add = f.flag("add")

    def function(self) -> str:
        f, m, n, (a, b, c) = self.f, self.m, self.n, (self.a, self.b, self.c)
        along_k = f.both(f.equal(a.column, 1), f.equal(b.row, 1))
        few_rows = f.both(along_k, f.both(f.at_least(m, 1), f.at_least(MOST_ROWS, m)))
        few_columns = f.both(along_k, f.both(f.at_least(n, 1), f.at_least(MOST_ROWS, n)))
        one_row = f.both(f.equal(m, 1), f.both(f.equal(b.column, 1), f.equal(c.column, 1)))
        one_column = f.both(f.equal(n, 1), f.both(f.equal(a.row, 1), f.equal(c.row, 1)))
        ways = (
            (f.equal(self.k, 0), lambda: f.branch(self.add, lambda: None, self._clear)),
            (few_rows, lambda: self._dots(m, n, a, b, c)),
            (few_columns, lambda: self._dots(n, m, b.transpose, a.transpose, c.transpose)),
            (one_row, lambda: self._add_rows(n, a, b, c)),
            (one_column, lambda: self._add_rows(m, b.transpose, a.transpose, c.transpose)),
        )
        f.first_of(ways, self._blocks)
        return f.function(product_name(self.element))

    def _clear(self) -> None:
        f, c = self.f, self.c
        zero = f.constant("0.0", self.element)
        with f.loop(0, self.m) as i, f.loop(0, self.n) as j:
            f.store(zero, c.memory, f.add(c.at, f.dot((i, j), (c.row, c.column))))

    def _dots(self, rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> None:
        values = [rows, columns, self.k, left.memory.pointer, left.at, left.row]
        values += [right.memory.pointer, right.at, right.column, *result.arguments, self.add]
        self._either(
            self.f.equal(rows, 1),
            (dots_name(self.element, 1), DOTS_ARGUMENTS, values),
            (dots_name(self.element, MOST_ROWS), DOTS_ARGUMENTS, values),
        )

    def _add_rows(self, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> None:
        values = [columns, self.k, left.memory.pointer, left.at, left.column]
        values += [right.memory.pointer, right.at, right.row, result.memory.pointer, result.at, self.add]
        call(self.f, rows_name(self.element), ROWS_ARGUMENTS, values)

    def _blocks(self) -> None:
        a, b, c, m, n, k = self.a, self.b, self.c, self.m, self.n, self.k
        as_it_is, over = self._cheapest(m, n, a, b, c)
        other, other_over = self._cheapest(n, m, b.transpose, a.transpose, c.transpose)
        plain = [m, n, k, *a.arguments, *b.arguments, *c.arguments, self.add, over]
        turned = [n, m, k, *b.transpose.arguments, *a.transpose.arguments, *c.transpose.arguments, self.add, other_over]
        name = blocks_name(self.element)
        at_least = self.f.at_least(other, as_it_is)
        self._either(at_least, (name, BLOCKS_ARGUMENTS, plain), (name, BLOCKS_ARGUMENTS, turned))

    def _either(self, condition: Condition, one: _Call, other: _Call) -> None:
        """One call or the other."""
        self.f.branch(condition, lambda: call(self.f, *one), lambda: call(self.f, *other))

    def _cheapest(
        self, rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix
    ) -> tuple[Index, Index]:
        """What blocks cost, and how many columns are best left over."""
        f, k = self.f, self.k
        panel = self.tile.narrow * f.lanes
        over = f.mod(columns, panel)
        whole = self._cost(rows, columns, left, right, result)
        summed = f.select(f.equal(over, 1), 1, MOST_ROWS)  # columns
        dots = f.mul(f.mul(rows, summed), f.add(f.mul(f.ceildiv(k, f.lanes), _SUM), _DOT))
        without = self._cost(rows, f.sub(columns, over), left, right, result)
        parted = f.add(without, dots, f.mul(f.mul(over, k), _ONE_BY_ONE))
        can = f.both(f.both(f.at_least(over, 1), f.at_least(MOST_ROWS, over)), f.at_least(columns, panel))
        can = f.both(f.both(can, f.equal(left.column, 1)), f.negation(is_unpacked(f, rows, k, left, right, result)))
        parts = f.both(can, f.more(whole, parted))
        return f.select(parts, parted, whole), f.select(parts, over, 0)

    def _cost(self, rows: Index, columns: Index, left: Matrix, right: Matrix, result: Matrix) -> Index:
        """What blocks cost, in 1/16 of a cycle."""
        f, k, narrow = self.f, self.k, self.tile.narrow
        halves = f.ceildiv(columns, narrow * f.lanes)  # panels, the last of which may be a narrow one
        sums = f.mul(f.mul(f.mul(rows, halves), k), narrow * _SUM)
        gathered = f.select(f.equal(right.row, 1), _BY_SQUARES, _ONE_BY_ONE)
        by_rows = f.select(is_unpacked(f, rows, k, left, right, result), _UNPACKED, _BY_ROWS)
        packed = f.mul(f.mul(columns, k), f.select(f.equal(right.column, 1), by_rows, gathered))
        apart = f.select(f.equal(result.row, 1), _IN_SQUARES, _ALONE)
        stored = f.mul(f.mul(rows, columns), f.select(f.equal(result.column, 1), _AS_VECTOR, apart))
        by_columns = f.select(f.equal(left.row, 1), f.floordiv(sums, _IN_COLUMNS), f.mul(f.mul(rows, k), _APART))
        read = f.select(f.equal(left.column, 1), 0, by_columns)
        return f.add(sums, packed, read, f.mul(stored, f.ceildiv(k, deepest(self.machine))))
