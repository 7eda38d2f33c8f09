"""Products of bfloat16 on one thread by a matrix unit (AMX): tiles of 16 rows of 32 elements, times tiles of 16 columns.

    for some columns of b:  all steps of k, packed as pairs, so many that they fit half of the second cache
      for a slab of 32 rows of a, where they lie:
        for a block of k, for which the slab stays in the nearest cache:
          for each panel of 32 columns:  sums (+)= 2 by 2 tiles
        c = (c +) sums, rounded once

A tile of a is 16 pieces of its rows as they lie. One of b has two steps of k in each element of its 16 rows, as panels of pairs
have (`packing`). Where elements of a lie together in no row, each slab is copied; of others, what is left of k behind whole tiles
is, with zeros behind. While a slab is summed, the next one is asked for. Where k is very long, it is cut, and sums of some slabs
wait in f32.

The instruction takes numbers smaller than the smallest normal one for 0, whether they come or result. A tile is a register that
belongs to the thread; how many rows each has is said before the first is used (`CONFIGURE`), and at the end they are given up,
so that the system need not keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

from hotdesk.kernels.blocks import PRODUCT_ARGUMENTS, Matrix, even, kinds
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import LINE_BYTES
from hotdesk.kernels.packing import PACK_ARGUMENTS, pack_pairs_function, pack_pairs_name
from hotdesk.kernels.scratch import CONVERTED
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

TILE_ROWS, TILE_DEEP = 16, 32
"""Rows and columns of a tile of sums, and how many steps of k the tiles have that are multiplied."""

SLAB = 2 * TILE_ROWS
"""Rows and columns that are summed at once: four tiles of sums, two of each operand."""

SUMS, LEFT, RIGHT = (0, 1, 2, 3), (4, 5), (6, 7)
"""The numbers of the tiles of sums and of both operands."""

CONFIGURE = "hotdesk_configure_tiles"
"""The function that says which shapes tiles have, given how many rows a slab has."""

_DEEP = 256  # steps of k for which a slab is in the nearest cache, with what passes by
_DEEPEST = 8192  # steps of k for which b is packed at once
_SHORT = 128  # the same on the stack
_WAITING = 512  # rows whose sums wait where k is cut
_PADDING = 16  # 32-bit elements between rows of sums, and of copied slabs, which else might share a set of a cache
_ROW_BYTES = 4 * SLAB  # of a panel

# What things cost, in 1/16 of a cycle: a tile times another; an element of b packed by rows, by squares, or one by one; one of
# a copied in squares or alone; one of c stored as a vector, in a square that is transposed, or alone.
_PRODUCT, _BY_ROWS, _BY_SQUARES, _ONE_BY_ONE, _COPIED, _AS_VECTOR, _IN_SQUARES, _ALONE = 256, 2, 3, 24, 4, 3, 6, 24


def tiles_name(element: str, result: str) -> str:
    """The function of a product; it takes what all of them take (`PRODUCT_ARGUMENTS`)."""
    return f"hotdesk_tiles_{element}_{result}"


def tiles_functions(machine: Machine, element: str, result: str) -> str:
    """The text of the function of a product and of those it calls, but for scratch memory."""
    texts = [configure_function(machine), pack_pairs_function(machine, element, SLAB // machine.lanes("f32"))]
    texts += [_multiply_function(machine, *shape) for shape in product((1, 2), repeat=2)]
    texts += [_copy_function(machine, element), _finish_function(machine, result)]
    texts.append(_TiledProduct(machine, element, result).function())
    return "".join(texts)


def multiply_by_tiles(
    f: VectorBuilder, element: str, result: str, sizes: tuple[Index, Index, Index], *matrices: Matrix, add: str
) -> None:
    """Writes a product c (+)= a b, or that of the transposed ones, whichever costs less."""
    (m, n, k), (a, b, c) = sizes, matrices
    turned = b.transpose, a.transpose, c.transpose

    def call(rows: Index, columns: Index, left: Matrix, right: Matrix, to: Matrix) -> None:
        values = [rows, columns, k, *left.arguments, *right.arguments, *to.arguments, add]
        f.call_local(
            tiles_name(element, result), list(zip(values, kinds(PRODUCT_ARGUMENTS, element, result), strict=True))
        )

    as_it_is = f.at_least(_cost(f, n, m, k, *turned), _cost(f, m, n, k, a, b, c))
    f.branch(as_it_is, lambda: call(m, n, a, b, c), lambda: call(n, m, *turned))


def _cost(f: VectorBuilder, rows: Index, columns: Index, k: Index, left: Matrix, right: Matrix, to: Matrix) -> Index:
    """What a product takes, in 1/16 of a cycle."""
    tiles = f.mul(f.mul(f.ceildiv(rows, TILE_ROWS), f.ceildiv(columns, TILE_ROWS)), f.ceildiv(k, TILE_DEEP))
    gathered = f.select(f.equal(right.row, 1), _BY_SQUARES, _ONE_BY_ONE)
    packed = f.mul(f.mul(columns, k), f.select(f.equal(right.column, 1), _BY_ROWS, gathered))
    apart = f.select(f.equal(left.row, 1), _COPIED, _ONE_BY_ONE)
    copied = f.mul(f.mul(rows, k), f.select(f.equal(left.column, 1), 0, apart))
    scattered = f.select(f.equal(to.row, 1), _IN_SQUARES, _ALONE)
    stored = f.mul(f.mul(rows, columns), f.select(f.equal(to.column, 1), _AS_VECTOR, scattered))
    return f.add(f.mul(tiles, _PRODUCT), packed, copied, stored)


def configure_function(machine: Machine) -> str:
    """The function that says how many rows a slab has: 1 to `SLAB`. All rows of tiles have 64 bytes."""
    f = VectorBuilder(machine, "f32")
    rows = f.number("rows")
    words = f.scratch(16, "i32")
    first = f.minimum(rows, TILE_ROWS)
    second = f.sub(rows, first)
    second = f.select(f.equal(second, 0), TILE_ROWS, second)  # none is used then, but none may be empty
    whole = f.constant(str(0x00400040), "i32")
    sums = f.add(f.mul(first, 0x0101), f.mul(second, 0x01010000))
    left = f.add(first, f.mul(second, 0x0100), TILE_ROWS * 0x01010000)
    said: dict[int, str] = {0: f.constant("1", "i32"), **dict.fromkeys(range(4, 8), whole)}
    said |= {12 + i: f.value(f"arith.index_cast {f.index(each)} : index to i32") for i, each in enumerate((sums, left))}
    for i in range(16):
        f.store(said.get(i, f.constant("0", "i32")), words, i)
    f.configure_tiles(f.place(words, 0, 4))
    return f.function(CONFIGURE)


_MULTIPLY_ARGUMENTS = (
    *("steps", "a", "a_row", "last", "last_a", "b", "c", "c_row"),
    *("ahead", "ahead_row", "ahead_rows", "add"),
)
"""Tiles along k of a as it lies, the address of the slab, and how far apart its rows are; how many tiles were copied, none or
one, and where they are; addresses of the panel and of the sums, and how far apart rows of these are. Then what will be wanted for
each tile along k: an address, and so many rows. Everything is in bytes."""


def _multiply_name(high: int, wide: int) -> str:
    return f"hotdesk_multiply_tiles_{high}x{wide}"


def _multiply_function(machine: Machine, high: int, wide: int) -> str:
    """The function that multiplies a slab of so many tiles by a panel of so many."""
    f = VectorBuilder(machine, "f32")
    numbers, _ = f.arguments(_MULTIPLY_ARGUMENTS, {})
    places = [(i, j, SUMS[2 * i + j]) for i, j in product(range(high), range(wide))]

    def sums_at(i: int, j: int) -> Index:
        return f.add(numbers["c"], f.mul(numbers["c_row"], i * TILE_ROWS), j * LINE_BYTES)

    def load() -> None:
        for i, j, tile in places:
            f.load_tile(tile, sums_at(i, j), numbers["c_row"])

    def clear() -> None:
        for *_, tile in places:
            f.clear_tile(tile)

    def step(a: Index, a_row: Index, b: Index) -> None:
        for i in range(high):
            f.load_tile(LEFT[i], f.add(a, f.mul(a_row, i * TILE_ROWS)), a_row)
            for j in range(wide):
                if not i:
                    f.load_tile(RIGHT[j], f.add(b, j * LINE_BYTES), _ROW_BYTES)
                f.multiply_tiles(SUMS[2 * i + j], LEFT[i], RIGHT[j])

    f.branch(numbers["add"], load, clear)
    panel = TILE_ROWS * _ROW_BYTES  # of a tile along k
    with f.loop(0, numbers["steps"]) as p:
        begun = f.mul(p, LINE_BYTES)
        step(f.add(numbers["a"], begun), numbers["a_row"], f.add(numbers["b"], f.mul(p, panel)))
        ahead = f.add(numbers["ahead"], begun)
        with f.loop(0, numbers["ahead_rows"]) as row:
            f.prefetch_far(f.integer(f.add(ahead, f.mul(row, numbers["ahead_row"]))))
    with f.loop(0, numbers["last"]):
        step(numbers["last_a"], LINE_BYTES, f.add(numbers["b"], f.mul(numbers["steps"], panel)))
    for i, j, tile in places:
        f.store_tile(tile, sums_at(i, j), numbers["c_row"])
    return f.function(_multiply_name(high, wide))


_COPY_ARGUMENTS = ("rows", "k", "a", "a_at", "a_row", "a_column", "to", "to_at", "to_row")


def _copy_name(element: str) -> str:
    return f"hotdesk_copy_slab_{element}"


def _copy_function(machine: Machine, element: str) -> str:
    """The function that copies a slab into rows of whole tiles, with zeros behind what there is; `to` counts pairs."""
    f = VectorBuilder(machine, "f32")
    numbers, pointers = f.arguments(_COPY_ARGUMENTS, {"a": element, "to": "f32"})
    rows, k, row, column = (numbers[name] for name in ("rows", "k", "a_row", "a_column"))
    a, to = pointers["a"], pointers["to"]

    def source(i: Index, p: Index) -> Index:
        return f.add(numbers["a_at"], f.mul(i, row), f.mul(p, column))

    def target(i: Index, p: Index) -> Index:
        return f.add(numbers["to_at"], f.mul(i, numbers["to_row"]), f.floordiv(p, 2))

    def lines() -> None:
        with f.loop(0, rows) as i, f.loop(0, k, TILE_DEEP) as p:
            f.store_vector(f.load_first_pairs(a, source(i, p), f.sub(k, p)), to, target(i, p))

    def squares() -> None:
        """Rows of a square that are not there are written, too."""
        with f.loop(0, rows, f.lanes) as i, f.loop(0, k, TILE_DEEP) as p:
            there = f.first_lanes(f.sub(rows, i))

            def some(step: int, i: Index = i, p: Index = p, there: str = there) -> str:
                at = f.add(p, step)
                return f.load_masked(a, source(i, at), f.all_or_none(there, f.more(k, at)))

            square = [f.paired(some(step), some(step + 1), element) for step in range(0, TILE_DEEP, 2)]
            for number, pairs in enumerate(f.transpose(square)):
                f.store_vector(pairs, to, target(f.add(i, number), p))

    def elements() -> None:
        halves, zero = f.as_elements(to, element), f.constant("0.0", element)
        padded = f.mul(f.ceildiv(k, TILE_DEEP), TILE_DEEP)
        with f.loop(0, rows) as i:
            begin = f.mul(target(i, 0), 2)
            with f.loop(0, k) as p:
                f.store(f.load(a, source(i, p)), halves, f.add(begin, p))
            with f.loop(k, padded) as p:
                f.store(zero, halves, f.add(begin, p))

    f.first_of(((f.equal(column, 1), lines), (f.equal(row, 1), squares)), elements)
    return f.function(_copy_name(element))


_FINISH_ARGUMENTS = ("rows", "columns", "sums", "sums_at", "sums_row", "c", "c_at", "c_row", "c_column", "add")


def _finish_name(result: str) -> str:
    return f"hotdesk_finish_slab_{result}"


def _finish_function(machine: Machine, result: str) -> str:
    """The function that stores the sums of a slab, or what is there and they: each rounded once."""
    f = VectorBuilder(machine, "f32")
    numbers, pointers = f.arguments(_FINISH_ARGUMENTS, {"sums": "f32", "c": result})
    rows, columns, row, column = (numbers[name] for name in ("rows", "columns", "c_row", "c_column"))
    sums, c, add = pointers["sums"], pointers["c"], numbers["add"]

    def found(i: Index, j: Index) -> str:
        return f.load_vector(sums, f.add(numbers["sums_at"], f.mul(i, numbers["sums_row"]), j))

    def place(i: Index, j: Index) -> Index:
        return f.add(numbers["c_at"], f.mul(i, row), f.mul(j, column))

    def store(values: Sequence[str], places: Sequence[Index], masks: Sequence[str], *, adds: bool) -> None:
        if adds:
            before = [f.load_masked_wide(c, at, mask) for at, mask in zip(places, masks, strict=True)]
            values = [f.add_vectors(*both) for both in zip(before, values, strict=True)]
        if result != "f32":
            values = f.all_narrowed(values, result)
        for value, at, mask in zip(values, places, masks, strict=True):
            f.store_masked(value, c, at, mask)

    def in_rows(*, adds: bool) -> None:
        with f.loop(0, rows) as i, f.loop(0, columns, SLAB) as j:
            each = [f.add(j, first) for first in range(0, SLAB, f.lanes)]
            masks = [f.first_lanes(f.sub(columns, first)) for first in each]
            store([found(i, first) for first in each], [place(i, first) for first in each], masks, adds=adds)

    def in_columns(*, adds: bool) -> None:
        with f.loop(0, rows, f.lanes) as i, f.loop(0, columns, f.lanes) as j:
            square = f.transpose([found(f.add(i, number), j) for number in range(f.lanes)])
            there, left = f.first_lanes(f.sub(rows, i)), f.sub(columns, j)
            masks = [f.all_or_none(there, f.more(left, number)) for number in range(f.lanes)]
            store(square, [place(i, f.add(j, number)) for number in range(f.lanes)], masks, adds=adds)

    def elements() -> None:
        with f.loop(0, rows) as i, f.loop(0, columns) as j:
            value = f.load(sums, f.add(numbers["sums_at"], f.mul(i, numbers["sums_row"]), j))
            f.store_or_add(value, c, place(i, j), add)

    def either(way: partial[None]) -> None:
        f.branch(add, partial(way, adds=True), partial(way, adds=False))

    ways = (
        (f.equal(column, 1), lambda: either(partial(in_rows))),
        (f.equal(row, 1), lambda: either(partial(in_columns))),
    )
    f.first_of(ways, elements)
    return f.function(_finish_name(result))


class _TiledProduct:
    """Writes the function of a product: how it is cut, then the loops over its blocks.

    In scratch memory lie the packed columns of b, sums, and a slab of a whose rows' elements lie apart.
    """

    def __init__(self, machine: Machine, element: str, result: str) -> None:
        self.element, self.result = element, result
        self.f = f = VectorBuilder(machine, "f32")
        self.m, self.n, self.k = f.number("m"), f.number("n"), f.number("k")
        types = {"a": element, "b": element, "c": result}
        self.a, self.b, self.c = (
            Matrix(f.pointer(x, types[x]), *(f.number(f"{x}_{each}") for each in ("at", "row", "column")))
            for x in "abc"
        )
        self.add = f.flag("add")
        self.in_rows = f.equal(self.a.column, 1)
        self._cut(machine)
        self.last_slab = f.scratch(SLAB * TILE_DEEP // 2)  # what is left of k behind whole tiles

    def _cut(self, machine: Machine) -> None:
        """How many steps of k, columns of b and rows of a are computed together, and the memory for them."""
        f = self.f
        room = machine.l2_bytes // 2
        deep = even(f, f.maximum(self.k, 1), _DEEPEST, TILE_DEEP)
        most = f.maximum(SLAB, f.mul(f.floordiv(room // 2, f.mul(deep, SLAB)), SLAB))
        wide = even(f, f.maximum(self.n, 1), most, SLAB)
        own_size = self._room(SLAB, _SHORT, SLAB)
        assert isinstance(own_size, int)
        self.own = f.scratch(own_size)
        waiting = f.select(f.more(self.k, deep), _WAITING, SLAB)
        self.memory = f.take_scratch(CONVERTED, f.mul(self._room(wide, deep, waiting), 4), self.own)
        short = f.same_memory(self.memory, self.own)
        self.deep = f.select(short, f.minimum(deep, _SHORT), deep)
        self.wide = f.select(short, SLAB, wide)
        self.waiting = f.select(short, SLAB, waiting)
        self.cut = f.more(self.k, self.deep)
        self.sums_row = f.add(self.wide, _PADDING)
        self.sums_at = f.mul(self.wide, f.floordiv(self.deep, 2))
        self.slab_at = f.add(self.sums_at, f.mul(self.waiting, self.sums_row))
        self.slab_row = f.add(f.floordiv(self.deep, 2), _PADDING)

    def _room(self, wide: Index, deep: Index, rows: Index) -> Index:
        """Elements of f32 that packed columns, sums and a slab take."""
        f = self.f
        half = f.floordiv(deep, 2)
        return f.add(f.mul(wide, half), f.mul(rows, f.add(wide, _PADDING)), f.mul(f.add(half, _PADDING), SLAB))

    def function(self) -> str:
        f = self.f
        with f.steps(0, self.n, self.wide) as j, f.steps(0, self.m, self.waiting) as i:
            columns = f.minimum(self.wide, f.sub(self.n, j))
            height = f.minimum(self.waiting, f.sub(self.m, i))
            with f.steps(0, f.maximum(self.k, 1), self.deep) as p:
                here = f.minimum(self.deep, f.sub(self.k, p))
                packs = f.either(self.cut, f.equal(i, 0))
                f.branch(packs, lambda p=p, j=j, here=here, columns=columns: self._pack(p, j, here, columns))
                with f.loop(0, height, SLAB) as s:
                    self._slab((f.add(i, s), s, f.minimum(SLAB, f.sub(height, s))), (j, columns), (p, here))
        f.release_tiles()
        f.give_scratch(self.memory, self.own)
        return f.function(tiles_name(self.element, self.result))

    def _pack(self, p: Index, j: Index, here: Index, columns: Index) -> None:
        """Packs columns of b, and zeros behind what is left of k; where rows lie together, some of all columns at a time."""
        f, b = self.f, self.b
        zeros, whole = f.zeros(), f.mul(f.floordiv(here, TILE_DEEP), TILE_DEEP)
        panel = f.mul(f.ceildiv(here, TILE_DEEP), TILE_ROWS * SLAB)

        def clear() -> None:
            with f.loop(0, f.ceildiv(columns, SLAB)) as q, f.loop(0, TILE_ROWS * SLAB, f.lanes) as each:
                f.store_vector(zeros, self.memory, f.add(f.mul(q, panel), f.mul(whole, SLAB // 2), each))

        f.branch(f.more(here, whole), clear)
        at_once = f.select(f.equal(b.column, 1), TILE_DEEP, f.maximum(here, 1))
        types = kinds(PACK_ARGUMENTS, "f32")
        types[PACK_ARGUMENTS.index("b")] = f"memref<{self.element}>"
        with f.steps(0, here, at_once) as first, f.loop(0, columns, SLAB) as q:
            source, rows = b.moved(f, f.add(p, first), f.add(j, q)), f.minimum(at_once, f.sub(here, first))
            to = f.add(f.mul(f.floordiv(q, SLAB), panel), f.mul(first, SLAB // 2))
            values = [rows, f.minimum(SLAB, f.sub(columns, q)), *source.arguments, self.memory.pointer, to]
            f.call_local(pack_pairs_name(self.element), list(zip(values, types, strict=True)))

    def _slab(self, rows: tuple[Index, Index, Index], columns: tuple[Index, Index], steps: tuple[Index, Index]) -> None:
        """Sums of a slab: where it begins in a and among those that wait, how many rows it has; which columns and steps of k."""
        f, (row, waiting, height), (_, wide), (p, here) = self.f, rows, columns, steps
        begins = f.both(f.equal(waiting, 0), f.either(f.equal(row, 0), f.at_least(p, 1)))
        other = f.either(begins, f.more(SLAB, height))  # than that of the slab before
        f.branch(other, lambda: f.call_local(CONFIGURE, [(height, "index")]))
        a = self.a.moved(f, row, p)
        tiles = f.floordiv(here, TILE_DEEP)
        left = f.sub(here, f.mul(tiles, TILE_DEEP))
        f.branch(self.in_rows, lambda: self._copy_last(a, height, tiles, left), lambda: self._copy_all(a, height, here))
        whole, last = f.select(self.in_rows, tiles, f.ceildiv(here, TILE_DEEP)), f.minimum(left, 1)
        last = f.select(self.in_rows, last, 0)
        copied = f.place(self.memory, self.slab_at, 4)
        start = f.select(self.in_rows, f.place(a.memory, a.at, 2), copied)
        apart = f.select(self.in_rows, f.mul(self.a.row, 2), f.mul(self.slab_row, 4))
        panels = f.ceildiv(wide, SLAB)
        more = f.both(self.in_rows, f.more(self.m, f.add(row, SLAB)))
        asked = f.select(more, f.ceildiv(SLAB, panels), 0)  # rows of the next slab, for each panel
        panel = f.mul(f.ceildiv(here, TILE_DEEP), TILE_ROWS * _ROW_BYTES)
        sums = f.add(self.sums_at, f.mul(waiting, self.sums_row))
        deep = f.maximum(1, even(f, f.maximum(whole, 1), _DEEP // TILE_DEEP, 1))
        with f.steps(0, f.maximum(whole, 1), deep) as t:
            some = f.minimum(deep, f.sub(whole, t))
            ends = f.at_least(f.add(t, deep), whole)
            begun = f.either(f.at_least(t, 1), f.at_least(p, 1))
            begin = f.add(start, f.mul(t, LINE_BYTES))
            with f.loop(0, panels) as q:
                done = f.mul(q, asked)
                given: dict[str, Index] = {"steps": some, "a": begin, "a_row": apart}
                given |= {"last": f.select(ends, last, 0), "last_a": f.place(self.last_slab, 0, 4)}
                b = f.add(f.mul(q, panel), f.mul(t, TILE_ROWS * _ROW_BYTES))
                given |= {"b": f.add(f.place(self.memory, 0, 4), b)}
                given |= {"c": f.place(self.memory, f.add(sums, f.mul(q, SLAB)), 4), "c_row": f.mul(self.sums_row, 4)}
                given |= {"ahead": f.add(begin, f.mul(f.add(done, SLAB), apart)), "ahead_row": apart}
                given |= {"ahead_rows": f.maximum(0, f.minimum(asked, f.sub(SLAB, done))), "add": str(begun)}
                self._multiply(height, f.sub(wide, f.mul(q, SLAB)), given)
        f.branch(f.at_least(f.add(p, here), self.k), lambda: self._finish((row, height), columns, sums))

    def _copy_last(self, a: Matrix, height: Index, tiles: Index, left: Index) -> None:
        """Copies what is left of k, if there is any."""
        f = self.f
        rest = a.moved(f, 0, f.mul(tiles, TILE_DEEP))
        f.branch(f.at_least(left, 1), lambda: self._copy(rest, height, left, self.last_slab, 0, TILE_DEEP // 2))

    def _copy_all(self, a: Matrix, height: Index, here: Index) -> None:
        self._copy(a, height, here, self.memory, self.slab_at, self.slab_row)

    def _copy(self, a: Matrix, height: Index, k: Index, to: Operand, to_at: Index, to_row: Index) -> None:
        pointers = {"a": f"memref<{self.element}>", "to": "memref<f32>"}
        values = [height, k, *a.arguments, to.pointer, to_at, to_row]
        types = [pointers.get(name, "index") for name in _COPY_ARGUMENTS]
        self.f.call_local(_copy_name(self.element), list(zip(values, types, strict=True)))

    def _multiply(self, height: Index, columns: Index, given: dict[str, Index]) -> None:
        """One slab by one panel, both of one or two tiles."""
        f = self.f
        passed = [(given[name], "i1" if name == "add" else "index") for name in _MULTIPLY_ARGUMENTS]
        low, narrow = f.at_least(TILE_ROWS, height), f.at_least(TILE_ROWS, columns)

        def of(high: int, condition: Condition) -> None:
            f.branch(
                condition,
                lambda: f.call_local(_multiply_name(high, 1), passed),
                lambda: f.call_local(_multiply_name(high, 2), passed),
            )

        f.branch(low, lambda: of(1, narrow), lambda: of(2, narrow))

    def _finish(self, rows: tuple[Index, Index], columns: tuple[Index, Index], sums: Index) -> None:
        f, (row, height), (j, wide) = self.f, rows, columns
        pointers = {"sums": "memref<f32>", "c": f"memref<{self.result}>", "add": "i1"}
        values = [height, wide, self.memory.pointer, sums, self.sums_row, *self.c.moved(f, row, j).arguments, self.add]
        types = [pointers.get(name, "index") for name in _FINISH_ARGUMENTS]
        f.call_local(_finish_name(self.result), list(zip(values, types, strict=True)))
