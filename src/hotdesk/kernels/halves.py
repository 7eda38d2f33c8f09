"""Products of 16-bit floats on one thread: blocks of both operands become f32, and the products of that type sum them.

    for a block of c, as many rows and columns as its sums in f32 fit the second cache with the rest:
      for each block of k:  blocks of a and b, converted; sums (+)= their product
      c = sums, rounded once; where c is f32, it is the sums

So a result is as exact as f32 sums are, whatever the length of k. Blocks are kept the way round in which elements lie together.
They are scratch memory (`scratch`), or, where there is none, smaller and on the stack. Where the result has few rows or columns
and what is summed lies together, nothing is converted in memory (`skinny`).
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.kernels.blocks import PRODUCT_ARGUMENTS, Matrix, even, kinds
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.product import product_name
from hotdesk.kernels.scratch import CONVERTED, DECLARED
from hotdesk.kernels.skinny import DOTS_ARGUMENTS, MOST_ROWS, dots_function, dots_name
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

HALVES = ("f16", "bf16")
"""Element types of 16 bits that there are products of; their result is of the same type, or of f32."""

_SIDE, _DEEP = 192, 512  # rows and columns of a block of c, steps of k
_SHORT_SIDE, _SHORT_DEEP = 16, 32  # the same on the stack
_PADDING = 16  # elements between rows of a block, which else might share a set of the nearest cache


def summed_in(element: str) -> str:
    """The type of the sums of products of an element type."""
    return "f32" if element in HALVES else element


def half_functions(machine: Machine, element: str, result: str) -> str:
    """The functions of products of `element`; they call that of f32 products, which another module defines."""
    product = f"func.func private @{product_name('f32')}({', '.join(kinds(PRODUCT_ARGUMENTS, 'f32'))})\n"
    texts = [convert_function(machine, element, widen=True), convert_function(machine, element, widen=False)]
    texts += [dots_function(machine, element, rows, result) for rows in (1, MOST_ROWS)]
    texts.append(_product(machine, element, result))
    return product + DECLARED.format(element="f32") + "".join(texts)


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

    def vectors() -> None:
        whole = f.sub(inner, f.mod(inner, f.lanes))
        rest = f.first_lanes(f.sub(inner, whole))
        with f.loop(0, outer) as i:
            there, here = f.add(half_at, f.mul(i, outer_step)), f.add(wide_at, f.mul(i, wide_step))
            with f.loop(0, whole, f.lanes) as j:
                if widen:
                    f.store_vector(f.load_wide(half, f.add(there, j)), wide, f.add(here, j))
                else:
                    f.store_vector(f.narrowed(f.load_vector(wide, f.add(here, j)), element), half, f.add(there, j))
            there, here = f.add(there, whole), f.add(here, whole)
            if widen:
                f.store_masked(f.widened(f.load_masked(half, there, rest), element), wide, here, rest)
            else:
                f.store_masked(f.narrowed(f.load_masked(wide, here, rest), element), half, there, rest)

    def elements() -> None:
        with f.loop(0, outer) as i, f.loop(0, inner) as j:
            there = f.add(half_at, f.dot((i, j), (outer_step, inner_step)))
            here = f.add(wide_at, f.mul(i, wide_step), j)
            if widen:
                f.store(f.load_wide(half, there, vector=False), wide, here)
            else:
                f.store(f.narrowed(f.load(wide, here), element, lanes=0), half, there)

    f.branch(f.equal(inner_step, 1), vectors, elements)
    return f.function(convert_name(element, widen=widen))


@dataclass(frozen=True, slots=True)
class _WidenedBlock:
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
    f = VectorBuilder(machine, "f32")
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
            sums = _WidenedBlock(c.moved(f, i, j), rows, columns, memory, c_at)
            if result != "f32":
                f.branch(add, lambda: sums.convert(f, element, widen=True))
            # Without anything to sum a product of depth 0 clears the sums.
            with f.steps(0, f.maximum(k, 1), deep) as p:
                here = f.minimum(deep, f.sub(k, p))
                left = _WidenedBlock(a.moved(f, i, p), rows, here, memory, 0)
                right = _WidenedBlock(b.moved(f, p, j), here, columns, memory, b_at)
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

    along_k = f.both(f.equal(a.column, 1), f.equal(b.row, 1))
    ways = (
        (f.either(f.equal(m, 0), f.equal(n, 0)), lambda: None),
        (f.both(along_k, f.at_least(MOST_ROWS, m)), lambda: dots(m, n, a, b, c)),
        (f.both(along_k, f.at_least(MOST_ROWS, n)), lambda: dots(n, m, b.transpose, a.transpose, c.transpose)),
    )
    f.first_of(ways, blocks)
    return f.function(half_product_name(element, result))
