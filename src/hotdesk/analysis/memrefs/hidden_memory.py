"""The memrefs behind values that are none: pointers to their memory, handles of it, tensors that show it.

1. An op *points* to the memory of its memrefs if it makes a pointer or a tensor of one, or a value of which it is not known what
   it is: neither a number, nor a vector of numbers, nor a token, nor what the registers of a device hold.
2. What an op makes of such a value hides the same memory, unless it is no more than a float or a truth value. So does what a
   branch passes it to.
3. With `scalars`, numbers lead to the memory that they are computed from as well, where an op uses them that may compute them
   again: not one that takes them as they are, to pass them on, or to a callee.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp
from hotdesk.ir.types import is_any_tensor, is_buffer, is_token
from hotdesk.models.control_flow import branched
from hotdesk.models.func import RETURN
from hotdesk.models.memref import POINTING
from hotdesk.models.registry import model_of

_CAST = "builtin.unrealized_conversion_cast"
_NOT_READING = frozenset({"memref.dim", "memref.alloc", "memref.dealloc", "memref.extract_strided_metadata"})
_NUMBERS = (ir.IntegerType, ir.FloatType, ir.IndexType, ir.ComplexType, ir.VectorType)
_TAKING = (RETURN, "affine.yield", "linalg.yield", "scf.reduce", "scf.reduce.return")
_IN_REGISTERS = ("!gpu.mma_matrix<", "!nvgpu.warpgroup.accumulator<", "!x86.amx.tile<")


class HiddenMemory:
    """What values of one function hide, as far as it has been read; memrefs are numbers.

    Attributes:
        arrived: what the arguments of blocks hide, as far as branches are read that pass it to them.
    """

    def __init__(self, scalars: bool, arrived: Mapping[ir.Value, tuple[int, ...]]) -> None:
        self._scalars = scalars
        self._behind: dict[ir.Value, tuple[int, ...]] = dict(arrived)
        self._loaded: dict[ir.Value, tuple[int, ...]] = {}  # rule 3
        self.arrived = dict(arrived)

    def __bool__(self) -> bool:
        return bool(self._behind or self._loaded)

    def of(self, operation: ir.Operation) -> list[int]:
        """The memrefs behind the operands of an op that are no memrefs; whoever called gets scalars as they are."""
        if not self or operation.name == RETURN:
            return []
        found = [buffer for value in operation.operands for buffer in self._behind.get(value, ())]
        if self._loaded and not _takes_scalars(operation.name):
            found += (buffer for value in operation.operands for buffer in self._loaded.get(value, ()))
        return found

    def passed_on(self, end: BufferOp) -> list[tuple[int, int]]:
        """What a terminator passes on where it is not followed: its number with each memref behind a value that may lead there.

        Branches are followed by `pass_on`, but for tensors.
        """
        if not self._behind:
            return []
        leading = [
            value
            for value in end.operation.operands
            if is_any_tensor(value.type)
            or (not (len(end.operation.successors) or is_buffer(value.type)) and _may_point(value.type, False, True))
        ]
        return [(end.number, buffer) for value in leading for buffer in self._behind.get(value, ())]

    def note(self, op: BufferOp, inside: Sequence[BufferOp | None], own: tuple[int, ...], before: int) -> None:
        """Notes what the results of an op hide, of the first `before` memrefs: of `own`, and of what ops `inside` of it use."""
        made = [value for value in op.operation.results if not is_buffer(value.type)]
        points = any(self._points(op, value.type, own) for value in made)
        if not (points or self._behind or self._scalars):
            return
        ops = [op, *(each for each in inside if each is not None)]
        memrefs = [*own, *(number for each in ops[1:] for number in each.operands)]
        if self._behind or points:
            leading = [value for value in made if _may_lead(value.type)]
            self._update(self._behind, leading, ops, memrefs if points else [], before)
        if self._scalars and op.name not in _NOT_READING:
            self._update(self._loaded, made, ops, memrefs, before)

    def _update(
        self, behind: dict[ir.Value, tuple[int, ...]], made: Sequence[ir.Value], ops: Sequence[BufferOp],
        memrefs: Sequence[int], before: int,
    ) -> None:  # fmt: skip
        """Notes in `behind` what values hide that one of `ops` makes: `memrefs`, and what is behind the operands of `ops`."""
        hidden = [number for op in ops for value in op.operation.operands for number in behind.get(value, ())]
        found = tuple(dict.fromkeys(number for number in (*memrefs, *hidden) if NOT_A_BUFFER < number < before))
        if found:
            behind.update((value, found) for value in made)

    def pass_on(self, end: ir.Operation) -> None:
        """Notes what a branch passes on to blocks."""
        if not self._behind or not len(end.successors) or not any(value in self._behind for value in end.operands):
            return
        targets = [list(block.arguments) for block in end.successors]
        known = branched(end)
        everything = [
            (i, to, n) for i in range(len(end.operands)) for to, of in enumerate(targets) for n in range(len(of))
        ]
        for operand, to, argument in everything if known is None else known:
            hidden, target = self._behind.get(end.operands[operand], ()), targets[to][argument]
            if hidden and not is_buffer(target.type) and _may_lead(target.type):
                found = tuple(dict.fromkeys((*self.arrived.get(target, ()), *hidden)))
                self.arrived[target] = self._behind[target] = found

    def _points(self, op: BufferOp, kind: ir.Type, own: Sequence[int]) -> bool:
        """Whether what an op makes of a type may lead to memory by rule 1."""
        return op.name in (*POINTING, _CAST) or _may_point(
            kind, op.control, any(number != NOT_A_BUFFER for number in own)
        )


def _takes_scalars(name: str) -> bool:
    """Whether an op uses scalars as they were computed before it."""
    model = model_of(name)
    return name in _TAKING or (model is not None and model.takes_scalars)


def _may_point(kind: ir.Type, passed: bool, has_memrefs: bool) -> bool:
    """Whether a value of a type may lead to the memory of an op's memrefs; if it is `passed` it only does if an operand does."""
    if isinstance(kind, _NUMBERS):
        return False
    if is_any_tensor(kind):
        return has_memrefs and not passed
    if is_token(kind):
        return "memref" in str(kind)
    return not passed and not str(kind).startswith(_IN_REGISTERS)


def _may_lead(kind: ir.Type) -> bool:
    """Whether a value of a type may be what memory is found by: anything but floats and truth values."""
    if isinstance(kind, (ir.VectorType, ir.ComplexType)):
        kind = cast(ir.Type, cast(Any, kind).element_type)
    return not isinstance(kind, ir.FloatType) and not (isinstance(kind, ir.IntegerType) and kind.width == 1)
