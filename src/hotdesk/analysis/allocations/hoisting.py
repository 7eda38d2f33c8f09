"""Where an allocation may stand instead: above all its uses, or in front of the loops that it is in.

*Above its uses* it goes to the lowest block that dominates every use of every alias, so that one place frees it on all paths:
1. its sizes are defined there (`size-defined-below`);
2. it leaves no loop on its way, and no region of which it is not known how often it runs (`kept-between-iterations`,
   `unknown-region`);
3. nobody frees it, keeps a pointer to it or returns it. On the paths that did not allocate before, nobody would free it, since
   only those that did come by whoever owns it. What is returned needs no move either: the caller frees it on every path
   (`freed-elsewhere`, `kept-by-unknown`, `leaves-scope`).
4. nothing but its sizes says when or how often it may be made, by `models.new_memory` (`not-ordinary-memory`,
   `does-more-than-allocate`, `asynchronous`, `not-known-to-move`).

*In front of a loop* it goes out of each loop around it, from the inside out, as long as
1. its sizes are defined there (`size-defined-below`);
2. no alias is handed from one iteration to the next or out of the loop: then two of them are in use at one time
   (`kept-between-iterations`, `leaves-scope`);
3. the iterations do not run at the same time: then each needs its own (`parallel-iterations`);
4. no op keeps a pointer to it (`kept-by-unknown`);
5. nobody frees it, or a deallocation in its block frees nothing else and can go with it (`freed-elsewhere`);
6. of the regions on its way it is known how often they run (`unknown-region`);
7. nothing but its sizes says when or how often it may be made, by `models.new_memory` (`not-ordinary-memory`,
   `does-more-than-allocate`, `asynchronous`, `not-known-to-move`).

So neither makes a leak of a program that frees its buffers. In the new block an allocation stands as late as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferOp
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.graphs import postorder
from hotdesk.ir.walking import constant_of, defining_op, is_constant
from hotdesk.models.control_flow import LOOPS, PARALLEL
from hotdesk.models.memref import asks_for_size
from hotdesk.models.new_memory import new_memory, why_not_moved

_COMBINING: Mapping[str, Callable[[Iterable[bool]], bool]] = {
    "arith.maxsi": any,
    **dict.fromkeys(
        ("arith.addi", "arith.muli", "arith.minsi", "arith.divsi", "arith.floordivsi", "arith.ceildivsi"), all
    ),
}
"""Ops whose result is not negative if any, or all, of their operands are not."""


@dataclass(frozen=True, slots=True)
class Move:
    """An allocation that goes in front of `before`; `after` is behind what its deallocations go, None if there are none.

    `unsure` are its operands that may be negative where nothing asked for it before: sizes, clamped to zero.
    """

    op: ir.Operation
    before: ir.Operation
    frees: tuple[ir.Operation, ...]
    after: ir.Operation | None
    unsure: tuple[int, ...]
    decision: Decision


class Hoisting:
    """Answers for the allocations of one function; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, freeing: FreeingCalls | None = None) -> None:
        self.allocations = Allocations(function, freeing)
        self._program, self._dominance = self.allocations.program, self.allocations.dominance

    def above_uses(self, allocation: Allocation) -> Move | Decision | None:
        """Where all uses are below; None if the allocation is there already, or no path reaches it."""
        home = self.allocations.op(allocation).block
        wanted = self._above_all(allocation)
        if wanted == home or not self._dominance.dominates(wanted, home):
            return None
        stop = self._definitions(allocation)
        place = home
        reason: Reason | None = None
        because: Source | None = None
        for block in self._dominance.upwards(home):
            if reason := self._forbidden(place, block):
                because = self._around(place)
                break
            place = block
            if place in (wanted, stop):
                break
        if place == home:
            return self._refused(allocation, reason or Reason.SIZE_DEFINED_BELOW, because or self._size(allocation))
        if (owned := self._owned_elsewhere(allocation)) is not None:
            return self._refused(allocation, *owned)
        return self._move(allocation, place, Reason.DOMINATES_ALL_USES)

    def _owned_elsewhere(self, allocation: Allocation) -> tuple[Reason, Source] | None:
        """Who frees an allocation on the paths that come by it, and on no other; None if nobody does yet."""
        if allocation.frees:
            return Reason.FREED_ELSEWHERE, self.allocations.source(allocation.frees[0])
        if allocation.keepers:
            return Reason.KEPT_BY_UNKNOWN, self.allocations.source(allocation.keepers[0])
        returned = self.allocations.returned_by(allocation)
        return None if returned is None else (Reason.LEAVES_SCOPE, self.allocations.source(returned))

    def before_loops(self, allocation: Allocation) -> Move | Decision | None:
        """In front of the outermost loop that it may leave; None if it is directly in none."""
        home = place = self.allocations.op(allocation).block
        reason: Reason | None = None
        wanted, stop = self._above_all(allocation), self._definitions(allocation)
        because: Source | None = None
        while (parent := self._program.blocks[place].parent) != FUNCTION:
            if not is_loop(self._program.ops[parent]):
                break
            reason = self._keeps(allocation, parent, wanted, stop)
            if reason is not None:
                because = self._culprit(allocation, parent, reason)
                break
            place = self._program.ops[parent].block
        if place == home:
            return None if reason is None or because is None else self._refused(allocation, reason, because)
        return self._move(allocation, place, Reason.SERVES_EVERY_ITERATION)

    def _keeps(self, allocation: Allocation, loop: int, wanted: int, stop: int) -> Reason | None:
        """What keeps an allocation in a loop."""
        op = self._program.ops[loop]
        if op.name in PARALLEL:
            return Reason.PARALLEL_ITERATIONS
        if self._dominance.dominates(wanted, op.block) or self.allocations.comes_around(allocation, loop):
            return Reason.KEPT_BETWEEN_ITERATIONS
        if not self._dominance.dominates(stop, op.block):
            return Reason.SIZE_DEFINED_BELOW
        if allocation.keepers:
            return Reason.KEPT_BY_UNKNOWN
        home = self.allocations.op(allocation).block
        blocks = {self._program.ops[free].block for free in allocation.frees}
        if allocation.frees and not (allocation.is_freed_simply and blocks == {home}):
            return Reason.FREED_ELSEWHERE
        return None

    def _culprit(self, allocation: Allocation, loop: int, reason: Reason) -> Source:
        """The op that keeps an allocation in a loop."""
        if reason is Reason.SIZE_DEFINED_BELOW:
            return self._size(allocation)
        if reason is Reason.KEPT_BY_UNKNOWN:
            return self.allocations.source(allocation.keepers[0])
        return self.allocations.source(allocation.frees[0] if reason is Reason.FREED_ELSEWHERE else loop)

    def _above_all(self, allocation: Allocation) -> int:
        """The lowest block that dominates all aliases and what uses them."""
        buffers = [self._program.buffers[alias].block for alias in allocation.aliases]
        users = [self._program.ops[user].block for user in allocation.users]
        return self._dominance.common([self.allocations.op(allocation).block, *buffers, *users])

    def _definitions(self, allocation: Allocation) -> int:
        """The lowest of the blocks that define the sizes; the function's first one if there are none."""
        blocks = [self.allocations.block_of(operand) for operand in self.allocations.op(allocation).operation.operands]
        return max(blocks, key=self._dominance.depth, default=0)

    def _forbidden(self, inside: int, block: int) -> Reason | None:
        """Why nothing moves from a block to the next one above."""
        parent = self._program.blocks[inside].parent
        if parent == self._program.blocks[block].parent:
            return self._forbidden_by_cycles(inside, block)
        op = self._program.ops[parent]
        if op.name in PARALLEL:
            return Reason.PARALLEL_ITERATIONS
        if is_loop(op):
            return Reason.KEPT_BETWEEN_ITERATIONS
        return None if op.control else Reason.UNKNOWN_REGION

    def _forbidden_by_cycles(self, inside: int, block: int) -> Reason | None:
        """The same for two blocks of one region."""
        if inside == block or (self._dominance.cycle(inside), self._dominance.cycle(block)) == (-1, -1):
            return None
        together = self._dominance.cycle(inside) == self._dominance.cycle(block)
        if together and not self._dominance.returns_without(inside, block):
            return None
        return Reason.KEPT_BETWEEN_ITERATIONS

    def _move(self, allocation: Allocation, place: int, reason: Reason) -> Move | Decision:
        op = self.allocations.op(allocation)
        known, kept = new_memory(op.operation), why_not_moved(op.operation)
        if known is None or kept is not None:
            return self._refused(allocation, kept or Reason.NOT_KNOWN_TO_MOVE, self.allocations.source(op.number))
        around = self._program.within(op.number, place)
        before = self._program.ops[self._program.blocks[place].last if around is None else around].operation
        frees = tuple(self._program.ops[free].operation for free in allocation.frees)
        unsure = tuple(i for i in known.sizes if not is_not_negative(op.operation.operands[i]))
        source = self.allocations.source(op.number)
        decision = Decision("allocation", Outcome.MOVED, reason, (source,), self.allocations.bytes(allocation))
        return Move(op.operation, before, frees, before if frees else None, unsure, decision)

    def _refused(self, allocation: Allocation, reason: Reason, because: Source) -> Decision:
        sources = tuple(dict.fromkeys((self.allocations.source(allocation.op), because)))
        return Decision("allocation", Outcome.ALLOCATED, reason, sources, self.allocations.bytes(allocation))

    def _around(self, block: int) -> Source:
        """The op that a block is inside of, or what ends the block if that is the function."""
        record = self._program.blocks[block]
        return self.allocations.source(record.last if record.parent == FUNCTION else record.parent)

    def _size(self, allocation: Allocation) -> Source:
        """Where the size that is defined lowest comes from."""
        operands = list(self.allocations.op(allocation).operation.operands)
        lowest = max(operands, key=lambda value: self._dominance.depth(self.allocations.block_of(value)))
        op = defining_op(lowest)
        return Source("block argument") if op is None else self.allocations.source(self.allocations.positions[op])


def is_loop(op: BufferOp) -> bool:
    """Whether the regions of an op may run more than once."""
    repeats = any(0 <= edge.end <= edge.start for edge in op.edges)
    return op.name in LOOPS or (op.control and repeats)


def runs_in_parallel(op: BufferOp) -> bool:
    """Whether the iterations of an op may run at the same time."""
    return op.name in PARALLEL


def is_not_negative(value: ir.Value) -> bool:
    """Whether an index is known to be at least 0: constants, sizes and ranks, and their sums, products and the like.

    Looks at each op behind it once.
    """

    def combined(each: ir.Value) -> Iterable[ir.Value]:
        op = defining_op(each)
        return op.operands if op is not None and op.name in _COMBINING else ()

    known: dict[ir.Value, bool] = {}
    for each in postorder([value], combined):
        op = defining_op(each)
        known[each] = op is not None and _is_not_negative(op, known)
    return known[value]


def _is_not_negative(op: ir.Operation, known: Mapping[ir.Value, bool]) -> bool:
    """Whether the result of an op is, if it is known of the operands."""
    if is_constant(op):
        return (constant_of(op.results[0]) or 0) >= 0
    if op.name in _COMBINING:
        return _COMBINING[op.name](known[operand] for operand in op.operands)
    return asks_for_size(op.name)
