"""Whether the source of a copy serves as the target, so that the target's allocation goes. It does iff

1. the target is a whole allocation, and other memory does as well (`analysis.allocations.new_memory`); it is one of the copy's
   block, or is used in that block only;
2. nothing touches the target before the copy, and the source is known wherever the target is;
3. the source is an allocation of the block that nothing touches after the copy; or after it nothing writes the target, and
   nothing the source as long as the target is read;
4. it is clear who frees: the whole source is handed over with the target's deallocations, and the same op frees both; or the
   target stays in the block, is freed as a whole by the op that frees such memory, and the source's deallocations can wait;
5. every op that has the target takes the source's type, or a cast or slices made anew of it; none counts on the target's
   alignment (`analysis.allocations.retyping`).
"""

from __future__ import annotations

from hotdesk.analysis.allocations.retyping import Fit, fit_of
from hotdesk.analysis.copying.context import CopyContext, Refusal, Reuse
from hotdesk.analysis.copying.copies import Copy
from hotdesk.explain import Reason


def source_serves(context: CopyContext, copy: Copy) -> Reuse | Refusal:
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
        writer = next((op for op, buffer in writers if context.effects.may_write(op, buffer)), None)
        if writer is not None:
            return Refusal(3, Reason.STILL_USED, writer)
    stays = memory.is_viewed_only(target) and not memory.leaves(target)
    fit = fit_of(program, target, copy.source, stays=stays)
    if not isinstance(fit, Fit):
        return Refusal(5, *fit)
    whole = dead and owner is not None and owner.buffer == copy.source and context.is_heap(owner)
    whole = whole and context.is_heap(target) and context.is_here(target, copy)
    alike = owner is not None and context.are_freed_alike(owner, target)
    if whole and owner is not None and not alike and not stays:
        return Refusal(4, Reason.FREED_BY_ANOTHER_OP, owner.op)
    if whole and owner is not None and alike and (target.frees or not stays):
        if not context.are_here(owner.frees, copy) or not owner.is_freed_simply:
            return Refusal(4, Reason.FREED_ELSEWHERE, owner.frees[0])
        return Reuse(owner.frees, len(program.ops), min(target.users), fit)
    if not stays:
        return Refusal(4, Reason.LEAVES_SCOPE, max(target.users))
    if target.frees and not target.is_freed_simply:
        return Refusal(4, Reason.FREED_ELSEWHERE, target.frees[0])
    frees = memory.freeing(memory.classes(copy.source), copy.op + 1, end)
    if frees and (owner is None or not context.are_here(frees, copy) or not owner.is_freed_simply):
        return Refusal(4, Reason.FREED_ELSEWHERE, frees[0])
    last = context.dominance.within(after[-1], program.ops[copy.op].block) if after else None
    moved = tuple((free, last) for free in frees if last is not None)
    return Reuse(target.frees, end, min(target.users), fit, moved)
