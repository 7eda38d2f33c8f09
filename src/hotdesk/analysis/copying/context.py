"""What ops do to the source and the target of a copy, and where in its block each of the two is known and allocated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.retyping import TypeFit
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.copying.copies import Copy, MemoryClasses
from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.explain import Reason
from hotdesk.ir.types import is_memref
from hotdesk.models.generics import is_linalg
from hotdesk.models.memory_effects import Effects, effects_of, payload_effects, read_as_written, wholly_written
from hotdesk.models.new_memory import freeing_op, only_frees, why_not_replaced


class CopyEffects:
    """Answers for the copies of one function; the IR must not change meanwhile."""

    def __init__(self, memory: MemoryClasses, aliases: Aliases) -> None:
        self.memory = memory
        self._program = memory.program
        self._aliases = aliases

    def overwrites(self, op: ir.Operation, copy: Copy, classes: frozenset[int]) -> bool:
        """Whether an op writes all of the target, and reads nothing that may be in its memory."""
        target, effects = self._value(copy.target), effects_of(op)
        if effects is None:
            return False
        touched = (value for value in effects.reads if self.memory.classes_of(value) & classes)
        if any(not self._aliases.relation(value, target).apart for value in touched):
            return False
        return any(self._aliases.relation(value, target) is Alias.MUST for value in wholly_written(op))

    def may_write(self, op: int, buffer: int) -> bool:
        """Whether an op may write memory of a memref."""
        effects, classes = effects_of(self._program.ops[op].operation), self.memory.classes(buffer)
        return effects is None or any(
            self.memory.classes_of(value) & classes and not self._aliases.relation(value, self._value(buffer)).apart
            for value in effects.writes
        )

    def is_apart(self, op: int, copy: Copy) -> bool:
        """Whether an op touches nothing of the target."""
        values = self.memory.touched(op, self.memory.classes(copy.target))
        return values is not None and all(
            self._aliases.relation(value, self._value(copy.target)).apart for value in values
        )

    def reads_where_it_writes(self, op: int, copy: Copy, source: Allocation) -> bool:
        """Whether an op writes the source element by element, and of the target reads only the element that it writes."""
        operation, target = self._program.ops[op].operation, self._program.buffers[copy.target]
        effects = effects_of(operation)
        if effects is None:
            return False
        classes = self.memory.classes(copy.target)
        inside = payload_effects(operation) if is_linalg(operation) else Effects()
        assert inside is not None
        apart_from = [*effects.writes, *inside.reads, *inside.writes]
        if any(not self._is_value_apart(value, target.value, classes) for value in apart_from):
            return False
        elementwise = read_as_written(operation)
        sourced = [value for value in effects.writes if source.buffer in self.memory.classes_of(value)]
        if any(value != self._value(source.buffer) for value in sourced):
            return False
        for number, value in enumerate(operation.operands):
            if value not in effects.reads or not self.memory.classes_of(value) & classes:
                continue
            apart = self._aliases.relation(value, target.value).apart
            if not apart and not (self._are_same_or_apart(value, target.value) and number in elementwise):
                return False
        return True

    def writes_where_it_reads(self, op: int, copy: Copy) -> bool:
        """Whether an op reads the target of a copy element by element, and writes no element of the source but that one."""
        operation, (source, target) = self._program.ops[op].operation, map(self._value, (copy.source, copy.target))
        effects = effects_of(operation)
        if effects is None or (is_linalg(operation) and payload_effects(operation) != Effects()):
            return False
        classes, elementwise = self.memory.classes(copy.target), read_as_written(operation)
        read = [
            (n, v)
            for n, v in enumerate(operation.operands)
            if self.memory.classes_of(v) & classes and is_memref(v.type)
        ]
        if any(v != target or v in effects.writes or number not in elementwise for number, v in read):
            return False
        of_source = self.memory.classes(copy.source)
        written = [value for value in effects.writes if not self._is_value_apart(value, source, of_source)]
        return all(self._are_same_or_apart(value, source) for value in written)

    def _are_same_or_apart(self, a: ir.Value, b: ir.Value) -> bool:
        """Whether two memrefs that may overlap are then the same element by element, as arguments are taken to be."""
        if self._aliases.relation(a, b) is Alias.MUST:
            return True
        kinds = {self._program.buffers[self._program.numbers[value]].kind for value in (a, b)}
        return kinds == {Kind.ARGUMENT} and a.type == b.type

    def _is_value_apart(self, value: ir.Value, other: ir.Value, classes: frozenset[int]) -> bool:
        """Whether a memref shares no element with another one, which has these classes."""
        return not self.memory.classes_of(value) & classes or self._aliases.relation(value, other).apart

    def _value(self, buffer: int) -> ir.Value:
        return self._program.buffers[buffer].value


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

    def __init__(
        self, function: ir.Operation, arguments_overlap: bool = True, freeing: FreeingCalls | None = None
    ) -> None:
        self.memory = MemoryClasses(function, freeing)
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
