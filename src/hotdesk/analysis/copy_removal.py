"""Which copies need not be made, and what makes them unnecessary.

*Of itself*: source and target are the same memory, element by element.

*Not read*: what the copy writes is not wanted, iff

1. nothing in the block touches the target's memory any more, and the target is an allocation of the block that stays in it;
2. or the next op that does so is one of the block, overwrites all of the target, and reads none of it.

*The source serves as the target*, so that the target's allocation goes, iff

1. the target is a whole `memref.alloc` of the copy's block;
2. nothing touches the target before the copy, and the source is known wherever the target is;
3. the source is an allocation of the block that nothing touches after the copy; or after it nothing writes the target, and
   nothing the source as long as the target is read;
4. it is clear who frees: the whole source is handed over with the target's deallocations, or the target stays in the block, is
   freed by `memref.dealloc` of itself, and the source's deallocations can wait;
5. every op that has the target takes the source's type, or a cast or slices made anew of it; none counts on the target's
   alignment (`analysis.retyping`).

*The target serves as the source*, so that the source's allocation goes, iff

1. the source is a whole `memref.alloc` or `memref.alloca` of the copy's block, and only views of it are made;
2. the target is known before the source is used, or is a view that can be made there;
3. nothing touches the target's memory from the source's first use to the copy. An elementwise op that is this first use may read
   it where it writes;
4. nothing touches the source after the copy;
5. every op that has the source takes the target's type, as above;
6. whatever frees the source is a `memref.dealloc` of it.

Two arguments may be the same memory, unless `arguments_overlap` is false; it is assumed that they do not overlap in part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.aliasing import Alias, Aliases
from hotdesk.analysis.allocation_uses import Allocation, bytes_of
from hotdesk.analysis.buffer_program import Kind
from hotdesk.analysis.copies import Copy, Memory
from hotdesk.analysis.copy_effects import CopyEffects
from hotdesk.analysis.retyping import Fit, fit_of
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.sizes import Size


@dataclass(frozen=True, slots=True)
class Removal:
    """A copy that goes.

    Attributes:
        copy: the op.
        old: the allocation that goes as well; None if it stays.
        new: what its uses get.
        erased: the deallocations that go.
        fit: what it takes to put it there.
        front: the op of the copy's block that is, or has inside, the first of those uses.
        moved: (op, other): ops that go in front of or, for deallocations, behind another one.
        first, end: the ops that this is about, half open.
        classes: the memory that it is about.
    """

    copy: ir.Operation
    decision: Decision
    old: ir.Operation | None = None
    new: ir.Value | None = None
    fit: Fit = Fit.SAME
    front: ir.Operation | None = None
    erased: tuple[ir.Operation, ...] = ()
    moved: tuple[tuple[ir.Operation, ir.Operation], ...] = ()
    first: int = 0
    end: int = 0
    classes: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A constraint that does not hold, by number, and the op that is the reason."""

    number: int
    reason: Reason
    op: int = -1


@dataclass(frozen=True, slots=True)
class _Reuse:
    erased: tuple[int, ...]
    end: int
    first: int
    fit: Fit = Fit.SAME
    moved: tuple[tuple[int, int], ...] = ()


class CopyRemovals:
    """Answers for the copies of one function; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, arguments_overlap: bool = True) -> None:
        self.memory = Memory(function)
        self._program = self.memory.program
        self._dominance = self.memory.allocations.dominance
        self._aliases = Aliases(function, arguments_overlap, self.memory.allocations)
        self._effects = CopyEffects(self.memory, self._aliases)

    def find(self, copy: Copy) -> Removal | Decision:
        """Whether a copy may go, or why it has to stay."""
        memory, op = self.memory, self._program.ops[copy.op]
        classes = memory.classes(copy.source) | memory.classes(copy.target)
        source, target = self._value(copy.source), self._value(copy.target)
        if memory.classes(copy.source) & memory.classes(copy.target) and (
            self._aliases.relation(source, target) is Alias.MUST
        ):
            return self._removal(copy, Reason.COPY_OF_ITSELF, _Reuse((), copy.op + 1, copy.op), classes)
        unread = self._unread(copy)
        if unread:
            return self._removal(copy, Reason.OVERWRITTEN_UNREAD, _Reuse((), unread, copy.op), classes)
        forwards = self._source_serves(copy)
        if isinstance(forwards, _Reuse):
            return self._removal(copy, Reason.SOURCE_REUSED, forwards, classes, copy.target, source)
        backwards = self._target_serves(copy)
        if isinstance(backwards, _Reuse):
            return self._removal(copy, Reason.TARGET_REUSED, backwards, classes, copy.source, target)
        likely = backwards if forwards.number <= backwards.number else forwards
        because = self._source(likely.op if likely.op >= 0 else copy.op)
        hint = f"The source could serve but for constraint {forwards.number}, the target but for {backwards.number}."
        sources = tuple(dict.fromkeys((self._source(op.number), because)))
        return Decision("copy", Outcome.COPIED, likely.reason, sources, self._bytes(copy), hint=hint)

    def _unread(self, copy: Copy) -> int:
        """The number after the op that makes a copy unnecessary since nothing reads it before; 0 if there is none."""
        classes, owner = self.memory.classes(copy.target), self.memory.owner(copy.target)
        end = self._block_end(copy)
        later = self.memory.next_touching(classes, copy.op + 1, end)
        if later is None:
            stays = owner is not None and self._is_here(owner, copy) and not self.memory.leaves(owner)
            return end if stays and owner is not None and self.memory.is_viewed_only(owner) else 0
        op = self._program.ops[later]
        here = op.block == self._program.ops[copy.op].block
        return op.number + 1 if here and self._effects.overwrites(op.operation, copy, classes) else 0

    def _source_serves(self, copy: Copy) -> _Reuse | _Refusal:
        memory, program = self.memory, self._program
        target = memory.owner(copy.target)
        if (
            target is None
            or target.buffer != copy.target
            or not self._is_here(target, copy)
            or not self._is_heap(target)
        ):
            return _Refusal(1, Reason.NOT_ALLOCATED_HERE)
        before = memory.touching({target.buffer}, 0, copy.op)
        if before:
            return _Refusal(2, Reason.TOUCHED_BETWEEN, before[0])
        if min(target.users) <= self._defined(copy.source, copy):
            return _Refusal(2, Reason.DESTINATION_LATER, min(target.users))
        owner = memory.owner(copy.source)
        if owner is not None and not (
            self._is_here(owner, copy) and not memory.leaves(owner) and memory.is_viewed_only(owner)
        ):
            owner = None
        after = memory.touching({target.buffer}, copy.op + 1, len(program.ops))
        end = self._top(after[-1], copy) if after else copy.op + 1
        read = memory.classes(copy.source)
        dead = owner is not None and memory.next_touching(read, copy.op + 1, len(program.ops)) is None
        if not dead:
            written = [op for op in after if self._effects.may_write(op, copy.target)]
            used = memory.touching(read, copy.op + 1, end)
            written += [op for op in used if self._effects.may_write(op, copy.source)]
            if written:
                return _Refusal(3, Reason.STILL_USED, written[0])
        stays = memory.is_viewed_only(target) and not memory.leaves(target)
        fit = fit_of(program, target, copy.source, stays=stays)
        if not isinstance(fit, Fit):
            return _Refusal(5, *fit)
        if (
            dead
            and owner is not None
            and owner.buffer == copy.source
            and self._is_heap(owner)
            and (target.frees or not stays)
        ):
            if not self._are_here(owner.frees, copy) or not owner.is_freed_simply:
                return _Refusal(4, Reason.FREED_ELSEWHERE, owner.frees[0])
            return _Reuse(owner.frees, len(program.ops), min(target.users), fit)
        if not stays:
            return _Refusal(4, Reason.LEAVES_SCOPE, max(target.users))
        if target.frees and not target.is_freed_simply:
            return _Refusal(4, Reason.FREED_ELSEWHERE, target.frees[0])
        frees = memory.freeing(memory.classes(copy.source), copy.op + 1, end)
        if frees and (owner is None or not self._are_here(frees, copy) or not owner.is_freed_simply):
            return _Refusal(4, Reason.FREED_ELSEWHERE, frees[0])
        last = self._dominance.within(after[-1], program.ops[copy.op].block) if after else None
        moved = tuple((free, last) for free in frees if last is not None)
        return _Reuse(target.frees, end, min(target.users), fit, moved)

    def _target_serves(self, copy: Copy) -> _Reuse | _Refusal:
        memory, program = self.memory, self._program
        source = memory.owner(copy.source)
        if source is None or source.buffer != copy.source or not self._is_here(source, copy):
            return _Refusal(1, Reason.NOT_ALLOCATED_HERE)
        if not memory.is_viewed_only(source) or memory.leaves(source):
            return _Refusal(1, Reason.LEAVES_SCOPE, max(source.users))
        block = program.ops[copy.op].block
        first = self._dominance.within(source.users[0], block)
        if first is None or not memory.touching({source.buffer}, 0, copy.op):
            return _Refusal(2, Reason.DESTINATION_LATER, copy.op)
        moved: tuple[tuple[int, int], ...] = ()
        if self._defined(copy.target, copy) >= first:
            maker = program.buffers[copy.target]
            if maker.kind is not Kind.VIEW or not self._are_known(maker.producer, first, copy):
                return _Refusal(2, Reason.DESTINATION_LATER, maker.producer)
            moved = ((maker.producer, first),)
        start = memory.touching({source.buffer}, 0, copy.op)[0]
        top = self._dominance.within(start, block)
        window = start if top is None else top
        classes = memory.classes(copy.target)
        for op in memory.touching(classes, window, copy.op):
            makes_it = op == start == top and self._effects.reads_where_it_writes(op, copy, source)
            if not (makes_it or self._effects.is_apart(op, copy)):
                return _Refusal(3, Reason.TOUCHED_BETWEEN, op)
        freed = memory.freeing(classes, window, copy.op)
        if freed:
            return _Refusal(3, Reason.TOUCHED_BETWEEN, freed[0])
        after = memory.touching({source.buffer}, copy.op + 1, len(program.ops))
        if after:
            return _Refusal(4, Reason.STILL_USED, after[0])
        fit = fit_of(program, source, copy.target, stays=True)
        if not isinstance(fit, Fit):
            return _Refusal(5, *fit)
        if source.frees and not source.is_freed_simply:
            return _Refusal(6, Reason.FREED_ELSEWHERE, source.frees[0])
        return _Reuse(source.frees, copy.op + 1, first, fit, moved)

    def _removal(
        self,
        copy: Copy,
        reason: Reason,
        reuse: _Reuse,
        classes: frozenset[int],
        old: int = -1,
        new: ir.Value | None = None,
    ) -> Removal:
        ops = self._program.ops
        source = self._source(copy.op)
        front = self._dominance.within(reuse.first, ops[copy.op].block)
        owner = None if old < 0 else ops[self._program.buffers[old].producer].operation
        return Removal(
            ops[copy.op].operation,
            Decision("copy", Outcome.REMOVED, reason, (source,), self._bytes(copy)),
            owner,
            new,
            reuse.fit,
            None if front is None else ops[front].operation,
            tuple(ops[op].operation for op in reuse.erased),
            tuple((ops[op].operation, ops[other].operation) for op, other in reuse.moved),
            reuse.first,
            reuse.end,
            classes,
        )

    def _are_known(self, op: int, before: int, copy: Copy) -> bool:
        """Whether all operands of an op are known in front of another op of the copy's block."""
        block = self._program.ops[copy.op].block
        operands = self._program.ops[op].operation.operands
        allocations = self.memory.allocations
        return all(allocations.block_of(v) != block or allocations.defining(v) < before for v in operands)

    def _defined(self, buffer: int, copy: Copy) -> int:
        """The op of the copy's block that makes a memref; -1 if it is there before."""
        record = self._program.buffers[buffer]
        return record.producer if record.block == self._program.ops[copy.op].block else -1

    def _is_here(self, owner: Allocation, copy: Copy) -> bool:
        return self._program.ops[owner.op].block == self._program.ops[copy.op].block

    def _are_here(self, ops: Iterable[int], copy: Copy) -> bool:
        return all(self._program.ops[op].block == self._program.ops[copy.op].block for op in ops)

    def _is_heap(self, owner: Allocation) -> bool:
        return self._program.ops[owner.op].name == "memref.alloc"

    def _top(self, op: int, copy: Copy) -> int:
        """The number behind the op of the copy's block that is, or has inside, another one."""
        top = self._dominance.within(op, self._program.ops[copy.op].block)
        return len(self._program.ops) if top is None else self._program.ops[top].end

    def _block_end(self, copy: Copy) -> int:
        return self._program.blocks[self._program.ops[copy.op].block].end

    def _value(self, buffer: int) -> ir.Value:
        return self._program.buffers[buffer].value

    def _bytes(self, copy: Copy) -> Size:
        return bytes_of(self._value(copy.target), self.memory.allocations.sizes)

    def _source(self, op: int) -> Source:
        return self.memory.allocations.source(op)
