"""Where a buffer is freed: right after the last use of any alias of it, once on every path.

An owner has it from where it is defined. On its way the buffer is *transferred* at some ops, whose edges end the owner's duty;
wherever else control goes on without a use to come, it is freed:

1. In the block where the last use is, right after the op that has it. A use inside an op with regions is one of that op.
2. Where a block is entered in which it is dead, but the ways out of which it came still have it: at the start of the block if all
   ways into it come with the buffer, else on the way, in a block of its own.
3. Inside an op with regions only if it is transferred in there, or if one of its regions allocates: then as in 2, with regions in
   the place of blocks. There is no way to free it between two regions; where that would be needed the transfer is refused.
4. Around a loop nothing is transferred that came from outside: the next iteration would want it again. That is refused too.

This is liveness of one variable on the graph of a region's blocks, and again on the graph of an op's regions. Only blocks between
the uses and the last one before them in which control certainly arrives, once, are looked at: it is still there in all before.

What runs on beside the program, where it is not certain where that is done, is freed behind it (`LateEnds`)

5. at the end of its block, in front of the terminator, if something in that block may wait for the op;
6. nowhere, if whoever it hands the memory over to gets the op's token too.

Else there is no place: the memory would be gone while the op may use it. The same holds in a block that branches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hotdesk.analysis.memrefs.asynchronous import Started, awaited_by
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram, Kind
from hotdesk.graphs import reached
from hotdesk.program.dominance import Dominance
from hotdesk.program.op_ranges import between, contains, span
from hotdesk.program.records import ENTRY, EXIT, Block

_NOWHERE: frozenset[int] = frozenset()
Moves = Mapping[int, frozenset[int]]
"""By op, the edges on which it transfers a buffer: successors of a branch, else numbers of the edges of the op with regions."""


class ReleasePoint(NamedTuple):
    """Right after op `after`; else at the start of `block`, or on its way to its successor number `successor`."""

    after: int = -1
    block: int = -1
    successor: int = -1


class _RefusedError(Exception):
    """A transfer at one of these ops, or in one, leaves a path on which the buffer cannot be freed."""

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end


class Releases:
    """Places for the owners of one function."""

    def __init__(self, program: BufferProgram, dominance: Dominance) -> None:
        self._program, self._dominance = program, dominance
        self._ways: dict[int, list[tuple[int, int]]] = {}  # to each block: a block, and the number of its successor
        for block in program.blocks:
            for i, successor in enumerate(block.successors):
                self._ways.setdefault(successor, []).append((block.number, i))
        made = (b.producer for b in program.buffers if b.kind in (Kind.ALLOCATION, Kind.UNKNOWN) and b.producer >= 0)
        self._allocating = sorted(made)

    def find(self, owner: int, uses: Sequence[int], moves: Moves) -> tuple[ReleasePoint, ...] | range:
        """Where an owner frees its buffer, which ops use and which transfer it; or the ops where that is refused."""
        buffer = self._program.buffers[owner]
        self._home, self._defined = buffer.block, buffer.producer
        found = self._at_home(self._program.blocks[buffer.block], uses, moves)
        if found is not None:
            return found
        try:
            return tuple(self._in_region(buffer.block, sorted({*uses, *moves}), moves, False, True))
        except _RefusedError as refused:
            return range(refused.first, refused.end)

    def _at_home(self, home: Block, uses: Sequence[int], moves: Moves) -> tuple[ReleasePoint, ...] | None:
        """Places of a buffer that only the block uses in which it is defined; None where rule 1 alone does not tell."""
        ops = self._program.ops
        if not uses or any(ops[op].block != home.number for op in uses):
            return None
        if not moves and uses[-1] != home.last and ops[uses[-1]].end == uses[-1] + 1:
            return (ReleasePoint(after=uses[-1]),)
        everywhere = len(moves) == 1 and home.last in moves and len(moves[home.last]) >= len(home.branches)
        return () if everywhere else None

    def _in_region(self, entry: int, ops: Sequence[int], moves: Moves, stays: bool, home: bool) -> list[ReleasePoint]:
        """Places in the blocks of the region of `entry`, into which the buffer comes.

        `ops` use it or transfer it. `stays` is whether it is still there when control leaves the region.
        """
        program = self._program
        first = program.blocks[entry]
        region = first.parent, first.region
        if len(program.region_of(entry)) == 1:
            last_op = self._lifted(ops[-1], region)[1] if ops else -1
            return self._in_block(entry, last_op, ops, moves, stays or first.last in moves)
        last: dict[int, int] = {}
        for op in ops:
            block, top = self._lifted(op, region)
            last[block] = max(last.get(block, -1), top)
        if home and last:
            certain = self._dominance.find_certain(entry, last)
            if all(self._dominance.dominates(certain, program.ops[op].block) for op in moves):
                entry = certain
                last = {block: op for block, op in last.items() if self._dominance.dominates(entry, block)}
        ways = self._ways
        start = entry if home else -1
        transferred = {
            program.ops[op].block: moves[op] for op in moves if program.blocks[program.ops[op].block].last == op
        }

        def before(block: int) -> Iterable[int]:
            """The blocks that come to a block with the buffer."""
            return (b for b, i in ways.get(block, ()) if block != start and i not in transferred.get(b, _NOWHERE))

        live = set(reached(last, before))
        for b, edges in sorted(transferred.items(), key=lambda pair: program.blocks[pair[0]].last):
            if any(i in edges and s in live and s != start for i, (s, _) in enumerate(program.blocks[b].branches)):
                raise _RefusedError(program.blocks[b].last, program.blocks[b].last + 1)
        live.add(entry)
        wanted: set[int] = set()
        for b in live:
            block = program.blocks[b]
            if not block.branches:
                leads_on = stays or b in transferred
            else:
                edges = transferred.get(b, _NOWHERE)
                leads_on = any(i in edges or (s in live and s != start) for i, (s, _) in enumerate(block.branches))
            if leads_on or (block.branches and contains(ops, block.last)):
                wanted.add(b)
        places: list[ReleasePoint] = []
        for b in sorted(live):
            places += self._in_block(b, last.get(b, -1), ops, moves, b in wanted)
        for s in dict.fromkeys(s for b in sorted(wanted) for s, _ in program.blocks[b].branches):
            if s in live and s != start:
                continue
            ending = [(b, i) for b, i in ways[s] if b in wanted and i not in transferred.get(b, _NOWHERE)]
            if ending and len(ending) == len(ways[s]):
                places.append(ReleasePoint(block=s))
            else:
                places += (ReleasePoint(block=b, successor=i) for b, i in ending)
        return places

    def _in_block(self, block: int, last: int, ops: Sequence[int], moves: Moves, stays: bool) -> list[ReleasePoint]:
        """Places in a block, at whose end the buffer is still there if it `stays`."""
        end = self._program.blocks[block].last
        for op in moves:
            here = self._program.within(op, block)
            if here is not None and (here != end if stays else here != last):
                raise _RefusedError(op, op + 1)
        if stays:
            return []
        if last < 0:
            return [
                ReleasePoint(after=self._defined)
                if block == self._home and self._defined >= 0
                else ReleasePoint(block=block)
            ]
        top = self._program.ops[last]
        inside = between(ops, last + 1, top.end)
        if any(op in moves for op in (last, *inside)):
            return self._in_op(top, ops, moves)
        if last == end:
            raise _RefusedError(end, end + 1)
        if inside and top.control and between(self._allocating, top.number, top.end):
            try:
                return self._in_op(top, ops, moves)
            except _RefusedError:
                pass
        return [ReleasePoint(after=last)]

    def _in_op(self, op: BufferOp, ops: Sequence[int], moves: Moves) -> list[ReleasePoint]:
        """Places in the regions of an op, after which the buffer is no longer there."""
        program = self._program
        spans = {n: span(program, op, n) for n in range(len(op.regions)) if op.regions[n]}
        inside = {n: between(ops, there.start, there.stop) for n, there in spans.items()}
        transferred = {i for i, edge in enumerate(op.edges) if self._is_transferred(op, i, edge.start, moves)}
        before: dict[int, list[int]] = {}
        for i, (start, end, _) in enumerate(op.edges):
            if i not in transferred:
                before.setdefault(end, []).append(start)
        live = set(reached([n for n, used in inside.items() if used], lambda n: before.get(n, ()))) - {ENTRY}
        refused = _RefusedError(op.number, op.end)
        if any(op.edges[i].end in live for i in transferred):
            raise refused
        wanted = {e.start for i, e in enumerate(op.edges) if i in transferred or e.end in live} | {ENTRY}
        arriving = [
            e for i, e in enumerate(op.edges) if e.start in wanted and i not in transferred and e.end not in live
        ]
        places: list[ReleasePoint] = []
        arrived, ends = [edge.end for edge in arriving], [edge.end for edge in op.edges]
        for end in dict.fromkeys(arrived):
            if arrived.count(end) < ends.count(end):
                raise refused
            places.append(ReleasePoint(after=op.number) if end == EXIT else ReleasePoint(block=op.regions[end][0]))
        for n in sorted(live - {EXIT}):
            within = {t: edges for t, edges in moves.items() if t in spans[n]}
            try:
                places += self._in_region(op.regions[n][0], inside[n], within, n in wanted, False)
            except _RefusedError as inner:
                if not between(sorted(moves), inner.first, inner.end):
                    raise refused from None  # what is transferred in another region leaves no place in this one
                raise
        return places

    def _is_transferred(self, op: BufferOp, edge: int, start: int, moves: Moves) -> bool:
        """Whether the buffer is transferred on an edge of an op; refused if only by some of a region's terminators."""
        if start == ENTRY:
            return edge in moves.get(op.number, ())
        if not moves:
            return False
        transferring = [edge in moves.get(t.number, _NOWHERE) for t in self._program.terminators(op, start)]
        if any(transferring) and not all(transferring):
            raise _RefusedError(op.number, op.end)
        return bool(transferring) and all(transferring)

    def _lifted(self, op: int, region: tuple[int, int]) -> tuple[int, int]:
        """The block of a region, and the op in it, that an op is in."""
        while True:
            block = self._program.blocks[self._program.ops[op].block]
            if (block.parent, block.region) == region:
                return block.number, op
            op = block.parent


class LateEnds:
    """The ends of blocks of one function."""

    def __init__(self, program: BufferProgram) -> None:
        self._program = program
        self._ends: dict[int, int] = {}

    def find(
        self, owner: int, ops: Collection[Started], moves: Moves, places: tuple[ReleasePoint, ...]
    ) -> tuple[ReleasePoint, ...] | int:
        """Where an owner frees what these ops use, or the number of one that may still run there; `places` are where it is used
        last otherwise."""
        block = self._program.blocks[self._program.buffers[owner].block]
        for op in sorted(ops):
            transferred = bool(moves) and not places and op.passed_by.issuperset(moves)
            ends = not moves and not block.branches and awaited_by(self._program, op, block.number)
            if not (transferred or ends):
                return op.op
        return places if moves else (ReleasePoint(after=self._end(block.number)),)

    def _end(self, block: int) -> int:
        """The last op of a block but its terminator."""
        if block not in self._ends:
            record = self._program.blocks[block]
            number = found = record.first
            while number < record.last:
                found, number = number, self._program.ops[number].end
            self._ends[block] = found
        return self._ends[block]
