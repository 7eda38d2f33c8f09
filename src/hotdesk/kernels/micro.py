"""Micro-kernels: one tile of a product, kept in registers.

    c[rows, columns] (+)= a[rows, k] b[k, columns]

A tile is `rows` broadcast elements of a times some vectors of b. a is read where it lies, k by k along each row; b is a panel,
packed or as it lies: rows of as many columns as a tile has. After Goto and van de Geijn, *Anatomy of High-Performance Matrix
Multiplication*, 2008, but for a, which needs no packing: one element of it serves a whole row of the tile.

Where the machine sums pairs of 16-bit floats, each element of a and b is two of them that follow each other along k, and k counts
the pairs; c is of f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.elements import HALVES, summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

_ROWS_BY_ADDRESS = 2
"""Rows of a read from one address, as an addressing mode of the processor allows: at it, and one stride on."""

_WRITTEN_OUT = 8
"""Steps of k at a time: where they read a differs by constants of their instructions, so that little else is computed."""

LINE_BYTES = 64
"""Of a line of the caches, as far as it is known; a machine that has longer ones is asked for some of them twice."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The tiles that fill a machine's registers: `rows` times `vectors` sums, beside a row of b and an element of a.

    Those on an edge may have fewer of both. The nearer the two are to each other, the fewer elements are loaded for each sum.
    The narrowest have up to `narrow_rows` rows: sums of fewer would wait for each other.
    """

    rows: int
    vectors: int
    narrow_rows: int

    @classmethod
    def of(cls, machine: Machine) -> Tile:
        if machine.registers >= 32:
            return cls(8, 3, 12) if machine.vector_bytes > 16 else cls(6, 4, 6)
        return cls(6, 2, 6)

    @property
    def narrow(self) -> int:
        """Vectors of the narrowest tile; the width of each is a multiple."""
        return self.vectors // 2

    @property
    def widths(self) -> tuple[int, ...]:
        """Vectors of every tile that there is a function for."""
        return tuple(range(self.narrow, self.vectors + 1, self.narrow))

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Rows and vectors of every tile that there is a function for."""
        return tuple((rows, vectors) for vectors in self.widths for rows in range(1, self.most_rows(vectors) + 1))

    def most_rows(self, vectors: int) -> int:
        """How many rows a tile of so many vectors may have."""
        return self.narrow_rows if vectors == self.narrow else self.rows

    def columns(self, machine: Machine, element: str) -> int:
        return self.vectors * machine.lanes(element)

    def height(self, f: VectorBuilder, columns: Index) -> Index:
        """How many rows the tiles of so many columns may have."""
        return f.select(f.at_least(self.narrow * f.lanes, columns), self.narrow_rows, self.rows)


def tile_name(element: str, rows: int, vectors: int) -> str:
    return f"hotdesk_tile_{element}_{rows}x{vectors}"


TILE_ARGUMENTS = (
    *("k", "a", "a_at", "a_row", "a_column", "b", "b_at", "b_row"),
    *("c", "c_at", "c_row", "c_column", "columns", "add", "ahead", "ahead_step", "ahead_row"),
    *("copied", "source", "source_at", "source_row", "target_at", "later_at"),
)
"""Arguments of a tile's function: pointers, offsets and strides in elements, how many columns there are, whether to add.

`ahead` and the two behind it say what will be wanted: an address, and how many bytes on is what to ask for a group of columns of
a later, and of what is asked for at once. The last say how many rows of a source, as long as the tile is wide, it copies into
b's memory, a row in `COPY_STEPS` columns of a, and where the rows begin that it asks for as the next to be copied. Only tiles of
all vectors copy any.
"""

COPY_STEPS = _WRITTEN_OUT
"""Columns of a that are summed for each row that is copied: its loads and stores hide behind their products."""


def group_length(machine: Machine, element: str) -> int:
    """Columns of a that are summed between two requests for what will be wanted: the elements of a line of the cache."""
    return LINE_BYTES // machine.bytes_of(element)


def tile_function(machine: Machine, element: str, rows: int, vectors: int) -> str:
    """The function of a tile of exactly `rows` rows and up to `vectors` vectors of columns.

    b is read over the whole width, whatever `columns` says. Of 16-bit floats it takes pairs, as memory of f32.
    """
    return _TileLoops(machine, element, rows, vectors).function()


class _TileLoops:
    """Writes the function of a tile: c is asked for, columns of a times rows of b are summed in registers, the sums are stored.

    What the loops carry are the sums, addresses in a, and what will be wanted.
    """

    def __init__(self, machine: Machine, element: str, rows: int, vectors: int) -> None:
        self.machine, self.element, self.rows, self.vectors = machine, summed_in(element), rows, vectors
        self.name = tile_name(element, rows, vectors)
        self.f = f = VectorBuilder(machine, self.element)
        self.multiply = f.add_pairs if element in HALVES else f.multiply_add
        self.k = f.number("k")
        self.a, self.a_at, self.a_row, self.a_column = (
            f.pointer("a"),
            f.number("a_at"),
            f.number("a_row"),
            f.number("a_column"),
        )
        self.b, self.b_at, self.b_row = f.pointer("b"), f.number("b_at"), f.number("b_row")
        self.c, self.c_at, self.c_row, self.c_column = (
            f.pointer("c"),
            f.number("c_at"),
            f.number("c_row"),
            f.number("c_column"),
        )
        self.columns, self.add = f.number("columns"), f.flag("add")
        names = ("ahead", "ahead_step", "ahead_row")
        self.ahead, self.ahead_step, self.ahead_row = (f.integer(f.number(name)) for name in names)
        self.copied, self.source = f.number("copied"), f.pointer("source")
        self.source_at, self.source_row = f.number("source_at"), f.number("source_row")
        self.target_at, self.later_at = f.number("target_at"), f.number("later_at")
        self.copies = vectors == Tile.of(machine).vectors and element not in HALVES
        self.copied_until = f.mul(self.copied, COPY_STEPS) if self.copies else 0
        self.width, self.count, self.size = vectors * f.lanes, rows * vectors, machine.bytes_of(self.element)
        self.together = f.equal(self.c_column, 1)
        self.group = group_length(machine, self.element)

    def function(self) -> str:
        f = self.f
        f.branch(self.together, self._ask_for_rows, self._ask_for_columns)
        self.row_apart, self.onward = (
            f.hidden(f.integer(f.mul(stride, self.size))) for stride in (self.a_row, self.a_column)
        )
        starts = [
            f.hidden(f.address(self.a, f.add(self.a_at, f.mul(i, self.a_row)), self.size))
            for i in range(0, self.rows, _ROWS_BY_ADDRESS)
        ]
        count, k, group = self.count, self.k, self.group
        whole = f.select(f.equal(self.a_column, 1), f.sub(k, f.mod(k, group)), 0)
        found = f.carry(0, whole, group, [f.zeros()] * count, self._sum_together, [*starts, self.ahead])
        sums = f.carry(whole, k, group, found[:count], self._sum_apart, found[count:])[:count]
        self._store(sums)
        return f.function(self.name)

    def _ask_for_rows(self) -> None:
        """Of c, which is wanted when all is summed; a row touches two lines at most."""
        f = self.f
        with f.loop(0, self.rows) as i:
            row = f.add(self.c_at, f.mul(i, self.c_row))
            for j in (0, self.width - 1):
                f.prefetch(self.c, f.add(row, j), write=True)

    def _ask_for_columns(self) -> None:
        f = self.f
        with f.loop(0, self.columns) as j:
            place = f.add(self.c_at, f.mul(self.rows - 1, self.c_row), f.mul(j, self.c_column))
            f.prefetch(self.c, place, write=True)

    def _ask_ahead(self, address: str, number: int) -> str:
        """Asks for some of what will be wanted, and says where the next is."""
        for _ in range(number):
            self.f.prefetch_far(address)
            address = self.f.add_addresses(address, self.ahead_row)
        return address

    def _sum_together(self, first: Index, values: list[str]) -> list[str]:
        """A group of columns of a that lie together, some at a time written out."""
        f, count, group = self.f, self.count, self.group
        requests, at_once = max(self.rows, group), min(group, _WRITTEN_OUT)

        def written_out(q: Index, values: list[str]) -> list[str]:
            sums, wanted = values[:count], values[-1]
            addresses = [f.hidden(each) for each in values[count:-1]]
            line = f.add(self.b_at, f.mul(f.add(first, q), self.b_row))
            if self.copies:
                self._copy_row(f.add(first, q))
            for p in range(at_once):
                wanted = self._ask_ahead(wanted, (p + 1) * requests // group - p * requests // group)
                sums = self._products(sums, addresses, p * self.size, line)
                line = f.hidden_index(f.add(line, self.b_row))
            return [*sums, *(f.moved_address(each, at_once * self.size) for each in addresses), wanted]

        inner = f.carry(0, group, at_once, values[:count], written_out, values[count:])
        return [*inner[:-1], f.add_addresses(values[-1], self.ahead_step)]

    def _copy_row(self, step: Index) -> None:
        """Copies a row of the source, if there are more, and asks for one that comes later."""
        f = self.f

        def copy() -> None:
            row = f.value(f"arith.shrui {f.index(step)}, {f.index(COPY_STEPS.bit_length() - 1)} : index")
            apart = f.mul(row, self.source_row)
            begin, target = f.add(self.source_at, apart), f.add(self.target_at, f.mul(row, self.width))
            later = f.add(self.later_at, apart)
            for j in range(self.vectors):
                f.prefetch_far(f.integer(f.place(self.source, f.add(later, j * f.lanes), self.size)), few=True)
                f.store_vector(
                    f.load_vector(self.source, f.add(begin, j * f.lanes)), self.b, f.add(target, j * f.lanes)
                )
            f.prefetch_far(f.integer(f.place(self.source, f.add(later, self.width - 1), self.size)), few=True)

        f.branch(f.more(self.copied_until, step), copy)

    def _sum_apart(self, first: Index, values: list[str]) -> list[str]:
        """A group of columns of a, or what is left of one, however far apart they are."""
        f, count, group = self.f, self.count, self.group
        requests = max(self.rows, group)

        def step(q: Index, values: list[str]) -> list[str]:
            sums, addresses = values[:count], values[count:-1]
            wanted = self._ask_ahead(values[-1], -(-requests // group))
            sums = self._products(sums, addresses, 0, f.add(self.b_at, f.mul(f.add(first, q), self.b_row)))
            return [*sums, *(f.add_addresses(address, self.onward) for address in addresses), wanted]

        left = f.minimum(group, f.sub(self.k, first))
        inner = f.carry(0, left, 1, values[:count], step, values[count:])
        return [*inner[:-1], f.add_addresses(values[-1], self.ahead_step)]

    def _products(self, sums: Sequence[str], addresses: Sequence[str], begun: int, line: Index) -> list[str]:
        """The sums with a column of a, whose rows have it some bytes behind the addresses, and a row of b at an offset."""
        f = self.f
        row = [f.load_vector(self.b, f.add(line, j * f.lanes)) for j in range(self.vectors)]
        result: list[str] = []
        for i in range(self.rows):
            address = addresses[i // _ROWS_BY_ADDRESS]
            for _ in range(i % _ROWS_BY_ADDRESS):
                address = f.add_addresses(address, self.row_apart)
            value = f.broadcast(f.load_at(f.moved_address(address, begun)))
            result += [self.multiply(value, row[j], sums[i * self.vectors + j]) for j in range(self.vectors)]
        return result

    def _store(self, sums: list[str]) -> None:
        f, vectors, columns, add = self.f, self.vectors, self.columns, self.add
        place = Place(self.c, self.c_at, self.c_row)

        def scattered() -> None:
            self._scatter(sums)

        if self.machine.cheap_masks:
            f.branch(self.together, lambda: _store_under_masks(f, sums, vectors, place, columns, add), scattered)
        else:
            whole = f.both(self.together, f.equal(columns, self.width))
            f.branch(whole, lambda: _store_rows(f, sums, vectors, place, add), scattered)

    def _scatter(self, sums: list[str]) -> None:
        """Stores the sums in scratch memory, and calls what stores them from there with any strides."""
        f, lanes = self.f, self.f.lanes
        scratch = f.scratch(-(-self.rows // lanes) * lanes * self.width)  # whole squares, as they are transposed
        for i, value in enumerate(sums):
            f.store_vector(value, scratch, i * lanes)
        given: dict[str, Index] = {
            "rows": self.rows,
            "width": self.width,
            "columns": self.columns,
            "tile": scratch.pointer,
        }
        given |= {
            "c": self.c.pointer,
            "c_at": self.c_at,
            "c_row": self.c_row,
            "c_column": self.c_column,
            "add": self.add,
        }
        types = {"tile": f"memref<{self.element}>", "c": f"memref<{self.element}>", "add": "i1"}
        passed = [(given[name], types.get(name, "index")) for name in SCATTER_ARGUMENTS]
        f.call_local(scatter_name(self.element), passed)


SCATTER_ARGUMENTS = ("rows", "width", "columns", "tile", "c", "c_at", "c_row", "c_column", "add")
"""Arguments of what stores a tile with any strides: its rows, how long they are in memory, how many columns of them count."""


def scatter_name(element: str) -> str:
    return f"hotdesk_scatter_{element}"


def scatter_function(machine: Machine, element: str) -> str:
    """The function that stores a tile, or adds it, where the columns of a row do not lie together, or are not all there.

    Where those of a row do, it goes row by row; where those of a column do, squares are transposed in registers; else it goes
    element by element.
    """
    f = VectorBuilder(machine, element)
    rows, width, columns, tile = f.number("rows"), f.number("width"), f.number("columns"), f.pointer("tile")
    c, c_at, c_row, c_column = f.pointer("c"), f.number("c_at"), f.number("c_row"), f.number("c_column")
    add = f.flag("add")
    whole = columns if machine.cheap_masks else f.sub(columns, f.mod(columns, f.lanes))

    def in_rows(*, adds: bool) -> None:
        with f.loop(0, rows) as row, f.loop(0, columns, f.lanes) as column:
            value = f.load_vector(tile, f.add(f.mul(row, width), column))
            f.store_some([value], c, [f.add(c_at, f.mul(row, c_row), column)], f.sub(columns, column), add=adds)

    def squares(*, adds: bool) -> None:
        with f.loop(0, rows, f.lanes) as row, f.loop(0, whole, f.lanes) as column:
            first = f.add(f.mul(row, width), column)
            square = f.transpose([f.load_vector(tile, f.add(first, f.mul(i, width))) for i in range(f.lanes)])
            places = [f.add(c_at, row, f.mul(f.add(column, j), c_column)) for j in range(f.lanes)]
            those, left = f.sub(rows, row), f.sub(columns, column)
            if machine.cheap_masks:
                _store_square_under_masks(f, square, c, places, (those, left), adds=adds)
            else:
                f.store_some(square, c, places, those, add=adds)

    def elements(first: Index) -> None:
        with f.loop(first, columns) as column, f.loop(0, rows) as row:
            value = f.load(tile, f.add(f.mul(row, width), column))
            f.store_or_add(value, c, f.add(c_at, f.dot((row, column), (c_row, c_column))), add)

    def transposed() -> None:
        f.branch(add, lambda: squares(adds=True), lambda: squares(adds=False))
        if not machine.cheap_masks:
            elements(whole)

    ways = [(f.equal(c_row, 1), transposed)]
    if not machine.cheap_masks:  # else tiles store such rows themselves
        ways.insert(
            0, (f.equal(c_column, 1), lambda: f.branch(add, lambda: in_rows(adds=True), lambda: in_rows(adds=False)))
        )
    f.first_of(ways, lambda: elements(0))
    return f.function(scatter_name(element))


def _store_square_under_masks(
    f: VectorBuilder, square: list[str], c: Operand, places: list[Index], size: tuple[Index, Index], *, adds: bool
) -> None:
    """The vectors of a square, of which so many lanes and so many vectors are there."""
    lanes, count = size
    those = f.first_lanes(lanes)
    for j, (value, place) in enumerate(zip(square, places, strict=True)):
        mask = f.all_or_none(those, f.more(count, j))
        if adds:
            value = f.add_vectors(f.load_masked(c, place, mask), value)
        f.store_masked(value, c, place, mask)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tile of c begins, and how far apart its rows are."""

    memory: Operand
    at: str
    row: str

    def of(self, f: VectorBuilder, number: int, vectors: int) -> Index:
        """Where the vector of a number lies, counted row by row."""
        return f.add(self.at, f.mul(number // vectors, self.row), number % vectors * f.lanes)


def _store_rows(f: VectorBuilder, sums: list[str], vectors: int, c: Place, add: str) -> None:
    """The sums as whole vectors."""
    places = [c.of(f, i, vectors) for i in range(len(sums))]

    def added() -> None:
        for value, place in zip(sums, places, strict=True):
            f.store_vector(f.add_vectors(f.load_vector(c.memory, place), value), c.memory, place)

    def written() -> None:
        for value, place in zip(sums, places, strict=True):
            f.store_vector(value, c.memory, place)

    f.branch(add, added, written)


def _store_under_masks(f: VectorBuilder, sums: list[str], vectors: int, c: Place, columns: str, add: str) -> None:
    """The sums of as many columns as there are, which lie together."""
    places = [c.of(f, i, vectors) for i in range(len(sums))]
    masks = [f.first_lanes(f.sub(columns, j * f.lanes)) for j in range(vectors)]

    def added() -> None:
        for i, (value, place) in enumerate(zip(sums, places, strict=True)):
            mask = masks[i % vectors]
            f.store_masked(f.add_vectors(f.load_masked(c.memory, place, mask), value), c.memory, place, mask)

    def written() -> None:
        for i, (value, place) in enumerate(zip(sums, places, strict=True)):
            f.store_masked(value, c.memory, place, masks[i % vectors])

    f.branch(add, added, written)
