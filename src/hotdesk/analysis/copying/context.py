"""What copies may do without each other, and the block around one: who is allocated there, what is known where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.given_freed import GivenFreed
from hotdesk.analysis.allocations.retyping import TypeFit
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.copying.copies import Copy, MemoryClasses
from hotdesk.analysis.copying.effects import CopyEffects
from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.explain import Reason
from hotdesk.models.new_memory import freeing_op, only_frees, why_not_replaced


@dataclass(frozen=True, slots=True)
class Refusal:
    """A constraint that does not hold, by number, and the op that is the reason."""

    number: int
    reason: Reason
    op: int = -1


@dataclass(frozen=True, slots=True)
class BufferReuse:
    """One buffer in the place of the other; all are op numbers.

    Attributes:
        erased: the deallocations that go.
        end: behind the last op that this is about.
        first: the first of the uses that change.
        fit: what it takes to put it there.
        moved: (op, other): ops that go in front of or, for deallocations, behind another one.
    """

    erased: tuple[int, ...]
    end: int
    first: int
    fit: TypeFit = TypeFit.SAME
    moved: tuple[tuple[int, int], ...] = ()


class CopyContext:
    """What is around the copies of one function; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, arguments_overlap: bool = True, given: GivenFreed | None = None) -> None:
        self.memory = MemoryClasses(function, given)
        self.program = self.memory.program
        self.dominance = self.memory.allocations.dominance
        self.aliases = Aliases(function, arguments_overlap, self.memory.allocations)
        self.effects = CopyEffects(self.memory, self.aliases)

    def value(self, buffer: int) -> ir.Value:
        return self.program.buffers[buffer].value

    def is_here(self, owner: Allocation, copy: Copy) -> bool:
        """Whether an allocation stands in the copy's block."""
        return self.program.ops[owner.op].block == self.program.ops[copy.op].block

    def is_used_here(self, owner: Allocation, copy: Copy) -> bool:
        """Whether an allocation of a block around the copy's is used in the copy's block only, and freed behind it."""
        block = self.program.ops[copy.op].block
        used = set(owner.users) - set(owner.frees)
        inside = all(self.program.within(user, block) is not None for user in used)
        return inside and all(free > copy.op for free in owner.frees)

    def are_here(self, ops: Iterable[int], copy: Copy) -> bool:
        return all(self.program.ops[op].block == self.program.ops[copy.op].block for op in ops)

    def is_heap(self, owner: Allocation) -> bool:
        """Whether somebody has to free an allocation."""
        return self.program.buffers[owner.buffer].kind is Kind.ALLOCATION

    def why_kept(self, owner: Allocation) -> Reason | None:
        """Why other memory does not do as well as an allocation; None if it does."""
        return why_not_replaced(self.program.ops[owner.op].operation)

    def are_freed_alike(self, one: Allocation, other: Allocation) -> bool:
        """Whether one op frees both allocations: what one of them is passed on as, the other one may be."""
        return len({freeing_op(self.program.ops[each.op].operation) for each in (one, other)}) == 1

    def freed_here(self, copy: Copy, target: Allocation) -> int | None:
        """The op of the copy's block behind it that frees the source as what frees the target would, which nothing does before.

        None if there is none, or the target is no memory of the block.
        """
        if not self.is_here(target, copy):
            return None
        program, name = self.program, freeing_op(self.program.ops[target.op].operation)
        shown = (copy.source, program.root(copy.source))
        for user in sorted({user for buffer in shown for user in program.users[buffer] if user > copy.op}):
            op = program.ops[user]
            if op.name != name or op.block != program.ops[copy.op].block or not only_frees(op.operation):
                continue
            whole = self.aliases.relation(op.operation.operands[0], self.value(copy.source)) is Alias.MUST
            alone = len(op.operands) == 1 and not any(copy.op < free < user for free in target.frees)
            return user if whole and alone else None
        return None

    def are_known(self, op: int, before: int, copy: Copy) -> bool:
        """Whether all operands of an op are known in front of another op of the copy's block."""
        block = self.program.ops[copy.op].block
        operands = self.program.ops[op].operation.operands
        allocations = self.memory.allocations
        return all(allocations.block_of(v) != block or allocations.defining(v) < before for v in operands)

    def defined(self, buffer: int, copy: Copy) -> int:
        """The op of the copy's block that makes a memref; -1 if it is there before."""
        record = self.program.buffers[buffer]
        return record.producer if record.block == self.program.ops[copy.op].block else -1

    def top(self, op: int, copy: Copy) -> int:
        """The number behind the op of the copy's block that is, or has inside, another one."""
        top = self.program.within(op, self.program.ops[copy.op].block)
        return len(self.program.ops) if top is None else self.program.ops[top].end

    def block_end(self, copy: Copy) -> int:
        return self.program.blocks[self.program.ops[copy.op].block].end
