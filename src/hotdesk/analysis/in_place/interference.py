"""Interference: what contents would be lost if occupants came to lie in one place.

Two occupants x and z of one place, where z is written and what defines x runs before, go together iff x is dead after z, or z
writes another part of the place than later reads of x want, or z writes what is there already (an insertion of a part into where
it lies). Walking back from z may stop at an occupant before which everything is dead (`sealed`): whatever is live after z is live
after that occupant. In a parallel loop, what each execution writes for itself must also be apart from what others see.

An insertion may read other elements of the place that it writes, a slice of the same sizes and strides, where it moves them in an
order that loses none (`TensorProgram.moves`); not in a parallel loop, where others may read them.

What has no contents may be overwritten although it is read, but not while a parallel loop reads it: other executions may write.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.analysis.in_place.occupants import Occupant, order_of
from hotdesk.analysis.tensors.extents import WHOLE, disjoint, same, seen_from, shifted, within
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Read, Readers
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class Clash:
    """A read-after-write conflict: what reads contents that another op would have overwritten by then.

    Attributes:
        lost: the contents group that the read wants; its root is the definition.
        read, operand: the op that reads, and the operand by which (`readers.CAPTURED` if it is none).
        writer: the op that overwrites; None if control flow copies something there.
    """

    lost: int
    read: int
    operand: int
    writer: int | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a write must not happen: the reason, the number of the op behind it, and what would be read too late."""

    reason: Reason
    op: int | None = None
    clash: Clash | None = None


class Interference:
    """Compares occupants by what `readers` knows of a function.

    Attributes:
        has_parallel_loops: whether anything can race at all.
    """

    def __init__(self, function: TensorProgram, readers: Readers) -> None:
        self._function = function
        self._readers = readers
        self._structured = function.is_structured
        self._threads = _threads(function)
        self.has_parallel_loops = any(self._threads)
        self._idle = frozenset(group for group in readers.undefined if not self._is_read_in_parallel(group))

    def between(
        self, few: Sequence[Occupant], many: Sequence[Occupant], value: int, op: OpRecord | None
    ) -> Conflict | None:
        """Why two sets of occupants do not go together; `value` lies with the second, and `op` would write it."""
        for occupant in few:
            found = self.against(occupant, many)
            if found is not None:
                if found.read == found.writer:
                    return Conflict(Reason.READ_BY_SAME_OP, found.read, found)
                if found.lost == self._readers.root[value] or op is None:
                    return Conflict(Reason.READ_LATER, found.read, found)
                producer = self._function.values[found.lost].producer
                return Conflict(Reason.ALREADY_OVERWRITTEN, producer if producer >= 0 else None, found)
        return None

    def against(self, occupant: Occupant, many: Sequence[Occupant]) -> Clash | None:
        """What would be lost if the occupant joined `many`, which are in the order of the text."""
        if occupant.written is not None:
            for i in range(bisect_right(many, occupant.order, key=order_of) - 1, -1, -1):  # other results of its op too
                other = many[i]
                if not self._before(other, occupant):
                    continue
                read = self._lost(other, occupant)
                if read is not None:
                    return Clash(other.group, read.op, read.operand, occupant.writer)
                if other.sealed and self._structured:
                    break
        for i in range(bisect_left(many, occupant.order, key=order_of), len(many)):
            other = many[i]
            if not self._before(occupant, other):
                continue
            if other.written is not None:
                read = self._lost(occupant, other)
                if read is not None:
                    return Clash(occupant.group, read.op, read.operand, other.writer)
            if other.block == occupant.block and self._dead(occupant, other):
                break
        return None

    def lost(self, many: Sequence[Occupant], op: OpRecord) -> Clash | None:
        """What would be lost if `op` took the memory of `many`, which are in the order of the text."""
        for i in range(bisect_right(many, 2 * op.number, key=order_of) - 1, -1, -1):
            other = many[i]
            if other.group == NOT_A_TENSOR:
                continue
            read = self._readers.live(other.group, op.block, op.number + 1)
            if read is not None:
                return Clash(other.group, read.op, read.operand, op.number)
            runs_before = self._readers.dominance.is_defined(other.block, other.order, op.block, 2 * op.number)
            if other.sealed and runs_before and self._structured:
                break
        return None

    def _before(self, x: Occupant, z: Occupant) -> bool:
        return self._readers.dominance.is_defined(x.block, x.order, z.block, z.order)

    def _dead(self, x: Occupant, z: Occupant) -> bool:
        """Whether nobody reads anything of `x` once `z` is defined."""
        if x.group == NOT_A_TENSOR or x.group in self._idle:
            return True
        return self._readers.live(x.group, z.block, z.after) is None

    def _lost(self, x: Occupant, z: Occupant) -> Read | None:
        """A read of what `z` overwrites of `x`, by the op that writes `z` or later."""
        if x.group in (z.group, NOT_A_TENSOR) or x.group in self._idle:
            return None
        return self._missed_later(x, z) or self._read_by_writer(x, z)

    def _missed_later(self, x: Occupant, z: Occupant) -> Read | None:
        if self._dead(x, z):
            return None
        written = z.written
        assert written is not None
        absolute = within(z.extent, written)
        if z.source == x.group and same(x.extent, absolute):
            return None  # an insertion of a part into where it lies
        if x.extent is WHOLE and z.extent is WHOLE:
            return self._readers.live(x.group, z.block, z.after, written)
        if disjoint(x.extent, absolute):
            return None
        own = seen_from(x.extent, absolute, self._readers.frame[x.group])
        return self._readers.live(x.group, z.block, z.after, own)

    def _read_by_writer(self, x: Occupant, z: Occupant) -> Read | None:
        """How the op that writes `z` reads `x` otherwise than element by element before it writes."""
        if z.writer is None or z.written is None:
            return None
        op = self._function.ops[z.writer]
        written = within(z.extent, z.written)
        tied = {operand for operand, result in op.facts.ties if self._readers.root[op.results[result]] == z.group}
        for read in self._readers.reads_at(x.group, op.number):
            there = within(x.extent, read.extent)
            if read.operand in tied or disjoint(there, written):
                continue
            if z.copied:
                return read
            alike = read.operand in op.facts.elementwise
            inserted = op.facts.part is not None and read.operand == op.facts.part.source
            moves = inserted and self._function.moves and bool(op.results) and not self._threads[op.block]
            if not ((moves and shifted(there, written)) or ((alike or inserted) and same(there, written))):
                return read
        return None

    def race(self, occupants: Sequence[Occupant]) -> int | None:
        """A parallel loop in which one of these writes memory from outside that others want, or None."""
        written = [occupant for occupant in occupants if occupant.written is not None]
        for occupant in written:
            for loop in sorted(self._threads[occupant.block]):
                assert occupant.written is not None
                if self._readers.is_apart(loop, within(occupant.extent, occupant.written)):
                    continue
                known = (o for o in occupants if o.group != NOT_A_TENSOR or o.written is not None)
                if any(loop not in self._threads[other.block] for other in known):
                    return loop
        return None

    def _is_read_in_parallel(self, group: int) -> bool:
        """Whether a parallel loop reads what comes from outside of it."""
        home = self._threads[self._function.values[group].block]
        reads = self._readers.reads.get(group, ())
        return self.has_parallel_loops and any(self._threads[self._function.ops[r.op].block] - home for r in reads)

    def insert(self, many: list[Occupant], occupant: Occupant) -> None:
        """Puts an occupant where it belongs in the order of the text, and keeps what is sealed."""
        position = bisect_right(many, occupant.order, key=order_of)
        occupant.sealed = self._structured
        for i in range(position - 1, -1, -1):
            if not self._before(many[i], occupant):
                continue
            occupant.sealed = occupant.sealed and self._dead(many[i], occupant)
            if many[i].sealed or not occupant.sealed:
                break
        for i in range(position, len(many)):
            if not self._before(occupant, many[i]):
                continue
            if self._dead(occupant, many[i]):
                if many[i].block == occupant.block:
                    break
            else:
                many[i].sealed = False
        many.insert(position, occupant)


def _threads(function: TensorProgram) -> list[frozenset[int]]:
    """The parallel loops around each block."""
    found: list[frozenset[int]] = []
    for block in function.blocks:
        if block.parent < 0:
            found.append(frozenset())
            continue
        parent = function.ops[block.parent]
        around = found[parent.block]
        found.append(around | {parent.number} if parent.flow is not None and parent.flow.parallel else around)
    return found
