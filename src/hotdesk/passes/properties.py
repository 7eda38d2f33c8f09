"""What passes require and ensure of a module: each property says what holds, and finds an op that breaks it.

`Pass.apply` checks them. They are read off the IR by code that shares nothing with the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.functions import named_functions
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_any_tensor, is_buffer
from hotdesk.ir.walking import all_functions, modules, nested_ops
from hotdesk.models.func import CALLS
from hotdesk.models.memref import stored
from hotdesk.models.new_memory import freed


@dataclass(frozen=True, slots=True)
class Property:
    """What may hold of a module: in words, and the first op that breaks it, or None."""

    says: str
    broken_by: Callable[[ir.Module], ir.Operation | None]


def _tensor(module: ir.Module) -> ir.Operation | None:
    """A function that takes or gives a tensor, or an op with one as a result or as an argument of its blocks."""
    for function in (function for each in modules(module) for function in named_functions(each).values()):
        if any(map(is_any_tensor, signature(function).types)):
            return function
        for op in (function, *nested_ops(function)):
            inside = (argument for region in op.regions for block in region.blocks for argument in block.arguments)
            if any(is_any_tensor(value.type) for value in (*op.results, *inside)):
                return op
    return None


def _undefined_tensor(module: ir.Module) -> ir.Operation | None:
    ops = (op for function in all_functions(module) for op in nested_ops(function))
    return next((op for op in ops if op.name == "tensor.empty"), None)


def _kept_allocation(module: ir.Module) -> ir.Operation | None:
    """An allocation that is neither freed nor passed on, by any name; of those whose regions control certainly leaves."""
    for function in all_functions(module):
        allocations, ends = _read(function)
        for op in allocations:
            if not _goes_somewhere(op.results[0], ends):
                return op
    return None


def _read(function: ir.Operation) -> tuple[list[ir.Operation], set[ir.Operation]]:
    """The allocations that only regions of one block are around, which lead out at the end; and the last op of each block."""
    allocations: list[ir.Operation] = []
    ends: set[ir.Operation] = set()
    waiting: list[tuple[Any, bool]] = [(function.regions[0], True)]
    while waiting:
        region, is_left = waiting.pop()
        blocks = [[view.operation for view in block.operations] for block in region.blocks]
        ends.update(ops[-1] for ops in blocks if ops)
        for ops in blocks:
            here = is_left and len(blocks) == 1 and bool(ops) and ops[-1].name != "llvm.unreachable"
            for op in ops:
                waiting += ((each, here) for each in op.regions)
                if here and op.name == "memref.alloc":
                    allocations.append(op)
    return allocations, ends


def _goes_somewhere(allocated: ir.Value, ends: Collection[ir.Operation]) -> bool:
    """Whether memory is freed, stored, or passed on by the end of a block, by any name that ops and their regions give it."""
    known = {allocated}
    waiting = [allocated]
    while waiting:
        for user, number in _uses(waiting.pop()):
            if number in freed(user) or user in ends or number < len(stored(user)):
                return True
            inside = (argument for region in user.regions for block in region.blocks for argument in block.arguments)
            made = () if user.name in CALLS else (*user.results, *inside)
            new = [result for result in made if is_buffer(result.type) and result not in known]
            known.update(new)
            waiting += new
    return False


def _uses(value: ir.Value) -> Iterator[tuple[ir.Operation, int]]:
    for use in value.uses:
        yield cast(Any, use.owner).operation, use.operand_number


NO_TENSORS = Property("no tensor is left", _tensor)
NO_UNDEFINED_TENSORS = Property("no tensor.empty is left", _undefined_tensor)
ALL_FREED = Property("every allocation is freed or passed on", _kept_allocation)
