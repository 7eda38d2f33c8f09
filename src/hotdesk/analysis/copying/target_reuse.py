"""Whether the target of a copy serves as the source, so that the source's allocation goes. It does iff

1. the source is a whole allocation of the copy's block, other memory does as well (`models.new_memory`), and only
   views of it are made (`not-allocated-here`, `asynchronous`, `does-more-than-allocate`, `not-known-to-move`,
   `not-ordinary-memory`, `leaves-scope`);
2. the target is known before the source is used, or is a view that can be made there (`destination-later`);
3. nothing touches the target's memory from the source's first use to the copy. An elementwise op that is this first use may read
   it where it writes (`touched-between`);
4. nothing touches the source after the copy (`still-used`);
5. every op that has the source takes the target's type, or a cast or slices made anew of it; none counts on the source's
   alignment (`analysis.allocations.retyping`) (`other-type`, `alignment-assumed`);
6. whatever frees the source is the op that frees such memory, of all of it (`freed-elsewhere`).
"""

from __future__ import annotations

from hotdesk.analysis.allocations.retyping import TypeFit, fit_of
from hotdesk.analysis.copying.context import BufferReuse, CopyContext, Refusal
from hotdesk.analysis.copying.copies import Copy
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.explain import Reason


def target_serves(context: CopyContext, copy: Copy) -> BufferReuse | Refusal:
    """What it takes, or the first constraint found not to hold."""
    memory, program = context.memory, context.program
    source = memory.owner(copy.source)
    if source is None or source.buffer != copy.source or not context.is_here(source, copy):
        return Refusal(1, Reason.NOT_ALLOCATED_HERE)
    if kept := context.why_kept(source):
        return Refusal(1, kept, source.op)
    if not memory.is_viewed_only(source) or memory.leaves(source):
        return Refusal(1, Reason.LEAVES_SCOPE, max(source.users))
    block = program.ops[copy.op].block
    first = context.program.within(source.users[0], block)
    if first is None or not memory.touching({source.buffer}, 0, copy.op):
        return Refusal(2, Reason.DESTINATION_LATER, copy.op)
    moved: tuple[tuple[int, int], ...] = ()
    if context.defined(copy.target, copy) >= first:
        maker = program.buffers[copy.target]
        if maker.kind is not Kind.VIEW or not context.are_known(maker.producer, first, copy):
            return Refusal(2, Reason.DESTINATION_LATER, maker.producer)
        moved = ((maker.producer, first),)
    start = memory.touching({source.buffer}, 0, copy.op)[0]
    top = context.program.within(start, block)
    window = start if top is None else top
    classes = memory.classes(copy.target)
    for op in memory.touching(classes, window, copy.op):
        makes_it = op == start == top and context.effects.reads_where_it_writes(op, copy, source)
        if not (makes_it or context.effects.is_apart(op, copy)):
            return Refusal(3, Reason.TOUCHED_BETWEEN, op)
    freed = memory.freeing(classes, window, copy.op)
    if freed:
        return Refusal(3, Reason.TOUCHED_BETWEEN, freed[0])
    after = memory.touching({source.buffer}, copy.op + 1, len(program.ops))
    if after:
        return Refusal(4, Reason.STILL_USED, after[0])
    fit = fit_of(program, source, copy.target, stays=True)
    if not isinstance(fit, TypeFit):
        return Refusal(5, *fit)
    if source.frees and not source.is_freed_simply:
        return Refusal(6, Reason.FREED_ELSEWHERE, source.frees[0])
    return BufferReuse(source.frees, copy.op + 1, first, fit, moved)
