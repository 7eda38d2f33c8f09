"""Which copies need not be made, and what makes them unnecessary.

*Of nothing*: the memrefs have no elements.

*Of itself*: source and target are the same memory, element by element.

*Not read*: what the copy writes is not wanted, iff

1. nothing in the block touches the target's memory any more, and the target is an allocation of the block that stays in it;
2. or the next op that does so is one of the block, overwrites all of the target, and reads none of it.

*Of what is there already*: the target holds what the copy would write, iff

1. a copy in front of it in its block copies between the same two memrefs, in either direction;
2. source and target have no element in common;
3. nothing between the two copies writes or frees either. Looked at are at most `_NEAR` ops.

*The source serves as the target*, so that the target's allocation goes: constraints 1 to 5 of `analysis.copying.source_reuse`.

*The target serves as the source*, so that the source's allocation goes: constraints 1 to 6 of `analysis.copying.target_reuse`.

Two arguments may be the same memory, unless `arguments_overlap` is false; it is assumed that they do not overlap in part.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.retyping import TypeFit
from hotdesk.analysis.allocations.uses import bytes_of
from hotdesk.analysis.copying import source_reuse, target_reuse
from hotdesk.analysis.copying.context import BufferReuse, CopyContext
from hotdesk.analysis.copying.copies import Copy
from hotdesk.analysis.copying.source_reuse import source_serves
from hotdesk.analysis.copying.target_reuse import target_serves
from hotdesk.analysis.memrefs.aliasing import Alias
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.explain.conditions import condition
from hotdesk.ir.types import shape_of
from hotdesk.sizes.size import Size

_PAGE = "docs/passes/hotdesk-copy-removal.md"
_NEAR, _TRIED = 1_024, 4


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
    fit: TypeFit = TypeFit.SAME
    front: ir.Operation | None = None
    erased: tuple[ir.Operation, ...] = ()
    moved: tuple[tuple[ir.Operation, ir.Operation], ...] = ()
    first: int = 0
    end: int = 0
    classes: frozenset[int] = frozenset()


class CopyRemovals:
    """Answers for the copies of one function; the IR must not change meanwhile."""

    def __init__(
        self, function: ir.Operation, arguments_overlap: bool = True, freeing: FreeingCalls | None = None
    ) -> None:
        self._context = CopyContext(function, arguments_overlap, freeing)
        self.memory, self._program = self._context.memory, self._context.program
        self._copies = {copy.op: copy for copy in self.memory.copies}
        self._before = self._pairs()

    def find(self, copy: Copy) -> Removal | Decision:
        """Whether a copy may go, or why it has to stay."""
        memory, op = self.memory, self._program.ops[copy.op]
        classes = memory.classes(copy.source) | memory.classes(copy.target)
        source, target = self._context.value(copy.source), self._context.value(copy.target)
        if memory.classes(copy.source) & memory.classes(copy.target) and (
            self._context.aliases.relation(source, target) is Alias.MUST
        ):
            return self._removal(copy, Reason.COPY_OF_ITSELF, BufferReuse((), copy.op + 1, copy.op), classes)
        if 0 in shape_of(target.type):
            return self._removal(copy, Reason.NOTHING_COPIED, BufferReuse((), copy.op + 1, copy.op), classes)
        unread = self._unread(copy)
        if unread:
            return self._removal(copy, Reason.OVERWRITTEN_UNREAD, BufferReuse((), unread, copy.op), classes)
        earlier = self._earlier(copy)
        if earlier is not None:
            return self._removal(copy, Reason.ALREADY_THERE, BufferReuse((), copy.op + 1, earlier), classes)
        forwards = source_serves(self._context, copy)
        if isinstance(forwards, BufferReuse):
            return self._removal(copy, Reason.SOURCE_REUSED, forwards, classes, copy.target, source)
        backwards = target_serves(self._context, copy)
        if isinstance(backwards, BufferReuse):
            return self._removal(copy, Reason.TARGET_REUSED, backwards, classes, copy.source, target)
        likely = backwards if forwards.number <= backwards.number else forwards
        because = self._source(likely.op if likely.op >= 0 else copy.op)
        source_fails = f"{forwards.number} {condition(source_reuse.__doc__, forwards.number)}"
        target_fails = f"{backwards.number} {condition(target_reuse.__doc__, backwards.number)}"
        hint = (
            f"The source would serve if condition {source_fails} of {source_reuse.__name__[8:]} held; "
            f"the target, if {target_fails} of {target_reuse.__name__[8:]} did ({_PAGE})."
        )
        sources = tuple(dict.fromkeys((self._source(op.number), because)))
        return Decision("copy", Outcome.COPIED, likely.reason, sources, self._bytes(copy), hint=hint)

    def _earlier(self, copy: Copy) -> int | None:
        """The copy before it after which the target holds what this one would write; None if there is none."""
        relation, value = self._context.aliases.relation, self._context.value
        ends = {copy.source: value(copy.source), copy.target: value(copy.target)}
        for number in self._before.get(copy.op, ()):
            other = self._copies[number]
            ways = ((other.source, other.target), (other.target, other.source))
            if not any(
                relation(value(a), ends[copy.source]) is Alias.MUST
                and relation(value(b), ends[copy.target]) is Alias.MUST
                for a, b in ways
            ):
                continue
            if not relation(ends[copy.source], ends[copy.target]).apart:
                return None
            classes = self.memory.classes(copy.source) | self.memory.classes(copy.target)
            between = self.memory.touching(classes, other.op + 1, copy.op)
            writes = any(self._context.effects.may_write(op, end) for op in between for end in ends)
            return None if writes or self.memory.freeing(classes, other.op + 1, copy.op) else other.op
        return None

    def _pairs(self) -> dict[int, tuple[int, ...]]:
        """For each copy, by op, the last ones before it that are near, in its block, and between the same classes."""
        found: dict[int, tuple[int, ...]] = {}
        recent: dict[object, list[int]] = {}
        for copy in self.memory.copies:
            key = (
                self._program.ops[copy.op].block,
                frozenset((self.memory.classes(copy.source), self.memory.classes(copy.target))),
            )
            before = recent.setdefault(key, [])
            found[copy.op] = tuple(op for op in reversed(before[-_TRIED:]) if copy.op - op <= _NEAR)
            before.append(copy.op)
        return found

    def _unread(self, copy: Copy) -> int:
        """The number after the op that makes a copy unnecessary since nothing reads it before; 0 if there is none."""
        classes, owner = self.memory.classes(copy.target), self.memory.owner(copy.target)
        end = self._context.block_end(copy)
        later = self.memory.next_touching(classes, copy.op + 1, end)
        if later is None:
            stays = owner is not None and self._context.is_here(owner, copy) and not self.memory.leaves(owner)
            return end if stays and owner is not None and self.memory.is_viewed_only(owner) else 0
        op = self._program.ops[later]
        here = op.block == self._program.ops[copy.op].block
        return op.number + 1 if here and self._context.effects.overwrites(op.operation, copy, classes) else 0

    def _removal(
        self,
        copy: Copy,
        reason: Reason,
        reuse: BufferReuse,
        classes: frozenset[int],
        old: int = -1,
        new: ir.Value | None = None,
    ) -> Removal:
        ops = self._program.ops
        source = self._source(copy.op)
        front = self._context.program.within(reuse.first, ops[copy.op].block)
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

    def _bytes(self, copy: Copy) -> Size:
        return bytes_of(self._context.value(copy.target), self.memory.allocations.sizes)

    def _source(self, op: int) -> Source:
        return self.memory.allocations.source(op)
