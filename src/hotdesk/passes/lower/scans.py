"""Kernels for running sums and products (`tm_tensor.scan`): y[i] = x[0] + … + x[i] along one dimension.

Where the dimension is the last, one element is read, added and written at a time, else 16 neighbours in the last dimension. What
is kept is in a register. Of floats it is an f64, rounded for each element: a row of 2^25 ones ends in 2^25, and not in 2^24,
where f32 stops counting. Of integers it is one of their type, which wraps around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from hotdesk._bindings import ir
from hotdesk.ir.walking import flag_of
from hotdesk.kernels.parts import shared_loops
from hotdesk.kernels.text import Index, KernelBuilder, KernelText, Operand, View
from hotdesk.passes.lower.scalar import is_float, narrow, widen

_LANES = 16
_GRAIN = 1 << 15  # elements that are worth a thread: ten microseconds or more
_KINDS: dict[str, Literal["sum", "product"]] = {
    **dict.fromkeys(("arith.addf", "arith.addi"), "sum"),
    **dict.fromkeys(("arith.mulf", "arith.muli"), "product"),
}
_ELEMENTS = ("f32", "f64", "i8", "i16", "i32", "i64")


@dataclass(frozen=True, slots=True)
class ScanSpec:
    """y = the running sum or product of x along a dimension, and last = its last values; x and y have the same sizes.

    `noalias` says of each of the three whether it overlaps another; y may be x.
    """

    x: View
    y: View
    last: View
    dimension: int
    kind: Literal["sum", "product"]
    noalias: tuple[bool, ...]


def scan_kind(op: ir.Operation) -> Literal["sum", "product"] | None:
    """What a `tm_tensor.scan` of `_ELEMENTS` makes, each element included; None for any other op."""
    if op.name != "tm_tensor.scan" or not flag_of(op, "inclusive"):
        return None
    block = op.regions[0].blocks[0]
    first, *rest = (each.operation for each in block.operations)
    if first.name not in _KINDS or len(rest) != 1 or str(first.results[0].type) not in _ELEMENTS:
        return None
    whole = set(first.operands) == set(block.arguments) and rest[0].operands[0] == first.results[0]
    return _KINDS[first.name] if whole else None


def scan(spec: ScanSpec) -> KernelText:
    """The kernel of `spec`; operands x, y, last."""
    rank = len(spec.x.sizes)
    others = [dim for dim in range(rank) if dim != spec.dimension]
    by_lanes = spec.dimension != rank - 1 and spec.x.strides[-1] == spec.y.strides[-1] == 1
    by_lanes = by_lanes and spec.last.strides[-1] == 1

    def outer(k: KernelBuilder) -> tuple[Sequence[Index], Index]:
        sizes = k.operands[0].sizes
        lengths = [sizes[dim] for dim in others]
        if by_lanes:
            lengths[-1] = k.ceildiv(lengths[-1], _LANES)
        return lengths, k.floordiv(reduce(k.mul, sizes, 1), _GRAIN)

    def inner(k: KernelBuilder, positions: Sequence[Index]) -> None:
        line = _Line(k, spec)
        if not by_lanes:
            line.write(positions, 1)
            return
        *leading, block = positions
        first, size = k.mul(block, _LANES), k.operands[0].sizes[-1]

        def rest() -> None:
            with k.loop(first, size) as column:
                line.write([*leading, column], 1)

        k.branch(k.at_least(size, k.add(first, _LANES)), lambda: line.write([*leading, first], _LANES), rest)

    return shared_loops(lambda: KernelBuilder((spec.x, spec.y, spec.last), spec.noalias), outer, inner)


@dataclass(frozen=True, slots=True)
class _Line:
    """The kernel being written: one line along the dimension, of one element or of several side by side."""

    k: KernelBuilder
    spec: ScanSpec

    def write(self, positions: Sequence[Index], lanes: int) -> None:
        """The line at `positions`, the places in all other dimensions."""
        k, dim = self.k, self.spec.dimension
        x, y, last = k.operands
        x_here, y_here = (
            k.dot(positions, [stride for d, stride in enumerate(each.strides) if d != dim]) for each in (x, y)
        )
        kept = self._kept
        wide, suffix = _several(kept, lanes), "f" if is_float(kept) else "i"
        initial = ("0" if self.spec.kind == "sum" else "1") + (".0" if is_float(kept) else "")
        operation = ("add" if self.spec.kind == "sum" else "mul") + suffix

        def step(i: Index, running: str) -> str:
            element = self._load(x, k.add(x_here, k.mul(i, x.strides[dim])), lanes)
            value = k.value(f"arith.{operation} {running}, {element} : {wide}")
            self._store(value, y, k.add(y_here, k.mul(i, y.strides[dim])), lanes)
            return value

        start = k.constant(initial if lanes == 1 else f"dense<{initial}>", wide)
        self._store(k.reduce(0, x.sizes[dim], 1, start, wide, step), last, k.dot(positions, last.strides), lanes)

    @property
    def _kept(self) -> str:
        """The type of what is kept."""
        return "f64" if is_float(self.spec.x.element) else self.spec.x.element

    def _load(self, operand: Operand, offset: Index, lanes: int) -> str:
        k = self.k
        if lanes == 1:
            return widen(k, k.load(operand, offset), operand.element, self._kept)
        kind = _several(operand.element, lanes)
        value = k.value(f"vector.load {operand.flat}[{k.index(offset)}] : memref<?x{operand.element}>, {kind}")
        if operand.element == self._kept:
            return value
        return k.value(f"arith.extf {value} : {kind} to {_several(self._kept, lanes)}")

    def _store(self, value: str, operand: Operand, offset: Index, lanes: int) -> None:
        k = self.k
        if lanes == 1:
            k.store(narrow(k, value, self._kept, operand.element), operand, offset)
            return
        kind = _several(operand.element, lanes)
        if operand.element != self._kept:
            value = k.value(f"arith.truncf {value} : {_several(self._kept, lanes)} to {kind}")
        k.line(f"vector.store {value}, {operand.flat}[{k.index(offset)}] : memref<?x{operand.element}>, {kind}")


def _several(element: str, lanes: int) -> str:
    return element if lanes == 1 else f"vector<{lanes}x{element}>"
