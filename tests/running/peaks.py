"""The bytes that a program on memrefs holds on its worst path, read off its text: no analysis of Hotdesk's is asked.

Every loop runs its body at least once, every branch is taken by some call. Sizes are static, or those of the random programs:
their numbers are arguments with known values, so a dynamic size is computed by following constants, sums and `memref.dim`.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from hotdesk.ir.context import make_context
from tests.reference import DTYPES

_ARGUMENTS = (0, 1, 2, 4, 8, -4)
"""The numbers that random programs on memrefs have as arguments, in order, behind two conditions."""


class UnknownError(Exception):
    """A size depends on what is not followed here."""


def peak_of(text: str) -> int:
    """The most bytes on the heap at one time on any path through `@main`, calls included."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        views: Any = list(module.body.operations)
        functions = {view.operation.attributes["sym_name"].value: view.operation for view in views}
        return _Walk(functions).function("main")[1]


class _Walk:
    def __init__(self, functions: dict[str, Any]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[int, int]] = {}

    def function(self, name: str) -> tuple[int, int]:
        """What is held more when a function ends, and the most in between."""
        if name not in self._known:
            body = self._functions[name].regions[0]
            ends: list[int] = []
            peak = 0
            at: dict[Any, int] = {body.blocks[0]: 0}
            for block in body.blocks:
                held, highest = self._block(block, at.get(block, 0))
                peak = max(peak, highest)
                last = list(block.operations)[-1].operation
                for successor in last.successors:
                    at[successor] = max(held, at.get(successor, 0))
                if last.name == "func.return":
                    ends.append(held)
            self._known[name] = max(ends, default=0), peak
        return self._known[name]

    def _block(self, block: Any, held: int) -> tuple[int, int]:
        """What is held at the end of a block, and the most in between, if so much is held before."""
        peak = held
        for view in list(block.operations):
            op = view.operation
            if op.name == "memref.alloc":
                held += _bytes(op)
            elif op.name == "memref.dealloc":
                held -= _bytes(_owner(op.operands[0]))
            elif op.name == "func.call":
                more, highest = self.function(op.attributes["callee"].value)
                peak = max(peak, held + highest)
                held += more
            regions: Any = [] if op.name.startswith("linalg.") else list(op.regions)
            for inner in [inner for region in regions for inner in region.blocks]:
                peak = max(peak, self._block(inner, held)[1])
            peak = max(peak, held)
        return held, peak


def _owner(value: Any) -> Any:
    """The op that made a value."""
    if isinstance(value.owner, ir.Block):
        raise UnknownError("a block argument")
    return value.owner.operation


def _bytes(op: Any) -> int:
    """The bytes of an allocation, or of what a call returned."""
    memref = op.results[0].type
    if op.name != "memref.alloc" and not memref.has_static_shape:
        raise UnknownError(op.name)
    rest = iter(op.operands)
    count = DTYPES[str(memref.element_type)].itemsize
    for i in range(memref.rank):
        count *= _number(next(rest)) if memref.is_dynamic_dim(i) else memref.get_dim_size(i)
    return count


def _number(value: Any) -> int:
    """What an index of a random program is."""
    if isinstance(value.owner, ir.Block):
        if value.owner.region.owner.name != "func.func":
            raise UnknownError("a block argument")
        argument: Any = value
        return _ARGUMENTS[int(argument.arg_number) - 2]
    op = _owner(value)
    match op.name:
        case "arith.constant":
            return int(op.attributes["value"].value)
        case "arith.addi":
            return _number(op.operands[0]) + _number(op.operands[1])
        case "arith.muli":
            return _number(op.operands[0]) * _number(op.operands[1])
        case "memref.dim":
            return _size(op.operands[0], _number(op.operands[1]))
        case name:
            raise UnknownError(name)


def _size(memref: Any, axis: int) -> int:
    if not memref.type.is_dynamic_dim(axis):
        return int(memref.type.get_dim_size(axis))
    op = _owner(memref)
    dynamic: int = sum(memref.type.is_dynamic_dim(i) for i in range(axis))
    match op.name:
        case "memref.alloc" | "memref.alloca":
            return _number(op.operands[dynamic])
        case "memref.cast":
            return _size(op.operands[0], axis)
        case "memref.subview":
            offsets = int(op.attributes["operandSegmentSizes"][1])
            return _number(op.operands[1 + offsets + dynamic])
        case "memref.view":
            return _number(op.operands[2 + dynamic])
        case name:
            raise UnknownError(name)
