"""Calls of the BLAS (through `products`): matrices as their two strides, and what must hold for a call to be legal.

A matrix goes to the BLAS when one of its strides is known to be 1 and the other (the leading dimension) steps over whole
rows. What is known only at run time comes back as a condition the caller branches on.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.passes.lower.kernel import Condition, Index, KernelBuilder, Operand
from hotdesk.passes.lower.scalar import element_bytes

_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE = 101, 111, 112
_LARGEST = 2**31 - 1
_LETTERS = {"f32": "s", "f64": "d"}


def has_blas(*elements: str) -> bool:
    """Whether the BLAS computes on these element types together."""
    return len(set(elements)) == 1 and elements[0] in _LETTERS


@dataclass(frozen=True, slots=True)
class Matrix:
    """`rows` by `columns` elements of `operand` from `offset` on; strides in elements."""

    operand: Operand
    offset: Index
    rows: Index
    columns: Index
    row_stride: Index
    column_stride: Index

    @property
    def transpose(self) -> Matrix:
        return Matrix(self.operand, self.offset, self.columns, self.rows, self.column_stride, self.row_stride)

    @property
    def by_columns(self) -> bool:
        """Whether memory holds it column by column."""
        return self.column_stride != 1 and self.columns != 1

    @property
    def has_unit_stride(self) -> bool:
        return not self.by_columns or self.row_stride == 1 or self.rows == 1

    def leading(self, k: KernelBuilder) -> Index:
        """The leading dimension, made legal where it is never used because there is one row or none."""
        matrix = self.transpose if self.by_columns else self
        stride = matrix.row_stride if matrix.rows != 1 else 1
        return k.maximum(stride, k.maximum(matrix.columns, 1))

    def legal(self, k: KernelBuilder) -> Condition:
        """That rows do not overlap and every number fits the BLAS's 32-bit integers."""
        matrix = self.transpose if self.by_columns else self
        apart = k.either(k.at_least(1, matrix.rows), k.at_least(matrix.row_stride, matrix.columns))
        return k.both(apart, _small(k, matrix.rows, matrix.columns, matrix.row_stride))


@dataclass(frozen=True, slots=True)
class Vector:
    """`size` elements of `operand` from `offset` on."""

    operand: Operand
    offset: Index
    size: Index
    stride: Index

    def legal(self, k: KernelBuilder) -> Condition:
        forward = k.either(k.at_least(1, self.size), k.at_least(self.stride, 1))
        return k.both(forward, _small(k, self.size, self.stride))


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """result = left right + beta result."""

    left: Matrix
    right: Matrix
    result: Matrix

    @classmethod
    def of(cls, left: Matrix, right: Matrix, result: Matrix) -> MatrixProduct:
        """The product, or its transpose where memory holds the result column by column."""
        if result.by_columns:
            return cls(right.transpose, left.transpose, result.transpose)
        return cls(left, right, result)

    @property
    def possible(self) -> bool:
        """Whether nothing that is known now forbids the call."""
        rows = (self.left.has_unit_stride, self.right.has_unit_stride, not self.result.by_columns)
        return all(rows) and self.legal(KernelBuilder((), ())) is not False

    def legal(self, k: KernelBuilder) -> Condition:
        return k.both(self.left.legal(k), k.both(self.right.legal(k), self.result.legal(k)))

    def write(self, k: KernelBuilder, beta: str) -> None:
        """Writes the call; `beta` is a value of the element type, and where it is 0 the result is not read."""
        element = self.result.operand.element
        arguments = [
            _flag(k, _ROW_MAJOR),
            _flag(k, _TRANSPOSE if self.left.by_columns else _NO_TRANSPOSE),
            _flag(k, _TRANSPOSE if self.right.by_columns else _NO_TRANSPOSE),
            _int(k, self.result.rows),
            _int(k, self.result.columns),
            _int(k, self.left.columns),
            k.constant("1.0", element),
            _address(k, self.left),
            _int(k, self.left.leading(k)),
            _address(k, self.right),
            _int(k, self.right.leading(k)),
            beta,
            _address(k, self.result),
            _int(k, self.result.leading(k)),
        ]
        kinds = ["i32"] * 6 + [element, "i64", "i32", "i64", "i32", element, "i64", "i32"]
        k.call(f"hotdesk_{_LETTERS[element]}gemm", kinds, arguments)


@dataclass(frozen=True, slots=True)
class VectorProduct:
    """result = matrix vector + beta result."""

    matrix: Matrix
    vector: Vector
    result: Vector

    @property
    def possible(self) -> bool:
        """Whether nothing that is known now forbids the call."""
        return self.matrix.has_unit_stride and self.legal(KernelBuilder((), ())) is not False

    def legal(self, k: KernelBuilder) -> Condition:
        """With no columns the BLAS would leave the result as it is, whatever `beta`."""
        vectors = k.both(self.vector.legal(k), self.result.legal(k))
        return k.both(k.at_least(self.matrix.columns, 1), k.both(self.matrix.legal(k), vectors))

    def write(self, k: KernelBuilder, beta: str) -> None:
        """Writes the call; `beta` is a value of the element type, and where it is 0 the result is not read."""
        element = self.result.operand.element
        stored = self.matrix.transpose if self.matrix.by_columns else self.matrix
        arguments = [
            _flag(k, _ROW_MAJOR),
            _flag(k, _TRANSPOSE if self.matrix.by_columns else _NO_TRANSPOSE),
            _int(k, stored.rows),
            _int(k, stored.columns),
            k.constant("1.0", element),
            _address(k, self.matrix),
            _int(k, self.matrix.leading(k)),
            _address(k, self.vector),
            _int(k, k.maximum(self.vector.stride, 1)),
            beta,
            _address(k, self.result),
            _int(k, k.maximum(self.result.stride, 1)),
        ]
        kinds = ["i32"] * 4 + [element, "i64", "i32", "i64", "i32", element, "i64", "i32"]
        k.call(f"hotdesk_{_LETTERS[element]}gemv", kinds, arguments)


def _small(k: KernelBuilder, *numbers: Index) -> Condition:
    condition: Condition = True
    for number in numbers:
        condition = k.both(condition, k.at_least(_LARGEST, number))
    return condition


def _flag(k: KernelBuilder, value: int) -> str:
    return k.constant(str(value), "i32")


def _int(k: KernelBuilder, value: Index) -> str:
    if isinstance(value, int):
        return k.constant(str(value), "i32")
    return k.value(f"arith.index_cast {value} : index to i32")


def _address(k: KernelBuilder, what: Matrix | Vector) -> str:
    return k.address(what.operand, what.offset, element_bytes(what.operand.element))
