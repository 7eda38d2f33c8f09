"""Kernels for running sums, products, maxima and minima (`tm_tensor.scan`): y[i] = x[0] + … + x[i] along one dimension.

Where the dimension is the last, one element is read, added and written at a time, else 16 neighbours in the last dimension. What
is kept is in a register. Of sums and products of floats it is an f64, rounded for each element: a row of 2^25 ones ends in 2^25,
and not in 2^24, where f32 stops counting. Of integers it is one of their type, which wraps around; of extremes, an element.

A float is the next maximum where it is at least as large as the one before, or no number; a NaN is followed by NaN alone. The
payload says so by two `arith.cmpf`, an `arith.ori` and an `arith.select`, in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

from hotdesk import elements
from hotdesk._bindings import ir
from hotdesk.ir.types import element_of
from hotdesk.ir.walking import flag_of, integer_of
from hotdesk.kernels.parts import shared_loops
from hotdesk.kernels.text import Index, KernelBuilder, KernelText, Operand, View
from hotdesk.models.control_flow import CHOICE
from hotdesk.passes.lower.scalar import is_float, literal, narrow, widen

_LANES = 16
_GRAIN = 1 << 15  # elements that are worth a thread: ten microseconds or more
ScanKind: TypeAlias = Literal["sum", "product", "max", "min", "umax", "umin"]
"""What a scan makes; `umax` and `umin` are of integers without signs."""
_KINDS: dict[str, ScanKind] = {
    **dict.fromkeys(("arith.addf", "arith.addi"), "sum"),
    **dict.fromkeys(("arith.mulf", "arith.muli"), "product"),
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.maxui": "umax",
    "arith.minui": "umin",
}
_TAKEN: dict[int, ScanKind] = {3: "max", 5: "min"}
"""Comparisons of a new element with what is kept, `oge` and `ole`, by their numbers."""
_UNORDERED_OR_UNEQUAL = 13
_ELEMENTS = ("f32", "f64", "i8", "i16", "i32", "i64")


@dataclass(frozen=True, slots=True)
class ScanSpec:
    """y = the running sums of x, or what `kind` says, along a dimension, and last = the last; x and y have the same sizes.

    `noalias` says of each of the three whether it overlaps another; y may be x.
    """

    x: View
    y: View
    last: View
    dimension: int
    kind: ScanKind
    noalias: tuple[bool, ...]


def scan_kind(op: ir.Operation) -> ScanKind | None:
    """What a `tm_tensor.scan` of `_ELEMENTS` makes, each element included; None for any other op."""
    if op.name != "tm_tensor.scan" or not flag_of(op, "inclusive"):
        return None
    block = op.regions[0].blocks[0]
    *ops, end = (each.operation for each in block.operations)
    if element_of(op.operands[0].type) not in _ELEMENTS or not ops or end.operands[0] != ops[-1].results[0]:
        return None
    if len(ops) > 1:
        return _taken(ops, list(block.arguments))
    return _KINDS.get(ops[0].name) if set(ops[0].operands) == set(block.arguments) else None


def _taken(ops: Sequence[ir.Operation], arguments: Sequence[ir.Value]) -> ScanKind | None:
    """The extreme that a new float is where it takes the place of what is kept; None if that is computed in any other way."""
    if [each.name for each in ops] != ["arith.cmpf", "arith.cmpf", "arith.ori", CHOICE]:
        return None
    (kept, new), (taken, none, either, _) = arguments, ops
    read = [list(each.operands) for each in ops]
    found = [taken.results[0], none.results[0]]
    if read != [[new, kept], [new, new], found, [either.results[0], new, kept]]:
        return None
    if integer_of(none, "predicate") != _UNORDERED_OR_UNEQUAL:
        return None
    return _TAKEN.get(integer_of(taken, "predicate"))


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

        def step(i: Index, running: str) -> str:
            element = self._load(x, k.add(x_here, k.mul(i, x.strides[dim])), lanes)
            value = self._combined(running, element, lanes)
            self._store(value, y, k.add(y_here, k.mul(i, y.strides[dim])), lanes)
            return value

        wide = _several(self._kept, lanes)
        start = k.constant(self._initial if lanes == 1 else f"dense<{self._initial}>", wide)
        self._store(k.reduce(0, x.sizes[dim], 1, start, wide, step), last, k.dot(positions, last.strides), lanes)

    def _combined(self, running: str, element: str, lanes: int) -> str:
        k, kind, wide = self.k, self.spec.kind, _several(self._kept, lanes)
        if kind in ("sum", "product"):
            name = ("add" if kind == "sum" else "mul") + ("f" if is_float(self._kept) else "i")
            return k.value(f"arith.{name} {running}, {element} : {wide}")
        if not is_float(self._kept):
            name = f"{kind[-3:]}{'u' if kind.startswith('u') else 's'}i"
            return k.value(f"arith.{name} {running}, {element} : {wide}")
        later = k.value(f"arith.cmpf {'oge' if kind == 'max' else 'ole'}, {element}, {running} : {wide}")
        none = k.value(f"arith.cmpf une, {element}, {element} : {wide}")
        truth = _several("i1", lanes)
        takes, truths = k.value(f"arith.ori {later}, {none} : {truth}"), "" if lanes == 1 else f"{truth}, "
        return k.value(f"arith.select {takes}, {element}, {running} : {truths}{wide}")

    @property
    def _initial(self) -> str:
        """What changes nothing, as a number of the type of what is kept."""
        kind, kept = self.spec.kind, self._kept
        if kind in ("umax", "umin"):
            return "0" if kind == "umax" else "-1"
        if kind in ("max", "min"):
            return literal(elements.neutral(kept, kind), kept)
        return ("0" if kind == "sum" else "1") + (".0" if is_float(kept) else "")

    @property
    def _kept(self) -> str:
        """The type of what is kept."""
        of_sums = is_float(self.spec.x.element) and self.spec.kind in ("sum", "product")
        return "f64" if of_sums else self.spec.x.element

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
