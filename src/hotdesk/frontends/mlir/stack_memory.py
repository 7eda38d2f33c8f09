"""Makes planned allocations of what programs in MLIR put on the stack, which is small and grows in loops.

    scf.for %i … {                                    scf.for %i … {
      memref.alloca_scope {
        %t = memref.alloca(%n) : memref<?xf32>   ->     %t = memref.alloc(%n) : memref<?xf32>
        …                                               …
      } }                                               memref.dealloc %t }

1. In a program on memrefs it is freed at the end of the block that allocates it. Where it leaves that, what allocates it goes in
   front of the branches around, or to the function's first block, as far as its sizes are known there; then it is freed at that
   block's end, or where the function returns. Any other is taken back when the call ends: a `scf.while` or a loop of blocks that
   hands it to its next turn allocates it anew in each.
2. In a program on tensors deallocation says where it ends.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, Kind
from hotdesk.ir.building import create, replace
from hotdesk.ir.walking import attributes_of, defined_functions, entry_block, nested_ops
from hotdesk.models.control_flow import BRANCHES
from hotdesk.models.new_memory import ALLOC, ALLOCA, DEALLOC, SCOPE
from hotdesk.models.payloads import inlined
from hotdesk.models.scf import WHILE


def plan_stack_memory(module: ir.Module, *, on_memrefs: bool) -> None:
    """Makes allocations of what lies on the stack, and takes apart the scopes of it."""
    for function in defined_functions(module):
        made, scopes = ([op for op in nested_ops(function) if op.name == name] for name in (ALLOCA, SCOPE))
        if on_memrefs and made:
            _free(function)
        for op in made:
            kinds = [result.type for result in op.results]
            replace(op, create(ALLOC, list(op.operands), kinds, attributes_of(op), before=op))
        for scope in scopes:
            passed = inlined(next(iter(scope.regions[0].blocks)), [], scope)
            for old, new in zip(scope.results, passed, strict=True):
                old.replace_all_uses_with(new)
            scope.erase()


def _free(function: ir.Operation) -> None:
    """Rule 1."""
    allocations = Allocations(function)
    program = allocations.program
    for each in [each for each in allocations.all if program.buffers[each.buffer].kind is Kind.STACK]:
        op = allocations.op(each).operation
        block, place = _where(allocations, each)
        if place != each.op:
            cast(Any, op).move_before(program.ops[place].operation)
        ends: list[ir.Operation] = []
        if each.keepers:
            continue
        if not _leaves(allocations, each, block):
            ends = [program.ops[program.blocks[block].last].operation]
        elif op.block == entry_block(function):
            ends = [end.operation for end in program.returns if end.number not in each.users]
        for end in ends:
            create(DEALLOC, [op.results[0]], [], before=end)


def _where(allocations: Allocations, allocation: Allocation) -> tuple[int, int]:
    """The block that memory does not leave, or the outermost one in which it may be allocated, and the op before which it is."""
    program, place = allocations.program, allocation.op
    is_anew = bool(allocation.keepers) or allocations.comes_around(allocation)
    sizes = [allocations.block_of(size) for size in program.ops[place].operation.operands]
    while _leaves(allocations, allocation, block := program.ops[place].block):
        around = program.blocks[block].parent
        if around == FUNCTION:
            first = program.blocks[0]
            if block != 0 and not is_anew and all(size == 0 for size in sizes):
                return 0, first.last
            break
        if program.ops[around].name not in BRANCHES and (is_anew or program.ops[around].name != WHILE):
            break
        outside = program.ops[around].block
        if any(size != outside and program.within_block(size, outside) is not None for size in sizes):
            break
        place = around
    return block, place


def _leaves(allocations: Allocations, allocation: Allocation, block: int) -> bool:
    """Whether memory is used outside of a block, or passed on by its end."""
    program = allocations.program
    end = program.blocks[block].last
    return any(user == end or program.within(user, block) is None for user in allocation.users)
