"""Products of 16-bit floats on one thread: blocks of both operands become f32, and the products of that type sum them.

Where elements that are broadcast lie together along k, as in the product of a Linear:

    for a block of c, some columns of some hundred rows:
      for each block of k:  panels of b, converted while they are packed
        for some rows:  those of a, converted;  for each panel:  sums (+)= their product
      c = sums, rounded once; where c is f32, it is the sums, and has all rows

Else:

    for a block of c, as many rows and columns as its sums in f32 fit the second cache with the rest:
      for each block of k:  blocks of a and b, converted; sums (+)= their product
      c = sums, rounded once; where c is f32, it is the sums

Where the machine adds products of pairs of them to sums in f32 (`Machine.sums_pairs`), those of the first kind become panels of
pairs instead, of twice as many steps of k, and some rows of a are copied as they are.

Where it multiplies whole tiles (`Machine.multiplies_tiles`), all of this is done by these (`tiles`), whatever the strides.

So a result is as exact as f32 sums are, whatever the length of k. Blocks are kept the way round in which elements lie together.
They are scratch memory (`scratch`), or, where there is none, smaller and on the stack. Where the result has few rows or columns
and what is summed lies together, or it has one row and those of the other operand lie together, nothing is converted in memory
(`skinny`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from hotdesk.kernels.blocks import (
    PRODUCT_ARGUMENTS,
    SWEEP_ARGUMENTS,
    Matrix,
    asked_ahead,
    depth,
    even,
    kinds,
    sweep_function,
    sweep_name,
)
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import LINE_BYTES, Tile, scatter_function, tile_function
from hotdesk.kernels.packing import PACK_ARGUMENTS, pack_function, pack_name, pack_pairs_function, pack_pairs_name
from hotdesk.kernels.product import product_name
from hotdesk.kernels.scratch import CONVERTED, DECLARED
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
from hotdesk.kernels.tiles import multiply_by_tiles, tiles_functions
from hotdesk.kernels.vectors import VectorBuilder

# What things cost, in 1/16 of a cycle, as in `product`; an element of a panel is converted on the way, one of a block by itself.
_SUM, _BY_ROWS, _BY_SQUARES, _ONE_BY_ONE, _CONVERTED, _AS_VECTOR, _IN_SQUARES, _ALONE = 16, 4, 5, 24, 4, 2, 8, 24
_DOT = 256  # the cost of a dot product beside its multiplications
_DOT_STEPS = 64  # steps of k for each column left over, from which on dot products are worth it
_SIDE, _DEEP = 192, 512  # rows and columns of a block of c, steps of k
_SHORT_SIDE, _SHORT_DEEP = 16, 32  # the same on the stack
_SHORT_PANEL = 64  # steps of k of the panel that is on the stack where there is no memory for several
_SUMMED_ROWS = 256  # of a 16-bit result, for which panels are packed again
_ROW = 1024  # sums of a result of one row that are on the stack
_TILES = 1  # of rows, which are converted at a time: they stay in the nearest cache
_LINES_AHEAD = 4  # lines of a block, which is a part of a matrix: the processor does not see the next one coming
_PADDING = 16  # elements between rows of a block, which else might share a set of the nearest cache


def half_functions(machine: Machine, element: str, result: str) -> str:
    """The functions of products of `element`; unless these are by tiles, they call that of f32 products, of another module."""
    texts = [convert_function(machine, element, widen=True), convert_function(machine, element, widen=False)]
    texts += [rows_function(machine, element)]
    texts += [dots_function(machine, element, rows, to) for to in sorted({result, "f32"}) for rows in (1, MOST_ROWS)]
    if machine.multiplies_tiles(element):
        declared = ""
        texts.append(tiles_functions(machine, element, result))
    else:
        layout = _Layout.of(machine, element)
        declared = f"func.func private @{product_name('f32')}({', '.join(kinds(PRODUCT_ARGUMENTS, 'f32'))})\n"
        declared += f"func.func private @{layout.sweep}({', '.join(kinds(SWEEP_ARGUMENTS, 'f32'))})\n"
        texts.append(layout.functions(machine))
    texts.append(_product(machine, element, result))
    return declared + DECLARED.format(element="f32") + "".join(texts)


def pair_functions(machine: Machine, element: str) -> str:
    """The functions that multiply and add pairs, for machines that have an instruction for them."""
    texts = [scatter_function(machine, "f32"), sweep_function(machine, element)]
    texts += [tile_function(machine, element, rows, vectors) for rows, vectors in Tile.of(machine).parts]
    return "".join(texts)


def convert_name(element: str, *, widen: bool) -> str:
    return f"hotdesk_{'widen' if widen else 'narrow'}_{element}"


def convert_kinds(element: str) -> list[str]:
    """Types of the arguments of `convert_function`."""
    return ["index", "index", f"memref<{element}>", "index", "index", "index", "memref<f32>", "index", "index"]


def convert_function(machine: Machine, element: str, *, widen: bool) -> str:
    """The function that converts a block: `wide` is f32 in rows that lie together, `half` has any strides."""
    f = VectorBuilder(machine, "f32")
    outer, inner = f.number("outer"), f.number("inner")
    half, half_at = f.pointer("half", element), f.number("half_at")
    outer_step, inner_step = f.number("outer_step"), f.number("inner_step")
    wide, wide_at, wide_step = f.pointer("wide"), f.number("wide_at"), f.number("wide_step")

    def some(there: Index, here: Index, first: Index, count: int) -> None:
        """Converts so many vectors."""
        places = [f.add(first, each * f.lanes) for each in range(count)]
        if widen:
            for j in places:
                f.store_vector(f.load_wide(half, f.add(there, j)), wide, f.add(here, j))
            return
        found = f.all_narrowed([f.load_vector(wide, f.add(here, j)) for j in places], element)
        for value, j in zip(found, places, strict=True):
            f.store_vector(value, half, f.add(there, j))

    def last(there: Index, here: Index, count: Index) -> None:
        """Converts what is less than a vector."""
        if machine.masks_of(element):
            rest = f.first_lanes(count)
            if widen:
                f.store_masked(f.widened(f.load_masked(half, there, rest), element), wide, here, rest)
            else:
                (found,) = f.all_narrowed([f.load_masked(wide, here, rest)], element)
                f.store_masked(found, half, there, rest)
            return
        with f.loop(0, count) as j:
            one(f.add(there, j), f.add(here, j))

    def one(there: Index, here: Index) -> None:
        if widen:
            f.store(f.load_wide(half, there, vector=False), wide, here)
        else:
            f.store(f.narrowed(f.load(wide, here), element, lanes=0), half, there)

    def vectors() -> None:
        line = max(f.lanes, LINE_BYTES // 2)
        in_lines, whole = (f.sub(inner, f.mod(inner, each)) for each in (line, f.lanes))
        with f.loop(0, outer) as i:
            there, here = f.add(half_at, f.mul(i, outer_step)), f.add(wide_at, f.mul(i, wide_step))
            with f.loop(0, in_lines, line) as j:
                if widen:
                    later = f.place(half, f.add(there, j, f.mul(_LINES_AHEAD, outer_step)), 2)
                    f.prefetch_far(f.integer(later))
                some(there, here, j, line // f.lanes)
            with f.loop(in_lines, whole, f.lanes) as j:
                some(there, here, j, 1)
            last(f.add(there, whole), f.add(here, whole), f.sub(inner, whole))

    def elements() -> None:
        with f.loop(0, outer) as i, f.loop(0, inner) as j:
            there = f.add(half_at, f.dot((i, j), (outer_step, inner_step)))
            one(there, f.add(wide_at, f.mul(i, wide_step), j))

    f.branch(f.equal(inner_step, 1), vectors, elements)
    return f.function(convert_name(element, widen=widen))


def _pairs_name(element: str) -> str:
    return f"hotdesk_copy_pairs_{element}"


def _copy_pairs_function(machine: Machine, element: str) -> str:
    """The function that copies rows of a block as pairs, behind the last of an odd number a 0: whole vectors of them.

    It takes what that of `convert_function` does.
    """
    f = VectorBuilder(machine, "f32")
    outer, inner = f.number("outer"), f.number("inner")
    half, half_at = f.pointer("half", element), f.number("half_at")
    outer_step = f.number("outer_step")
    f.number("inner_step")  # 1
    pairs, pairs_at, pairs_step = f.pointer("pairs"), f.number("pairs_at"), f.number("pairs_step")
    line = 2 * f.lanes
    whole = f.sub(inner, f.mod(inner, line))
    with f.loop(0, outer) as i:
        there, here = f.add(half_at, f.mul(i, outer_step)), f.add(pairs_at, f.mul(i, pairs_step))
        with f.loop(0, whole, line) as j:
            f.prefetch_far(f.integer(f.place(half, f.add(there, j, f.mul(_LINES_AHEAD, outer_step)), 2)))
            f.store_vector(f.load_pairs(half, f.add(there, j)), pairs, f.add(here, f.floordiv(j, 2)))
        with f.loop(whole, inner, line) as j:
            rest = f.load_first_pairs(half, f.add(there, j), f.sub(inner, j))
            f.store_vector(rest, pairs, f.add(here, f.floordiv(j, 2)))
    return f.function(_pairs_name(element))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How panels of a type hold it, and the functions that fill them, copy rows of the other operand, and multiply.

    Attributes:
        together: steps of k in an element of a panel.
        pack, copy, sweep: names of the functions.
    """

    element: str
    together: int
    pack: str
    copy: str
    sweep: str

    @classmethod
    def of(cls, machine: Machine, element: str) -> _Layout:
        if machine.sums_pairs(element):
            return cls(element, 2, pack_pairs_name(element), _pairs_name(element), sweep_name(element))
        return cls(element, 1, pack_name(element), convert_name(element, widen=True), sweep_name("f32"))

    def functions(self, machine: Machine) -> str:
        """Those that pack and copy, but for what `convert_function` writes."""
        vectors = Tile.of(machine).vectors
        if self.together == 1:
            return pack_function(machine, "f32", vectors, self.element)
        return pack_pairs_function(machine, self.element, vectors) + _copy_pairs_function(machine, self.element)

    def multiple(self, f: VectorBuilder) -> int:
        """What the steps of k of all blocks but the last are a multiple of."""
        return 1 if self.together == 1 else self.together * f.lanes

    def elements(self, f: VectorBuilder, k: Index) -> Index:
        """Elements of a panel, or of a row, that so many steps of k take."""
        return k if self.together == 1 else f.ceildiv(k, self.together)

    def are_whole(self, f: VectorBuilder, rows: Matrix, k: Index) -> Condition:
        """Whether rows whose elements lie together are rows of pairs, where they are."""
        return f.equal(f.add(*(f.mod(each, self.together) for each in (k, rows.row, rows.at))), 0)

    def where(self, f: VectorBuilder, rows: Matrix) -> dict[str, Index]:
        """Such rows, as arguments of a sweep."""
        at, row = (f.floordiv(each, self.together) for each in (rows.at, rows.row))
        return {"a": f.as_elements(rows.memory, "f32").pointer, "a_at": at, "a_row": row}


@dataclass(frozen=True, slots=True)
class WidenedBlock:
    """Part of a matrix of halves, and where it is in f32: rows of it, or columns where those lie together."""

    half: Matrix
    rows: Index
    columns: Index
    wide: Operand
    at: Index

    def _in_columns(self, f: VectorBuilder) -> Condition:
        return f.both(f.equal(self.half.row, 1), f.negation(f.equal(self.half.column, 1)))

    def _step(self, f: VectorBuilder) -> Index:
        return f.add(f.select(self._in_columns(f), self.rows, self.columns), _PADDING)

    def matrix(self, f: VectorBuilder) -> Matrix:
        """The block in f32."""
        turned, step = self._in_columns(f), self._step(f)
        return Matrix(self.wide, self.at, f.select(turned, 1, step), f.select(turned, step, 1))

    def convert(self, f: VectorBuilder, element: str, *, widen: bool) -> None:
        turned = self._in_columns(f)
        lengths = f.select(turned, self.columns, self.rows), f.select(turned, self.rows, self.columns)
        steps = f.select(turned, self.half.column, self.half.row), f.select(turned, self.half.row, self.half.column)
        values = [*lengths, self.half.memory.pointer, self.half.at, *steps, self.wide.pointer, self.at, self._step(f)]
        f.call_local(convert_name(element, widen=widen), list(zip(values, convert_kinds(element), strict=True)))


def half_product_name(element: str, result: str) -> str:
    """The function of a product on one thread."""
    return f"hotdesk_alone_{element}_{result}"


def _room(side: Index, other: Index, f: VectorBuilder) -> Index:
    """Elements of a block, either way round."""
    return f.mul(f.add(side, _PADDING), f.add(other, _PADDING))


def _product(machine: Machine, element: str, result: str) -> str:
    f, layout = VectorBuilder(machine, "f32"), _Layout.of(machine, element)
    m, n, k = f.number("m"), f.number("n"), f.number("k")
    types = {"a": element, "b": element, "c": result}
    a, b, c = (
        Matrix(f.pointer(x, types[x]), *(f.number(f"{x}_{each}") for each in ("at", "row", "column"))) for x in "abc"
    )
    add = f.flag("add")

    def blocks() -> None:
        tall, wide, deep = even(f, m, _SIDE, 1), even(f, n, _SIDE, 1), even(f, f.maximum(k, 1), _DEEP, 1)
        room = f.add(_room(tall, deep, f), _room(deep, wide, f), _room(tall, wide, f))
        least = 2 * (_SHORT_SIDE + _PADDING) * (_SHORT_DEEP + _PADDING) + (_SHORT_SIDE + _PADDING) ** 2
        own = f.scratch(least)
        memory = f.take_scratch(CONVERTED, f.mul(room, 4), own)
        short = f.same_memory(memory, own)
        tall, wide = (f.select(short, f.minimum(side, _SHORT_SIDE), side) for side in (tall, wide))
        deep = f.select(short, f.minimum(deep, _SHORT_DEEP), deep)
        b_at = _room(tall, deep, f)
        c_at = f.add(b_at, _room(deep, wide, f))
        with f.steps(0, m, tall) as i, f.steps(0, n, wide) as j:
            rows, columns = f.minimum(tall, f.sub(m, i)), f.minimum(wide, f.sub(n, j))
            sums = WidenedBlock(c.moved(f, i, j), rows, columns, memory, c_at)
            if result != "f32":
                f.branch(add, lambda: sums.convert(f, element, widen=True))
            # Without anything to sum a product of depth 0 clears the sums.
            with f.steps(0, f.maximum(k, 1), deep) as p:
                here = f.minimum(deep, f.sub(k, p))
                left = WidenedBlock(a.moved(f, i, p), rows, here, memory, 0)
                right = WidenedBlock(b.moved(f, p, j), here, columns, memory, b_at)
                left.convert(f, element, widen=True)
                right.convert(f, element, widen=True)
                total = sums.half if result == "f32" else sums.matrix(f)
                matrices = (each.arguments for each in (left.matrix(f), right.matrix(f), total))
                adds = f.either(add, f.at_least(p, 1))
                values = [rows, columns, here, *(value for each in matrices for value in each), str(adds)]
                f.call_local(product_name("f32"), list(zip(values, kinds(PRODUCT_ARGUMENTS, "f32"), strict=True)))
            if result != "f32":
                sums.convert(f, element, widen=False)
        f.give_scratch(memory, own)

    def dots(rows: Index, columns: Index, left: Matrix, right: Matrix, to: Matrix) -> None:
        values = [rows, columns, k, left.memory.pointer, left.at, left.row]
        values += [right.memory.pointer, right.at, right.column, *to.arguments, add]
        given = list(zip(values, kinds(DOTS_ARGUMENTS, element, result), strict=True))

        def of(most: int) -> None:
            f.call_local(dots_name(element, most, result), given)

        f.branch(f.equal(rows, 1), lambda: of(1), lambda: of(MOST_ROWS))

    def add_rows(columns: Index, left: Matrix, right: Matrix, to: Matrix) -> None:
        types = kinds(ROWS_ARGUMENTS, element)
        types[ROWS_ARGUMENTS.index("c")] = "memref<f32>"

        def some(count: Index, first: Index, memory: Operand, at: Index) -> None:
            """Sums of so many columns."""
            values = [count, k, left.memory.pointer, left.at, left.column, right.memory.pointer]
            values += [f.add(right.at, first), right.row, memory.pointer, at, add]
            f.call_local(rows_name(element), list(zip(values, types, strict=True)))

        if result == "f32":
            some(columns, 0, to.memory, to.at)
            return
        row = f.scratch(_ROW)
        with f.loop(0, columns, _ROW) as j:
            count = f.minimum(_ROW, f.sub(columns, j))
            sums = WidenedBlock(to.moved(f, 0, j), 1, count, row, 0)
            f.branch(add, partial(sums.convert, f, element, widen=True))
            some(count, j, row, 0)
            sums.convert(f, element, widen=False)

    def panels(rows: Index, columns: Index, left: Matrix, right: Matrix, to: Matrix) -> None:
        _panels(f, layout, result, (rows, columns, k), left, right, to, add)

    def by_panels() -> None:
        as_it_is, turned = (
            _cost(f, layout, result, *each)
            for each in ((m, n, k, a, b, c), (n, m, k, b.transpose, a.transpose, c.transpose))
        )
        f.branch(
            f.at_least(turned, as_it_is),
            lambda: panels(m, n, a, b, c),
            lambda: panels(n, m, b.transpose, a.transpose, c.transpose),
        )

    def by_tiles() -> None:
        multiply_by_tiles(f, element, result, (m, n, k), a, b, c, add=add)

    along_k = f.both(f.equal(a.column, 1), f.equal(b.row, 1))
    one_row = f.both(f.equal(m, 1), f.both(f.equal(b.column, 1), f.equal(c.column, 1)))
    one_column = f.both(f.equal(n, 1), f.both(f.equal(a.row, 1), f.equal(c.row, 1)))
    fits = f.both(f.either(f.equal(a.column, 1), f.equal(b.row, 1)), f.at_least(k, 1))
    ways = [
        (f.either(f.equal(m, 0), f.equal(n, 0)), lambda: None),
        (f.both(along_k, f.at_least(MOST_ROWS, m)), lambda: dots(m, n, a, b, c)),
        (f.both(along_k, f.at_least(MOST_ROWS, n)), lambda: dots(n, m, b.transpose, a.transpose, c.transpose)),
        (one_row, lambda: add_rows(n, a, b, c)),
        (one_column, lambda: add_rows(m, b.transpose, a.transpose, c.transpose)),
    ]
    if machine.multiplies_tiles(element):
        f.first_of(ways, by_tiles)
    else:
        f.first_of([*ways, (fits, by_panels)], blocks)
    return f.function(half_product_name(element, result))


def _cost(
    f: VectorBuilder,
    layout: _Layout,
    result: str,
    rows: Index,
    columns: Index,
    k: Index,
    left: Matrix,
    right: Matrix,
    to: Matrix,
) -> Index:
    """What `_panels` takes, in 1/16 of a cycle; more than anything where rows of the left operand do not lie together."""
    tile = Tile.of(f.machine)
    over = _left_over(f, layout, columns, k)
    panels = f.ceildiv(f.sub(columns, over), tile.narrow * f.lanes)
    sums = f.mul(f.mul(f.mul(rows, panels), k), tile.narrow * _SUM // layout.together)
    sums = f.add(sums, f.mul(f.mul(rows, over), f.add(f.floordiv(k, layout.together), _DOT)))
    gathered = f.select(f.equal(right.row, 1), _BY_SQUARES, _ONE_BY_ONE)
    each = f.select(f.equal(right.column, 1), _BY_ROWS, gathered)
    packed = f.mul(f.mul(columns, k), each)
    apart = f.select(f.equal(to.row, 1), _IN_SQUARES, _ALONE)
    stored = f.mul(f.mul(rows, columns), f.select(f.equal(to.column, 1), _AS_VECTOR, apart))
    converted = f.mul(f.mul(f.mul(rows, k), _CONVERTED), f.ceildiv(columns, _most_columns(f.machine, result)))
    found = f.add(sums, packed, converted, f.mul(stored, f.ceildiv(k, layout.together * _deepest(f.machine))))
    return f.select(f.equal(left.column, 1), found, 1 << 62)


def _left_over(f: VectorBuilder, layout: _Layout, columns: Index, k: Index) -> Index:
    """How many of the last columns are dot products with rows of the left operand, as they are fewer than fill a vector."""
    over = f.mod(columns, Tile.of(f.machine).narrow * f.lanes)
    few = f.both(f.at_least(over, 1), f.at_least(MOST_ROWS, over))
    worth = f.both(f.at_least(columns, f.lanes), f.at_least(k, f.mul(over, _DOT_STEPS * layout.together)))
    return f.select(f.both(few, worth), over, 0)


def _most_columns(machine: Machine, result: str) -> int:
    """Columns of the panels that are packed at a time: so many that they, and sums beside them, take half of the second cache."""
    wide, deep = Tile.of(machine).columns(machine, "f32"), _deepest(machine)
    each = deep if result == "f32" else deep + _SUMMED_ROWS
    return max(1, machine.l2_bytes // 8 // (each * wide)) * wide


def _deepest(machine: Machine) -> int:
    """Steps of k of panels: twice those for which one fits the nearest cache, which has rows for it too."""
    return 2 * depth(machine)


def _panels(
    f: VectorBuilder,
    layout: _Layout,
    result: str,
    sizes: tuple[Index, Index, Index],
    a: Matrix,
    b: Matrix,
    c: Matrix,
    add: str,
) -> None:
    """A product whose right operand is converted while panels of it are packed, and the left one some rows at a time.

    Sums of a 16-bit result are in f32 behind the panels, for `_SUMMED_ROWS` rows at a time; those of f32 are c itself. A few
    columns that are left over are copied behind all of that, one after the other, and summed as dot products with some rows.
    """
    element, (m, n, k) = layout.element, sizes
    tile, deepest = Tile.of(f.machine), _deepest(f.machine)
    width, tall = tile.columns(f.machine, "f32"), _TILES * tile.rows
    deep = even(f, k, layout.together * deepest, layout.multiple(f))
    long = layout.elements(f, deep)
    over = _left_over(f, layout, n, k)
    in_panels = f.sub(n, over)
    wide = even(f, in_panels, _most_columns(f.machine, result), width)
    summed = m if result == "f32" else even(f, m, _SUMMED_ROWS, tall)
    over_room = MOST_ROWS * layout.together * deepest // 2
    short_room = MOST_ROWS * layout.together * _SHORT_PANEL // 2 + (
        0 if result == "f32" else (tall + _PADDING) * (width + MOST_ROWS + _PADDING)
    )
    block, own = f.scratch(tall * (deepest + _PADDING)), f.scratch(_SHORT_PANEL * width + short_room)

    def room_of(wide: Index, summed: Index) -> Index:
        """Elements of panels and sums."""
        panels = f.mul(wide, long)
        return panels if result == "f32" else f.add(panels, _room(summed, f.add(wide, MOST_ROWS), f))

    memory = f.take_scratch(CONVERTED, f.mul(f.add(room_of(wide, summed), over_room), 4), own)
    short = f.same_memory(memory, own)
    wide, deep = f.select(short, width, wide), f.select(short, f.minimum(deep, layout.together * _SHORT_PANEL), deep)
    long = layout.elements(f, deep)
    if result != "f32":
        summed = f.select(short, tall, summed)
    sums_at, step = f.mul(wide, long), f.add(long, _PADDING)
    last_columns, last_at = f.as_elements(memory, element), f.mul(room_of(wide, summed), 2)
    types = kinds(PACK_ARGUMENTS, "f32")
    types[PACK_ARGUMENTS.index("b")] = f"memref<{element}>"
    with f.steps(0, in_panels, wide) as j, f.steps(0, m, summed) as first:
        columns, height = f.minimum(wide, f.sub(in_panels, j)), f.minimum(summed, f.sub(m, first))
        last = f.select(f.more(in_panels, f.add(j, columns)), 0, over)
        sums = WidenedBlock(c.moved(f, first, j), height, f.add(columns, last), memory, sums_at)
        total = sums.half if result == "f32" else sums.matrix(f)
        if result != "f32":
            f.branch(add, partial(sums.convert, f, element, widen=True))
        with f.steps(0, k, deep) as p:
            here = f.minimum(deep, f.sub(k, p))
            with f.loop(0, columns, width) as q:
                source, some = b.moved(f, p, f.add(j, q)), f.minimum(width, f.sub(columns, q))
                values = [here, some, *source.arguments, memory.pointer, f.mul(q, long)]
                f.call_local(layout.pack, list(zip(values, types, strict=True)))
            with f.loop(0, last) as q, f.loop(0, here) as each:
                source = b.moved(f, f.add(p, each), f.add(in_panels, q))
                f.store(f.load(b.memory, source.at), last_columns, f.add(last_at, f.mul(q, deep), each))
            adds = str(f.either(add, f.at_least(p, 1)))

            def sweep(rows: Index, q: Index, left: dict[str, Index], to: Matrix, ahead: dict[str, Index]) -> None:
                """A panel, for some rows."""
                given: dict[str, Index] = {"m": rows, "k": layout.elements(f, here), **left, **ahead}
                given |= {"b": memory.pointer, "b_at": f.mul(q, long), "b_row": width, "c": to.memory.pointer}
                given |= {"c_at": to.at, "c_row": to.row, "c_column": to.column}
                given |= {"columns": f.minimum(width, f.sub(columns, q)), "add": adds}
                of_sweep = zip((given[name] for name in SWEEP_ARGUMENTS), kinds(SWEEP_ARGUMENTS, "f32"), strict=True)
                f.call_local(layout.sweep, list(of_sweep))

            def dots(rows: Index, left: Matrix, to: Matrix) -> None:
                """The columns that are left over, if any, for some rows as they are."""
                values = [last, rows, here, last_columns.pointer, last_at, deep, left.memory.pointer, left.at, left.row]
                given = list(
                    zip([*values, *to.transpose.arguments, adds], kinds(DOTS_ARGUMENTS, element, "f32"), strict=True)
                )

                def of(most: int) -> None:
                    f.call_local(dots_name(element, most, "f32"), given)

                f.first_of(((f.equal(last, 0), lambda: None), (f.equal(last, 1), lambda: of(1))), lambda: of(MOST_ROWS))

            def copied() -> None:
                """Some rows of a at a time, for all panels."""
                with f.loop(0, height, tall) as i:
                    rows, left = f.minimum(tall, f.sub(height, i)), a.moved(f, f.add(first, i), p)
                    next_rows = f.add(left.at, f.mul(left.row, tall - tile.rows))
                    values = [rows, here, left.memory.pointer, left.at, left.row, 1, block.pointer, 0, step]
                    f.call_local(layout.copy, list(zip(values, convert_kinds(element), strict=True)))
                    there: dict[str, Index] = {"a": block.pointer, "a_at": 0, "a_row": step}
                    ahead = asked_ahead(f, left.memory, next_rows, left.row, element, layout.together)
                    with f.loop(0, columns, width) as q:
                        sweep(rows, q, there, total.moved(f, i, q), ahead)
                    dots(rows, left, total.moved(f, i, columns))

            def as_they_lie() -> None:
                """The only panel, for rows of a as they are."""
                left = a.moved(f, first, p)
                ahead = asked_ahead(f, left.memory, left.at, left.row, element, layout.together)
                sweep(height, 0, layout.where(f, left), total, ahead)
                dots(height, left, total.moved(f, 0, columns))

            if layout.together == 1:
                copied()
            else:
                alone = f.both(f.at_least(width, columns), layout.are_whole(f, a.moved(f, first, p), here))
                f.branch(alone, as_they_lie, copied)
        if result != "f32":
            sums.convert(f, element, widen=False)
    f.give_scratch(memory, own)
