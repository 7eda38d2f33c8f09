"""Products of matrices block by block: c (+)= a b, elements of a broadcast, those of b in vectors.

    for a block of b, some hundred steps of k deep and a few panels wide:  pack it into scratch memory
      for each slab of a, as many rows as a tile has:
        for each panel of the block:  micro-kernel, which reads a where it lies

After Goto and van de Geijn, 2008, but for a, which is not packed: of the two operands it is the one that need not be, such as a
weight, of which every element comes from memory once for each block of b. Blocks are deep, so that c is seldom read again to be
added to; a block, slabs of a and what is packed next fit the second cache together. Each tile asks for what comes after it: the
slab below, or rows of b that are packed next. Slabs are of much the same height, so that none idles on an edge. A few columns
that were a panel of their own, as the last of 49 pixels, may be left `over`: dot products with the rows of each slab (`skinny`).

Where rows of b lie together and a stays in the second cache, panels follow one another: while tiles sum one, they copy the next
(`_copying`), which hides in the time of the sums. Two panels lie in scratch memory then.

Where a has few rows, whole panels of b are not packed: tiles read them where they lie (`is_unpacked`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hotdesk.elements import summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import COPY_STEPS, TILE_ARGUMENTS, Tile, group_length, tile_name
from hotdesk.kernels.packing import PACK_SHORT_ARGUMENTS, pack_name
from hotdesk.kernels.scratch import PRODUCTS
from hotdesk.kernels.skinny import DOTS_ARGUMENTS, MOST_ROWS, dots_name
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

_ROWS_AT_ONCE = 8  # of b that are packed for all panels, so that what lies together in a row is read together
# Rows of a for which packing b takes longer than reading it where it lies, once for each tile: any, and with few steps of k, as
# long as rows of b are no multiple of some bytes apart, which share few sets of the nearest cache.
_UNPACKED_ROWS, _UNPACKED_SHALLOW_ROWS, _SHALLOW, _SHARED_SETS_BYTES = 36, 72, 64, 512
_COLUMNS_AHEAD = 2  # groups of columns
_COPIED_STEPS = 256  # of k at least, where panels are copied meanwhile
# Steps of a block where nothing is asked for ahead, and b lies by rows: at least, where k is cut so that rows of a stay near for
# panels that are copied; and at most, where b is packed, so that blocks are wide: longer rows of b are read together.
_COPIED_SHALLOW, _PACKED_SHALLOW = 384, 1024
_STREAMED_ROWS = 64  # of a, done before more of b has come from memory
_STREAMED_PANELS = 2  # of a block then
_ROW_BYTES = 128  # of a panel: blocks of panels with longer rows are as deep as with these
_ROOM, _WHOLE = 4, 2  # into which a block divides the second cache, and all of b where that is one block
_PANELS = 2  # of a block at least: tiles of all but the first ask for what is packed next
# Steps of k at a time where there is no scratch memory, but what is on the stack. That will do where it holds a block, and for a
# single panel in up to some parts, whose sums stay in the nearest cache.
_SHORT, _STACK_PARTS = 168, 3


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


def matrix_arguments(name: str) -> tuple[str, ...]:
    return name, f"{name}_at", f"{name}_row", f"{name}_column"


PRODUCT_ARGUMENTS = ("m", "n", "k", *matrix_arguments("a"), *matrix_arguments("b"), *matrix_arguments("c"), "add")
"""Arguments of a product: sizes, and of each matrix a pointer, an offset and two strides in elements; whether to add to c."""

BLOCKS_ARGUMENTS = (*PRODUCT_ARGUMENTS, "over")
"""The same, and how many of the last columns, `MOST_ROWS` at most, are left to dot products: a's rows lie together then."""

_COPY_ARGUMENTS = TILE_ARGUMENTS[TILE_ARGUMENTS.index("copied") :]

SWEEP_ARGUMENTS = ("m", *(name for name in TILE_ARGUMENTS if name not in ("a_column", *_COPY_ARGUMENTS)))
"""Arguments of all tiles of a panel. A tile asks for rows of what begins at `ahead`: those below its own, by their numbers."""


def block_functions(machine: Machine, element: str) -> str:
    """The text of the functions of a sweep and of a product by blocks; they call those of tiles and of packing."""
    return sweep_function(machine, element) + _blocks(machine, element)


def depth(machine: Machine) -> int:
    """Steps of k for which a panel fits the nearest cache: half of one costs more passes over c than it saves of a panel."""
    return _fitting(machine, Tile.of(machine).vectors * machine.vector_bytes)


def _fitting(machine: Machine, row_bytes: int) -> int:
    """Rows of so many bytes that fit the nearest cache, but not too few."""
    return max(64, machine.l1_bytes // row_bytes // 8 * 8)


def deepest(machine: Machine) -> int:
    """Steps of k of a block: so many that storing a tile, and adding to it, cost little. Panels come from the second cache."""
    row = min(Tile.of(machine).vectors * machine.vector_bytes, _ROW_BYTES)
    return 3 * _fitting(machine, row)


def block_elements(machine: Machine, element: str) -> int:
    """Elements of a block of b, with which rows of a, and what will be packed next, fit the second cache."""
    panel = deepest(machine) * Tile.of(machine).columns(machine, element)
    return max(machine.l2_bytes // _ROOM // machine.bytes_of(element), _PANELS * panel)


def whole_elements(machine: Machine, element: str) -> int:
    """Elements of all of b that are one block, as nothing is packed meanwhile."""
    return max(machine.l2_bytes // _WHOLE // machine.bytes_of(element), block_elements(machine, element))


def call(f: VectorBuilder, symbol: str, names: Sequence[str], values: Sequence[Index]) -> None:
    f.call_local(symbol, list(zip(values, kinds(names, f.element), strict=True)))


def kinds(names: Sequence[str], element: str, result: str = "") -> list[str]:
    """Types of arguments; `result` is the element type of c where it is another."""
    pointers = {"a": element, "b": element, "c": result or element, "panel": element, "source": element}
    return [f"memref<{pointers[name]}>" if name in pointers else "i1" if name == "add" else "index" for name in names]


def sweep_name(element: str) -> str:
    return f"hotdesk_sweep_{element}"


def sweep_function(machine: Machine, element: str) -> str:
    """The function of all tiles of a panel: `m` rows, at least one. Of 16-bit floats it takes pairs, as memory of f32."""
    f = VectorBuilder(machine, summed_in(element))
    m, k, a, a_at, a_row = f.number("m"), f.number("k"), f.pointer("a"), f.number("a_at"), f.number("a_row")
    b, b_at, b_row = f.pointer("b"), f.number("b_at"), f.number("b_row")
    c, c_at, c_row, c_column = f.pointer("c"), f.number("c_at"), f.number("c_row"), f.number("c_column")
    columns, add = f.number("columns"), f.flag("add")
    ahead, ahead_step, ahead_row = (f.number(name) for name in ("ahead", "ahead_step", "ahead_row"))
    with _slabs_of(f, m, Tile.of(machine).height(f, columns)) as (_, i, height):
        a_here, c_here = f.add(a_at, f.mul(i, a_row)), f.add(c_at, f.mul(i, c_row))
        below = f.add(ahead, f.mul(f.add(i, height), ahead_row))
        values = [k, a.pointer, a_here, a_row, 1, b.pointer, b_at, b_row]
        values += [c.pointer, c_here, c_row, c_column, columns, add, below, ahead_step, ahead_row, *_no_copies(b)]
        _tile(f, height, columns, values, element)
    return f.function(sweep_name(element))


def asked_ahead(
    f: VectorBuilder, memory: Operand, at: Index, row: Index, element: str, together: int = 1
) -> dict[str, Index]:
    """The arguments of a sweep that say what its tiles ask for: rows of a matrix, `together` columns while they sum one of a."""
    size = f.machine.bytes_of(element)
    step = group_length(f.machine, f.element) * size * together
    return {"ahead": f.place(memory, at, size), "ahead_step": step, "ahead_row": f.mul(row, size)}


def blocks_name(element: str) -> str:
    return f"hotdesk_blocks_{element}"


def _blocks(machine: Machine, element: str) -> str:
    """The function of a product by blocks, elements of a broadcast and those of b in vectors; k is at least 1."""
    f = VectorBuilder(machine, element)
    m, n, k = f.number("m"), f.number("n"), f.number("k")
    a, b, c = (Matrix.argument(f, name) for name in "abc")
    add, over = f.flag("add"), f.number("over")
    n = f.sub(n, over)
    width = Tile.of(machine).columns(machine, element)
    unpacked = f.both(is_unpacked(f, m, k, a, b, c), f.at_least(m, 1))
    done = f.select(unpacked, f.sub(n, f.mod(n, width)), 0)
    _unpacked(f, (m, done, k), a, b, c, add)
    n, b, c = f.sub(n, done), b.moved(f, 0, done), c.moved(f, 0, done)

    def blocks() -> None:
        copying = _is_copying(f, m, n, k, over, a, b)
        streamed = f.both(f.equal(b.row, 1), f.at_least(_STREAMED_ROWS, m))
        shape = _Blocking.of(
            f, (m, n, k, over), streamed, copying, packed_by_rows=f.both(f.equal(b.column, 1), f.negation(copying))
        )
        f.branch(shape.copying, lambda: _copying(f, (m, n, k), a, b, c, add, shape), lambda: packed(shape))
        f.give_scratch(shape.memory, shape.own)

    def packed(shape: _Blocking) -> None:
        with f.steps(0, k, shape.deep) as p, f.steps(0, n, shape.wide) as j:
            deep, wide = f.minimum(shape.deep, f.sub(k, p)), f.minimum(shape.wide, f.sub(n, j))
            rows_at_once = f.select(f.equal(b.column, 1), _ROWS_AT_ONCE, deep)
            with f.steps(0, deep, rows_at_once) as first, f.loop(0, wide, width) as q:
                source, columns = b.moved(f, f.add(p, first), f.add(j, q)), f.minimum(width, f.sub(wide, q))
                rows, place = (
                    f.minimum(rows_at_once, f.sub(deep, first)),
                    f.add(f.mul(q, deep), f.mul(first, shape.row)),
                )
                values = [rows, columns, *source.arguments, shape.memory.pointer, place, shape.row]
                call(f, pack_name(element), PACK_SHORT_ARGUMENTS, values)
            more = f.more(n, f.add(j, wide))  # columns, or else the first ones, deeper
            last_columns, over_at = f.select(more, 0, over), f.mul(deep, f.mul(f.ceildiv(wide, width), shape.row))
            with f.loop(0, last_columns) as q, f.loop(0, deep) as each:
                source = b.moved(f, f.add(p, each), f.add(n, q))
                f.store(f.load(b.memory, source.at), shape.memory, f.add(over_at, f.mul(q, deep), each))
            following = b.moved(f, f.select(more, p, f.add(p, deep)), f.select(more, f.add(j, wide), 0))
            block = _Packed(shape.memory, shape.row, deep, wide, following, last_columns, over_at)
            _slabs(f, m, a.moved(f, 0, p), block, c.moved(f, 0, j), f.either(add, f.at_least(p, 1)))

    empty = f.either(f.equal(m, 0), f.equal(n, 0))
    f.branch(empty, lambda: None, blocks)
    return f.function(blocks_name(element))


def _is_copying(f: VectorBuilder, m: Index, n: Index, k: Index, over: Index, a: Matrix, b: Matrix) -> Condition:
    """Whether tiles copy the next panel of b while they sum one: rows lie together, and those of a stay in the second cache.

    Panel by panel, a row of c is visited some columns at a time: with few steps of k that takes longer than packing. Blocks are
    as deep as others, but where nothing is asked for ahead: packing waits for memory there, so that copying is worth more passes.
    """
    in_rows = f.both(f.equal(a.column, 1), f.equal(b.column, 1))
    shallowest = deepest(f.machine) if f.machine.far_prefetch else _COPIED_SHALLOW
    held = f.at_least(_copied_depth(f, m), f.minimum(k, shallowest))
    several = f.both(f.at_least(k, _COPIED_STEPS), f.more(n, Tile.of(f.machine).columns(f.machine, f.element)))
    return f.both(f.both(in_rows, held), f.both(several, f.equal(over, 0)))


def _copied_depth(f: VectorBuilder, m: Index) -> Index:
    """Steps of k of a block whose panels are copied: so many that m rows of a stay in the second cache."""
    held = f.machine.l2_bytes // _WHOLE // f.machine.bytes_of(f.element)
    return f.minimum(deepest(f.machine), f.floordiv(held, f.maximum(m, 1)))


def is_unpacked(f: VectorBuilder, m: Index, k: Index, a: Matrix, b: Matrix, c: Matrix) -> Condition:
    """Whether whole panels of b are not packed: rows lie together, and a has few, or some more and k few steps."""
    in_rows = f.both(f.equal(a.column, 1), f.both(f.equal(b.column, 1), f.equal(c.column, 1)))
    few = f.both(f.at_least(_UNPACKED_ROWS, m), f.at_least(deepest(f.machine), k))
    bytes_apart = f.mul(b.row, f.machine.bytes_of(f.element))
    near = f.both(f.at_least(_SHALLOW, k), f.at_least(f.mod(bytes_apart, _SHARED_SETS_BYTES), 1))
    return f.both(in_rows, f.either(few, f.both(near, f.at_least(_UNPACKED_SHALLOW_ROWS, m))))


def _unpacked(f: VectorBuilder, sizes: tuple[Index, Index, Index], a: Matrix, b: Matrix, c: Matrix, add: str) -> None:
    """Whole panels of b where they lie, all of which have to be asked for in time: a tile asks for a vector of the next one."""
    tile, size = Tile.of(f.machine), f.machine.bytes_of(f.element)
    width, group = tile.columns(f.machine, f.element), group_length(f.machine, f.element)
    m, n, k = sizes
    with f.steps(0, n, width) as q, _slabs_of(f, m, tile.rows) as (number, i, height):
        vector = f.mul(f.mod(number, tile.vectors), f.lanes)
        following = f.place(b.memory, b.moved(f, 0, f.add(q, width, vector)).at, size)
        values = [k, *a.moved(f, i, 0).arguments, b.memory.pointer, b.moved(f, 0, q).at, b.row]
        values += [*c.moved(f, i, q).arguments, width, add, following]
        values += [f.mul(b.row, group * size), f.mul(b.row, size), *_no_copies(b.memory)]
        _tile(f, height, width, values)


@dataclass(frozen=True, slots=True)
class _Packed:
    """A block of b whose panels are packed: how long their rows are, how deep and wide it is, and what is packed next.

    Behind the panels, from `over_at` on, lie the columns that are left over, one after the other.
    """

    memory: Operand
    row: Index
    deep: Index
    wide: Index
    following: Matrix
    over: Index
    over_at: Index


@dataclass(frozen=True, slots=True)
class _Blocking:
    """How deep and wide blocks of b are, how long rows of their panels, and the memory that they are packed in.

    That is on the stack where a block fits there, else scratch memory; where there is none, blocks are cut for the stack.
    """

    deep: Index
    wide: Index
    row: Index
    memory: Operand
    own: Operand
    copying: Condition

    @classmethod
    def of(
        cls,
        f: VectorBuilder,
        sizes: tuple[Index, Index, Index, Index],
        streamed: Condition,
        copying: Condition,
        *,
        packed_by_rows: Condition,
    ) -> _Blocking:
        """How to cut k and n: n not at all where all of it fits `whole_elements`; k into shorter parts where n is whole then.

        Where b is `streamed`, as a weight is for few rows of a, blocks are small: its elements may come from memory, those of the
        first block are waited for, and those of each other are asked for during the one before. Where it is packed by rows,
        and nothing is asked for ahead, blocks are shallow and wide. `sizes` are m, n, k, and the columns left over.
        """
        m, n, k, over = sizes
        width, size = Tile.of(f.machine).columns(f.machine, f.element), f.machine.bytes_of(f.element)
        most_deep, room = deepest(f.machine), block_elements(f.machine, f.element)
        whole = whole_elements(f.machine, f.element)
        fits_shorter = f.at_least(whole, f.mul(n, most_deep * 2 // 3))
        shallowest = min(most_deep, _PACKED_SHALLOW)
        shallow = most_deep if f.machine.far_prefetch else f.select(packed_by_rows, shallowest, most_deep)
        most_deep = f.select(fits_shorter, f.minimum(most_deep, f.floordiv(whole, f.maximum(n, 1))), shallow)
        alone = f.at_least(width, n)
        row = f.select(alone, f.mul(f.ceildiv(n, f.lanes), f.lanes), width)  # a panel beside others has whole rows
        held = (width + MOST_ROWS) * _SHORT
        on_stack = f.floordiv(held, f.add(row, over))
        near = f.both(
            f.at_least(f.mul(on_stack, _STACK_PARTS), k), f.at_least(f.machine.l1_bytes // size, f.mul(m, row))
        )
        most_deep = f.select(f.both(alone, near), f.minimum(most_deep, on_stack), most_deep)
        most_deep = f.select(copying, f.minimum(most_deep, _copied_depth(f, m)), most_deep)
        deep = even(f, k, most_deep, group_length(f.machine, f.element))
        room = f.select(f.at_least(whole, f.mul(deep, n)), whole, room)
        most = f.mul(f.maximum(1, f.floordiv(room, f.mul(deep, width))), width)
        wide = even(f, n, f.select(streamed, f.minimum(most, _STREAMED_PANELS * width), most), width)
        needed = f.mul(deep, f.add(f.mul(f.select(copying, _PANELS, f.ceildiv(wide, width)), row), over))
        own = f.scratch(held + width)
        fits = f.at_least(held, needed)
        memory = f.take_scratch(PRODUCTS, f.mul(f.add(needed, width), size), own, unless=fits)
        short = f.both(f.same_memory(memory, own), f.negation(fits))
        return cls(
            f.select(short, f.minimum(deep, _SHORT), deep),
            f.select(short, width, wide),
            row,
            memory,
            own,
            f.both(copying, f.negation(short)),
        )


def even(f: VectorBuilder, size: Index, most: Index, multiple: int) -> Index:
    """The length of as few parts of a size as there can be, all much the same: a multiple, about `most` at most."""
    each = f.ceildiv(size, f.ceildiv(size, most))
    return f.mul(f.ceildiv(each, multiple), multiple)


def _slabs(f: VectorBuilder, m: Index, a: Matrix, block: _Packed, c: Matrix, adds: Condition) -> None:
    """All rows of a times a packed block of b, in slabs of two heights that differ by one; each stays near for all panels."""
    tile = Tile.of(f.machine)
    width = tile.columns(f.machine, f.element)
    later_panels = f.sub(f.ceildiv(block.wide, width), 1)
    single = f.equal(later_panels, 0)
    with _slabs_of(f, m, tile.height(f, block.wide)) as (slab, i, height):
        here = a.moved(f, i, 0)
        with f.loop(0, block.wide, width) as q:
            columns = f.minimum(width, f.sub(block.wide, q))
            number = f.select(single, slab, f.add(f.mul(slab, later_panels), f.floordiv(q, width), -1))
            values = [block.deep, *here.arguments, block.memory.pointer, f.mul(q, block.deep), block.row]
            values += [*c.moved(f, i, q).arguments, columns, str(adds)]
            values += _ahead(f, here, height, block, f.either(single, f.at_least(q, 1)), number)
            values += _no_copies(block.memory)
            _tile(f, height, columns, values)
        _over(f, height, here, block, c.moved(f, i, block.wide), adds)


def _over(f: VectorBuilder, height: Index, a: Matrix, block: _Packed, c: Matrix, adds: Condition) -> None:
    """The columns of a slab that are left over, if any: dot products of them and its rows."""
    values = [block.over, height, block.deep, block.memory.pointer, block.over_at, block.deep]
    values += [a.memory.pointer, a.at, a.row, *c.transpose.arguments, str(adds)]

    def dots(rows: int) -> None:
        call(f, dots_name(f.element, rows), DOTS_ARGUMENTS, values)

    ways = ((f.equal(block.over, 0), lambda: None), (f.equal(block.over, 1), lambda: dots(1)))
    f.first_of(ways, lambda: dots(MOST_ROWS))


def _no_copies(memory: Operand) -> list[Index]:
    """A tile's arguments where it copies nothing."""
    return [0, memory.pointer, 0, 0, 0, 0]


def _copying(
    f: VectorBuilder, sizes: tuple[Index, Index, Index], a: Matrix, b: Matrix, c: Matrix, adds: str, shape: _Blocking
) -> None:
    """All panels of b one by one, of which tiles copy the next while they sum one: two lie in the shape's memory."""
    tile, size = Tile.of(f.machine), f.machine.bytes_of(f.element)
    width, group = tile.columns(f.machine, f.element), group_length(f.machine, f.element)
    m, n, k = sizes
    panel, panels = f.mul(shape.deep, width), f.ceildiv(n, width)
    slabs = f.ceildiv(m, tile.rows)

    def pack(rows: Index, columns: Index, source: Matrix, at: Index) -> None:
        call(
            f,
            pack_name(f.element),
            PACK_SHORT_ARGUMENTS,
            [rows, columns, *source.arguments, shape.memory.pointer, at, width],
        )

    def behind(p: Index, q: Index) -> tuple[Index, Index, Index, Index]:
        """The panel that follows one: where it begins, how deep and wide it is."""
        over = f.at_least(f.add(q, width), n)
        p, q = f.select(over, f.add(p, shape.deep), p), f.select(over, 0, f.add(q, width))
        return p, q, f.maximum(0, f.minimum(shape.deep, f.sub(k, p))), f.minimum(width, f.sub(n, q))

    pack(f.minimum(shape.deep, k), f.minimum(width, n), b, 0)
    with f.steps(0, k, shape.deep) as p, f.steps(0, n, width) as q:
        deep, columns = f.minimum(shape.deep, f.sub(k, p)), f.minimum(width, f.sub(n, q))
        number = f.add(f.mul(f.floordiv(p, shape.deep), panels), f.floordiv(q, width))
        here = f.mul(f.mod(number, 2), panel)
        there = f.sub(panel, here)
        next_p, next_q, next_deep, next_columns = behind(p, q)
        later_p, later_q, _, _ = behind(next_p, next_q)
        whole = f.both(f.equal(columns, width), f.equal(next_columns, width))
        steps = f.sub(deep, f.mod(deep, group))
        rows = f.select(whole, f.minimum(f.ceildiv(next_deep, slabs), f.floordiv(steps, COPY_STEPS)), 0)
        with _slabs_of(f, m, tile.rows) as (slab, i, height):
            done = f.mul(slab, rows)
            copied = f.maximum(0, f.minimum(rows, f.sub(next_deep, done)))
            after = f.add(done, rows)
            end = f.at_least(f.add(slab, 1), slabs)
            later = b.moved(f, f.select(end, later_p, f.add(next_p, after)), f.select(end, later_q, next_q)).at
            own = a.moved(f, i, p)
            below = f.place(a.memory, f.add(own.at, f.mul(height, a.row)), size)
            values = [deep, *own.arguments, shape.memory.pointer, here, width]
            values += [*c.moved(f, i, q).arguments, columns, str(f.either(adds, f.at_least(p, 1)))]
            values += [below, group * size, f.mul(a.row, size)]
            values += [copied, b.memory.pointer, b.moved(f, f.add(next_p, done), next_q).at, b.row]
            values += [f.add(there, f.mul(done, width)), later]
            _tile(f, height, columns, values)
        done = f.minimum(next_deep, f.mul(rows, slabs))
        left = f.sub(next_deep, done)
        rest = b.moved(f, f.add(next_p, done), next_q)
        f.branch(f.at_least(left, 1), lambda: pack(left, next_columns, rest, f.add(there, f.mul(done, width))))


def _ahead(
    f: VectorBuilder, a: Matrix, height: Index, block: _Packed, later: Condition, number: Index
) -> tuple[Index, Index, Index]:
    """What a tile asks for, as its function takes it: the rows of a below; some of what is packed next where it is `later`.

    Where elements of a lie together by columns, it asks on the first panel for columns of its own rows, which come too late else.
    """
    size, group = f.machine.bytes_of(f.element), group_length(f.machine, f.element)
    b, by_rows = block.following, f.equal(block.following.column, 1)
    in_columns = f.both(f.equal(a.row, 1), f.negation(f.equal(a.column, 1)))
    lines = f.either(f.equal(b.row, 1), by_rows)
    packing = f.both(f.both(later, lines), f.more(f.ceildiv(block.wide, group), number))
    below, right = f.mul(height, a.row), f.add(f.mul(_COLUMNS_AHEAD * group, a.column), f.sub(height, 1))
    own = f.place(a.memory, f.add(a.at, f.select(in_columns, right, below)), size)
    then = f.place(b.memory, f.add(b.at, f.mul(f.mul(number, group), b.column)), size)
    step = f.select(packing, b.row, f.select(in_columns, a.column, 1))
    row = f.select(packing, f.select(by_rows, b.row, b.column), f.select(in_columns, a.column, a.row))
    return f.select(packing, then, own), f.mul(step, group * size), f.mul(row, size)


@contextmanager
def _slabs_of(f: VectorBuilder, m: Index, most: Index) -> Generator[tuple[Index, Index, Index]]:
    """A loop over slabs of m rows, `most` at most, whose heights differ by one: number, first row and height of each."""
    count = f.ceildiv(m, most)
    low = f.floordiv(m, count)
    higher = f.sub(m, f.mul(low, count))
    with f.loop(0, count) as number:
        first = f.add(f.mul(number, low), f.minimum(number, higher))
        yield number, first, f.select(f.more(higher, number), f.add(low, 1), low)


def _tile(f: VectorBuilder, height: Index, columns: Index, values: Sequence[Index], element: str = "") -> None:
    """The call of the tile of a height and of as many vectors as the columns need; of `element` where it is not the builder's."""
    tile, types = Tile.of(f.machine), kinds(TILE_ARGUMENTS, f.element)

    def of_height(vectors: int) -> str:
        names = {rows: tile_name(element or f.element, rows, vectors) for rows in range(1, tile.most_rows(vectors) + 1)}
        return f.one_function(height, names, types)

    def of_width(widths: Sequence[int]) -> str:
        narrowest, *wider = widths
        fits = f.at_least(narrowest * f.lanes, columns) if wider else True
        if isinstance(fits, bool):
            return of_height(narrowest) if fits else of_width(wider)
        (found,) = f.chosen(
            fits, lambda: [of_height(narrowest)], lambda: [of_width(wider)], [f"({', '.join(types)}) -> ()"]
        )
        return found

    f.call_found(of_width(tile.widths), list(zip(values, types, strict=True)))
