"""Which allocations may lie on the stack.

1. The size is static and at most the limit; or the rank is at most another limit and each dynamic size is the rank of some
   memref (`memref.rank`), which is small (`too-large`, `size-not-static`).
2. The allocation, and whatever may be a view of it, stays inside its scope: the innermost function, loop or `memref.alloca_scope`
   around it that gives its stack back. No op keeps a pointer to it (`leaves-scope`, `kept-by-unknown`).
3. Between the scope and the allocation nothing repeats: a `scf.while` or a cycle of blocks would add to the stack at each turn.
   Of all regions between the two it is known when they run (`made-repeatedly`, `unknown-region`).
4. Whatever frees it is the op that frees such memory, and frees nothing else, so that these deallocations go
   (`freed-elsewhere`).
5. Other memory does as well, by `models.new_memory` (`not-ordinary-memory`, `does-more-than-allocate`, `asynchronous`,
   `not-known-to-move`).
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.types import alignment_of
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defining_op
from hotdesk.models.control_flow import STACK_SCOPES
from hotdesk.models.new_memory import dynamic_sizes, why_not_replaced


@dataclass(frozen=True, slots=True)
class Promotion:
    """An allocation that may lie on the stack, the bytes that it is aligned to, and the deallocations that go then."""

    op: ir.Operation
    alignment: int
    frees: tuple[ir.Operation, ...]
    decision: Decision


class Promotions:
    """Answers for the allocations of one function; the IR must not change meanwhile."""

    def __init__(
        self, function: ir.Operation, most_bytes: int, most_dims: int, freeing: FreeingCalls | None = None
    ) -> None:
        self.allocations = Allocations(function, freeing)
        self._most_bytes, self._most_dims = most_bytes, most_dims

    def find(self, allocation: Allocation) -> Promotion | Decision:
        """Whether an allocation may lie on the stack."""
        op, because = self.allocations.op(allocation), allocation.op
        found = why_not_replaced(op.operation) or self._too_much(allocation)
        if found is None:
            found, because = self._left(allocation)
        if found is None and allocation.frees and not allocation.is_freed_simply:
            found, because = Reason.FREED_ELSEWHERE, allocation.frees[0]
        sources = tuple(map(self.allocations.source, dict.fromkeys((allocation.op, because))))
        size = self.allocations.bytes(allocation)
        if found is not None:
            return Decision("allocation", Outcome.ALLOCATED, found, sources, size)
        frees = tuple(self.allocations.program.ops[free].operation for free in allocation.frees)
        decision = Decision("allocation", Outcome.ON_STACK, Reason.SMALL_AND_LOCAL, sources, size)
        return Promotion(op.operation, alignment_of(self.allocations, allocation), frees, decision)

    def _too_much(self, allocation: Allocation) -> Reason | None:
        """Rule 1."""
        value = self.allocations.value(allocation)
        sizes = shape_of(value.type)
        if None not in sizes:
            total = self.allocations.bytes(allocation)
            return None if isinstance(total, int) and total <= self._most_bytes else Reason.TOO_LARGE
        ranks = all(
            (owner := defining_op(v)) is not None and owner.name == "memref.rank" for v in dynamic_sizes(value) or ()
        )
        return None if ranks and len(sizes) <= self._most_dims else Reason.SIZE_NOT_STATIC

    def _left(self, allocation: Allocation) -> tuple[Reason | None, int]:
        """Rules 2 and 3: why the allocation may not lie on the stack, and because of which op."""
        program, dominance = self.allocations.program, self.allocations.dominance
        block = program.ops[allocation.op].block
        while True:
            parent = program.blocks[block].parent
            if dominance.cycle(block) >= 0:
                return Reason.MADE_REPEATEDLY, program.blocks[block].last
            if parent == FUNCTION:
                break
            op = program.ops[parent]
            if op.name in STACK_SCOPES:
                break
            if not op.control:
                return Reason.UNKNOWN_REGION, parent
            if any(0 <= edge.end <= edge.start for edge in op.edges):
                return Reason.MADE_REPEATEDLY, parent
            block = op.block
        first, end = (0, len(program.ops)) if parent == FUNCTION else (parent, program.ops[parent].end)
        for user in allocation.users:
            op = program.ops[user]
            ends_scope = program.blocks[op.block].parent == parent and program.blocks[op.block].last == user
            if not first <= user < end or (ends_scope and not program.blocks[op.block].branches):
                return Reason.LEAVES_SCOPE, user
        if allocation.keepers:
            return Reason.KEPT_BY_UNKNOWN, allocation.keepers[0]
        return None, allocation.op
