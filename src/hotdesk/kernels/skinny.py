"""Products with a result of few rows, which are bound by reading b: it is read once, where it lies.

dots    elements along k lie together in a and b: sums of whole vectors along k, some columns of b at a time
rows    rows of b and of the result lie together, a has one row: some rows of b at a time are added to the result
"""

from __future__ import annotations

from hotdesk.elements import summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

MOST_ROWS = 4
"""Rows of a that `dots` takes."""

_ROWS_AT_A_TIME = 8
_UNROLLED = 2

ROWS_ARGUMENTS = ("n", "k", "a", "a_at", "a_column", "b", "b_at", "b_row", "c", "c_at", "add")
DOTS_ARGUMENTS = ("m", "n", "k", "a", "a_at", "a_row", "b", "b_at", "b_column", "c", "c_at", "c_row", "c_column", "add")


def rows_name(element: str) -> str:
    return f"hotdesk_rows_{element}"


def dots_name(element: str, rows: int, result: str = "") -> str:
    return f"hotdesk_dots_{element}{result}_{rows}"


def rows_function(machine: Machine, element: str) -> str:
    """c[n] (+)= a[k] b[k, n], where a's elements may lie apart; with 16-bit floats in a and b c is f32."""
    f = VectorBuilder(machine, summed_in(element))
    n, k, a, a_at, a_column = (
        f.number("n"),
        f.number("k"),
        f.pointer("a", element),
        f.number("a_at"),
        f.number("a_column"),
    )
    b, b_at, b_row, c, c_at = (
        f.pointer("b", element),
        f.number("b_at"),
        f.number("b_row"),
        f.pointer("c"),
        f.number("c_at"),
    )
    add = f.flag("add")
    zero = f.constant("0.0", f.element)

    def clear() -> None:
        with f.loop(0, n) as j:
            f.store(zero, c, f.add(c_at, j))

    def some(p: Index, count: int) -> None:
        """Adds rows p to p + count."""
        factors = [f.load_wide(a, f.add(a_at, f.mul(f.add(p, i), a_column)), vector=False) for i in range(count)]
        vectors = [f.broadcast(factor) for factor in factors]
        starts = [f.add(b_at, f.mul(f.add(p, i), b_row)) for i in range(count)]
        whole = f.sub(n, f.mod(n, f.lanes))
        with f.loop(0, whole, f.lanes) as j:
            place = f.add(c_at, j)
            total = f.load_vector(c, place)
            for vector, start in zip(vectors, starts, strict=True):
                total = f.multiply_add(vector, f.load_wide(b, f.add(start, j)), total)
            f.store_vector(total, c, place)
        with f.loop(whole, n) as j:
            place = f.add(c_at, j)
            total = f.load(c, place)
            for factor, start in zip(factors, starts, strict=True):
                product = f.value(f"arith.mulf {factor}, {f.load_wide(b, f.add(start, j), vector=False)} : {f.element}")
                total = f.value(f"arith.addf {total}, {product} : {f.element}")
            f.store(total, c, place)

    f.branch(add, lambda: None, clear)
    whole = f.sub(k, f.mod(k, _ROWS_AT_A_TIME))
    with f.loop(0, whole, _ROWS_AT_A_TIME) as p:
        some(p, _ROWS_AT_A_TIME)
    with f.loop(whole, k) as p:
        some(p, 1)
    return f.function(rows_name(element))


def dots_function(machine: Machine, element: str, rows: int, result: str = "") -> str:
    """c[m, n] (+)= a[m, k] b[k, n] for m of at least 1 and at most `rows`, each row of a and column of b lying together.

    16-bit floats are multiplied and added in f32, in pairs where the machine does that. A sum is rounded once, or not at all if
    c is of type f32: `result`.
    """
    f = VectorBuilder(machine, "f32" if machine.bytes_of(element) == 2 else element)
    total_type = f.element
    m, n, k, a = f.number("m"), f.number("n"), f.number("k"), f.pointer("a", element)
    a_at, a_row, b, b_at, b_column = (
        f.number("a_at"),
        f.number("a_row"),
        f.pointer("b", element),
        f.number("b_at"),
        f.number("b_column"),
    )
    c, c_at, c_row, c_column, add = (
        f.pointer("c", result or element),
        f.number("c_at"),
        f.number("c_row"),
        f.number("c_column"),
        f.flag("add"),
    )
    columns = (
        4 if rows == 1 or machine.registers > 16 else 2
    )  # that many sums fit the registers with what they are made of
    unrolled = _UNROLLED if rows == 1 else 1
    pairs = machine.sums_pairs(element)
    deep = 2 * f.lanes if pairs else f.lanes  # elements of k in a vector
    multiply = f.add_pairs if pairs else f.multiply_add
    sums = f.scratch(rows * columns)
    a_rows = [f.add(a_at, f.mul(f.minimum(i, f.sub(m, 1)), a_row)) for i in range(rows)]
    whole = f.sub(k, f.mod(k, deep * unrolled))
    masked = machine.masks_of(element)
    summed = k if masked else whole  # elements of k that are summed as vectors
    # Columns computed together lie far apart: the next ones follow each of them in memory, where processors ask for them in time.
    apart = f.maximum(1, f.ceildiv(n, columns))
    with f.loop(0, f.minimum(apart, n)) as j:
        last = f.sub(n, 1)
        b_columns = [f.add(b_at, f.mul(f.minimum(f.add(j, f.mul(i, apart)), last), b_column)) for i in range(columns)]

        def step(p: Index, totals: list[str], *, last: bool = False) -> list[str]:
            """Adds the products of some vectors from p on; of what is left of k with `last`."""

            def read(operand: Operand, start: Index, u: int) -> str:
                place = f.add(start, p, u * deep)
                if not last:
                    return f.load_pairs(operand, place) if pairs else f.load_wide(operand, place)
                left = f.sub(k, f.add(p, u * deep))
                if pairs:
                    return f.load_first_pairs(operand, place, left)
                return f.load_masked_wide(operand, place, f.first_lanes(left))

            result: list[str] = []
            for u in range(unrolled):
                right = [read(b, start, u) for start in b_columns]
                for i, start in enumerate(a_rows):
                    left = read(a, start, u)
                    before = totals[(u * rows + i) * columns :]
                    result += [multiply(left, right[q], before[q]) for q in range(columns)]
            return result

        count = rows * columns
        totals = f.carry(0, whole, deep * unrolled, [f.zeros()] * count * unrolled, step)
        if masked:
            totals = step(whole, totals, last=True)
        for u in range(1, unrolled):
            totals[:count] = [f.add_vectors(totals[i], totals[u * count + i]) for i in range(count)]
        for i in range(count):
            f.store(f.total(totals[i]), sums, i)
        with f.loop(0, f.ceildiv(f.sub(n, j), apart)) as q, f.loop(0, m) as i:
            column = f.add(j, f.mul(q, apart))
            a_here, b_here = f.add(a_at, f.mul(i, a_row)), f.add(b_at, f.mul(column, b_column))

            def rest(p: Index, total: str) -> str:
                left = f.load_wide(a, f.add(a_here, p), vector=False)
                right = f.load_wide(b, f.add(b_here, p), vector=False)
                return f.value(
                    f"arith.addf {total}, {f.value(f'arith.mulf {left}, {right} : {total_type}')} : {total_type}"
                )

            start = f.load(sums, f.add(f.mul(i, columns), q))
            total = f.reduce(summed, k, 1, start, total_type, rest)
            place = f.add(c_at, f.mul(i, c_row), f.mul(column, c_column))
            f.store_or_add(total, c, place, add)
    return f.function(dots_name(element, rows, result))
