"""Whether the source of a copy serves as the target, so that the target's allocation goes. It does iff

1. the target is a whole allocation, and other memory does as well (`models.new_memory`); it is one of the copy's
   block, or is used in that block only (`not-allocated-here`, `asynchronous`, `does-more-than-allocate`, `not-known-to-move`,
   `not-ordinary-memory`);
2. nothing touches the target before the copy, and the source is known wherever the target is (`touched-between`,
   `destination-later`);
3. no write to one of the two is read in the other: the source is freed in the copy's block behind it, wherever it was made, and
   until then nothing writes it, nor the target while anything touches the source; or it is an allocation of the block that
   nothing touches after the copy; or after it nothing writes the target, and nothing the source as long as the target is read.
   The last op that reads the target may write the source all the same if it reads each element where it writes it
   (`still-used`);
4. it is clear who frees: the same op frees both, and the source's deallocation in the block goes, so that the target's free the
   source; or the whole source is passed on with the target's deallocations; or the target stays in the block, is freed as a
   whole by the op that frees such memory, and the source's deallocations can wait (`freed-by-another-op`, `freed-elsewhere`,
   `leaves-scope`);
5. every op that has the target takes the source's type, or a cast or slices made anew of it; none counts on the target's
   alignment (`analysis.allocations.retyping`) (`other-type`, `alignment-assumed`).
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.analysis.allocations.retyping import TypeFit, fit_of
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.copying.context import BufferReuse, CopyContext, Refusal
from hotdesk.analysis.copying.copies import Copy
from hotdesk.explain import Reason


def source_serves(context: CopyContext, copy: Copy) -> BufferReuse | Refusal:
    """What it takes, or the first constraint found not to hold."""
    memory, program = context.memory, context.program
    target = memory.owner(copy.target)
    if (
        target is None
        or target.buffer != copy.target
        or not (context.is_here(target, copy) or context.is_used_here(target, copy))
    ):
        return Refusal(1, Reason.NOT_ALLOCATED_HERE)
    if kept := context.why_kept(target):
        return Refusal(1, kept, target.op)
    before = memory.touching({target.buffer}, 0, copy.op)
    if before:
        return Refusal(2, Reason.TOUCHED_BETWEEN, before[0])
    if min(target.users) <= context.defined(copy.source, copy):
        return Refusal(2, Reason.DESTINATION_LATER, min(target.users))
    stays = memory.is_viewed_only(target) and not memory.leaves(target)
    freed = context.freed_here(copy, target)
    if freed is not None and (stays or context.is_heap(target)):
        writer = _written_until(context, copy, target, freed)
        if writer is not None:
            return Refusal(3, Reason.STILL_USED, writer)
        fit = fit_of(program, target, copy.source, stays=stays)
        if not isinstance(fit, TypeFit):
            return Refusal(5, *fit)
        return _freed_as_target(context, copy, target, freed, fit, stays=stays)
    owner = memory.owner(copy.source)
    if owner is not None and not (
        context.is_here(owner, copy) and not memory.leaves(owner) and memory.is_viewed_only(owner)
    ):
        owner = None
    after = memory.touching({target.buffer}, copy.op + 1, len(program.ops))
    end = context.top(after[-1], copy) if after else copy.op + 1
    read = memory.classes(copy.source)
    dead = owner is not None and memory.next_touching(read, copy.op + 1, len(program.ops)) is None
    if not dead:
        kept = [(copy.target, {target.buffer}, len(program.ops)), (copy.source, read, end)]
        writers = ((op, buffer) for buffer, classes, last in kept for op in memory.writing(classes, copy.op + 1, last))
        found = (op for op, buffer in writers if context.effects.may_write(op, buffer))
        writer = next((op for op in found if not _ends_there(context, copy, op, after)), None)
        if writer is not None:
            return Refusal(3, Reason.STILL_USED, writer)
    fit = fit_of(program, target, copy.source, stays=stays)
    if not isinstance(fit, TypeFit):
        return Refusal(5, *fit)
    whole = dead and owner is not None and owner.buffer == copy.source and context.is_heap(owner)
    whole = whole and context.is_heap(target) and context.is_here(target, copy)
    alike = owner is not None and context.are_freed_alike(owner, target)
    if whole and owner is not None and not alike and not stays:
        return Refusal(4, Reason.FREED_BY_ANOTHER_OP, owner.op)
    if whole and owner is not None and alike and (target.frees or not stays):
        if not context.are_here(owner.frees, copy) or not owner.is_freed_simply:
            return Refusal(4, Reason.FREED_ELSEWHERE, owner.frees[0])
        return BufferReuse(owner.frees, len(program.ops), min(target.users), fit)
    if not stays:
        return Refusal(4, Reason.LEAVES_SCOPE, max(target.users))
    if target.frees and not target.is_freed_simply:
        return Refusal(4, Reason.FREED_ELSEWHERE, target.frees[0])
    frees = memory.freeing(memory.classes(copy.source), copy.op + 1, end)
    if frees and (owner is None or not context.are_here(frees, copy) or not owner.is_freed_simply):
        return Refusal(4, Reason.FREED_ELSEWHERE, frees[0])
    last = context.program.within(after[-1], program.ops[copy.op].block) if after else None
    moved = tuple((free, last) for free in frees if last is not None)
    return BufferReuse(target.frees, end, min(target.users), fit, moved)


def _written_until(context: CopyContext, copy: Copy, target: Allocation, freed: int) -> int | None:
    """An op that writes one of the two before the source is freed, so that the other one would show it; None if there is none."""
    memory, read = context.memory, context.memory.classes(copy.source)
    for op in memory.writing(read, copy.op + 1, freed):
        if context.effects.may_write(op, copy.source):
            return op
    touched = memory.touching(read, copy.op + 1, freed)
    return next(iter(memory.writing({target.buffer}, copy.op + 1, freed)), None) if touched else None


def _freed_as_target(
    context: CopyContext, copy: Copy, target: Allocation, freed: int, fit: TypeFit, *, stays: bool
) -> BufferReuse | Refusal:
    """The source is freed where the target is; if nothing frees that yet, where it was, or behind the target's last use."""
    program, ends = context.program, len(context.program.ops)
    if target.frees or not stays:
        return BufferReuse((freed,), ends, min(target.users), fit)
    after = context.memory.touching({target.buffer}, freed + 1, ends)
    last = context.program.within(after[-1], program.ops[copy.op].block) if after else None
    return BufferReuse((), ends, min(target.users), fit, () if last is None else ((freed, last),))


def _ends_there(context: CopyContext, copy: Copy, op: int, after: Sequence[int]) -> bool:
    """Whether an op of the block is the last one to touch the target, and writes elements of the source as it reads them."""
    is_last = op == after[-1] and context.are_here((op,), copy)
    return is_last and context.effects.writes_where_it_reads(op, copy)
