"""Calls of functions that programs share: of matrix products (`kernels.shared`), with any strides, and of others by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotdesk.elements import HALVES
from hotdesk.ir.types import element_bytes
from hotdesk.kernels.shared import ELEMENTS, SHARED_ARGUMENTS, shared_name
from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand


def has_products(*elements: str) -> bool:
    """Whether these element types are one of which there are products."""
    return len(set(elements)) == 1 and elements[0] in ELEMENTS


def has_matrix_products(a: str, b: str, c: str) -> bool:
    """Whether there are products, and convolutions, of these element types; those of 16-bit floats may have a result of f32."""
    return has_products(a, b, c) or (a == b and a in HALVES and c in (a, "f32"))


@dataclass(frozen=True, slots=True)
class MatrixOperand:
    """Elements of `operand` from `offset` on; strides in elements, `batch` from one matrix of a batch to the next."""

    operand: Operand
    offset: Index
    row: Index
    column: Index
    batch: Index = 0


@dataclass(frozen=True, slots=True)
class ProductSizes:
    """Those of a product: rows and columns of the result, what is summed, and how many products there are."""

    rows: Index
    columns: Index
    summed: Index
    batch: Index = 1


def write_product(
    k: KernelBuilder, sizes: ProductSizes, a: MatrixOperand, b: MatrixOperand, c: MatrixOperand, *, add: Condition
) -> None:
    """Writes the call for c = a b, or c += a b where `add` holds; without it c is not read."""
    numbers: list[Index] = [sizes.batch, sizes.rows, sizes.columns, sizes.summed]
    arguments = [k.integer(number) for number in numbers]
    for matrix in (a, b, c):
        arguments.append(k.address(matrix.operand, matrix.offset, element_bytes(matrix.operand.element)))
        arguments += [k.integer(stride) for stride in (matrix.batch, matrix.row, matrix.column)]
    arguments.append(
        k.constant(str(int(add)), "i64") if isinstance(add, bool) else k.value(f"arith.extui {add} : i1 to i64")
    )
    k.call(shared_name(a.operand.element, c.operand.element), ["i64"] * len(SHARED_ARGUMENTS), arguments)


def write_call(
    k: KernelBuilder,
    function: str,
    names: Sequence[str],
    numbers: Mapping[str, Index],
    places: Mapping[str, tuple[Operand, Index]],
) -> None:
    """Writes the call of a function whose arguments, by name, are numbers, and addresses of elements of operands."""
    given = {name: k.integer(number) for name, number in numbers.items()}
    given |= {name: k.address(each, at, element_bytes(each.element)) for name, (each, at) in places.items()}
    k.call(function, ["i64"] * len(names), [given[name] for name in names])
