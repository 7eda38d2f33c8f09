"""Who reads which contents, and whether contents are still wanted at a place of the program.

A *contents group* is a tensor together with every view of it, now or later in the program: all of them show the same contents.
Its reads are the ops that read a member, and the terminators and control-flow ops that pass one on to a value somebody needs.

Contents are live after an op iff some read can run after it, before the contents are made again. That follows from the tree of
regions: reads later in the block and after the ops around it; reads anywhere in a region that may run next, which for a loop is
itself; never those of a region that runs instead. Each answer costs a search in the group's reads for every region around.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from hotdesk.analysis.tensors.extents import (
    UNKNOWN,
    WHOLE,
    Box,
    Extent,
    covers,
    disjoint,
    frames_of,
    moves,
    reshaped,
    same,
    steady,
    within,
)
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.graphs import reached
from hotdesk.models.tensor import CAST
from hotdesk.program.dominance import Dominance
from hotdesk.program.liveness import Liveness, Loop
from hotdesk.program.records import FlowEdge

CAPTURED = -1


@dataclass(frozen=True, slots=True)
class Read:
    """Op `op` reads the part `extent` of a group through operand `operand`, or `CAPTURED`; what is in `excluded` it leaves out.

    Where it is `passed` on to another value, that may be read later.
    """

    op: int
    operand: int
    extent: Extent
    excluded: Extent | None = None
    passed: bool = False


class Readers:
    """The contents groups of a function: `root` by value number, the part of it that each value is, and who reads each group.

    `needed` are the values that somebody reads, if only after they were passed on.
    `inserted` has the parts of results that the executions of each parallel loop insert, by its number.
    """

    def __init__(self, function: TensorProgram) -> None:
        self._function = function
        self.dominance, self.liveness = Dominance(function), Liveness(function)
        self.frame = frames_of(function)
        self._read_all(frozenset())
        seen = self._seen_as_before()
        if seen:
            self._read_all(seen)
        self._numbers = {group: [read.op for read in reads] for group, reads in self.reads.items()}

    def _read_all(self, shown: frozenset[FlowEdge]) -> None:
        """Reads the function, where those of the arguments that show an operand of their op are views of it."""
        function = self._function
        self.root = list(range(len(function.values)))
        self.extent: list[Extent] = [WHOLE] * len(function.values)
        self.undefined: set[int] = set()
        self.reads: dict[int, list[Read]] = {}
        views: dict[int, list[FlowEdge]] = {}
        for edge in shown:
            views.setdefault(edge.op, []).append(edge)
        for op in function.ops:
            self._views(op)
            for edge in views.get(op.number, ()):
                self.root[edge.target], self.extent[edge.target] = self.root[edge.source], self.extent[edge.source]
        self.inserted = self._insertions()
        self.needed = self._needed()
        passed: dict[int, list[tuple[int, int]]] = {}
        for edge in function.flows:
            if edge.target in self.needed:
                passed.setdefault(edge.op, []).append((edge.operand, edge.source))
        for op in function.ops:
            for operand, result in op.facts.choices:
                if op.results[result] in self.needed:
                    passed.setdefault(op.number, []).append((operand, op.operands[operand]))
        for op in function.ops:
            self._reads(op, passed.get(op.number, []))

    def _seen_as_before(self) -> frozenset[FlowEdge]:
        """What parallel loops show, where a read wants more of it than the part that the same execution inserts, or comes behind
        an insertion. Others may see the result as it grows."""
        insertions: dict[int, list[OpRecord]] = {}
        for number in self._function.insertions:
            op = self._function.ops[number]
            assert op.facts.part is not None
            insertions.setdefault(op.operands[op.facts.part.container], []).append(op)
        return frozenset(
            edge
            for edge in self._function.shown
            if self.root[edge.source] not in self.undefined
            and not all(
                (self._runs_once(edge.op) or self.is_apart(edge.op, read.extent))
                and not any(self._changes(op, edge.target, read) for op in insertions.get(edge.target, ()))
                for read in self.reads.get(edge.target, ())
            )
        )

    def _runs_once(self, number: int) -> bool:
        """Whether no other execution of an op's regions inserts anything."""
        flow = self._function.ops[number].flow
        return flow is not None and not flow.follows

    def _changes(self, insertion: OpRecord, argument: int, read: Read) -> bool:
        """Whether an insertion into what an argument shows changes what a read behind it wants, or one that passes that on."""
        assert insertion.facts.part is not None
        assert insertion.facts.part.source is not None
        source, part = insertion.operands[insertion.facts.part.source], self.part(insertion)
        lies_there = self.root[source] == argument and same(self.extent[source], part)
        behind = insertion.number < read.op or read.passed
        return behind and not lies_there and not disjoint(part, read.extent)

    def reads_at(self, value: int, op: int) -> list[Read]:
        """How an op reads the value's group."""
        group = self.root[value]
        numbers = self._numbers.get(group, [])
        return self.reads.get(group, [])[bisect_left(numbers, op) : bisect_right(numbers, op)]

    def live(self, group: int, block: int, after: int, written: Extent = WHOLE) -> Read | None:
        """The last read of what a write of `written` would destroy, by an op numbered `after` or more or that runs again.

        `block` is where the write is. None if the contents are dead there.
        """
        found: Read | None = None
        home = self._function.values[group].block
        for first, end, loop in self.liveness.after(block, after, home):
            read = self._in(group, first, end, written, loop)
            if read is not None and (found is None or read.op > found.op):
                found = read
        return found

    def _in(self, group: int, first: int, end: int, written: Extent, loop: Loop | None) -> Read | None:
        numbers = self._numbers.get(group)
        if not numbers:
            return None
        reads = self.reads[group]
        for i in range(bisect_left(numbers, end) - 1, bisect_left(numbers, first) - 1, -1):
            if self._meets(reads[i], written, loop):
                return reads[i]
        return None

    def _meets(self, read: Read, written: Extent, loop: Loop | None) -> bool:
        """Whether a read wants what is written; for boxes that depend on what has run again, what is around them counts."""
        if written is WHOLE or written is UNKNOWN:
            return True
        again = range(0) if loop is None else range(loop.first, loop.end)
        before = steady(written, again)
        excluded = read.excluded is not None and not moves(read.excluded, again) and covers(read.excluded, before)
        if excluded or disjoint(steady(read.extent, again), before):
            return False
        if loop is None or loop.parallel is None:
            return True
        moved = any(moves(extent, again) for extent in (written, read.extent, read.excluded))
        return not (moved and self.is_apart(loop.parallel, read.extent, written))

    def is_apart(self, loop: int, *extents: Extent) -> bool:
        """Whether extents lie in a part that each execution of a parallel loop inserts for itself."""
        return any(all(isinstance(e, Box) and covers(part, e) for e in extents) for part in self.inserted.get(loop, ()))

    # Reading the function

    def _views(self, op: OpRecord) -> None:
        for operand, result in op.facts.views:
            source, value = op.operands[operand], op.results[result]
            self.root[value] = self.root[source]
            if (operand, result) not in op.facts.whole_views:
                inner = self.part(op) if op.facts.part is not None else UNKNOWN
                self.extent[value] = within(self.extent[source], inner)
            else:
                cast = op.name == CAST
                self.extent[value] = self.extent[source] if cast else reshaped(self.extent[source])
        for result in op.facts.undefined:
            self.undefined.add(op.results[result])

    def _insertions(self) -> dict[int, list[Extent]]:
        """The parts that executions of parallel loops insert, in the frame of the result and in that of what it is made from."""
        found: dict[int, list[Extent]] = {}
        sources = {edge.target: edge.source for edge in self._function.shown}
        for number, result in self._function.insertions.items():
            op, loop = self._function.ops[number], self._function.values[result].producer
            assert op.facts.part is not None
            assert loop is not None
            part, container = self.part(op), op.operands[op.facts.part.container]
            within_source = within(self.extent[sources[container]], part)
            found.setdefault(loop, []).extend((part, within_source))
        return found

    def part(self, op: OpRecord) -> Extent:
        """The part of its container that a slice op is about, in the container's frame; all of it for other ops."""
        part = op.facts.part
        if part is None:
            return WHOLE
        scalars = self._function.scalars
        dynamic = [v for entries in (part.offsets, part.sizes, part.strides) for v in entries if not isinstance(v, int)]
        if any(value not in scalars for value in dynamic):
            return UNKNOWN
        sizes = self._function.sizes
        offsets, lengths, strides = (
            [entry if isinstance(entry, int) else sizes.value(entry) for entry in entries]
            for entries in (part.offsets, part.sizes, part.strides)
        )
        box = Box(
            self.frame[op.operands[part.container]],
            tuple((o, n, 1 if n == 1 else s) for o, n, s in zip(offsets, lengths, strides, strict=True)),
            part.kept,
            self.frame[op.results[0] if part.source is None else op.operands[part.source]],
            frozenset(scalars[value] for value in dynamic),
        )
        shape = self._function.values[op.operands[part.container]].shape
        whole = all(dim == (0, size, 1) for dim, size in zip(box.dims, shape, strict=True))
        stepping = any(n != 1 != step for n, step in zip(part.sizes, part.strides, strict=True))  # in its type at least
        return WHOLE if whole and not stepping and len(part.kept) == len(shape) else box

    def _reads(self, op: OpRecord, passed: list[tuple[int, int]]) -> None:
        part = op.facts.part
        for operand in sorted(op.facts.reads):
            value = op.operands[operand]
            if value == NOT_A_TENSOR:
                continue
            excluded: Extent | None = None
            if part is not None and part.source is not None and operand == part.container:
                inner = self.part(op)
                if inner is WHOLE:
                    continue  # all of it is overwritten
                excluded = within(self.extent[value], inner)
            self._add(value, Read(op.number, operand, self.extent[value], excluded))
        for operand, value in passed:
            self._add(value, Read(op.number, operand, self.extent[value], passed=True))
        for value in op.captured:
            self._add(value, Read(op.number, CAPTURED, self.extent[value]))

    def _add(self, value: int, read: Read) -> None:
        self.reads.setdefault(self.root[value], []).append(read)

    def _needed(self) -> set[int]:
        """Values that somebody reads, if only after they were passed on."""
        needed: set[int] = set()
        for op in self._function.ops:
            needed.update(self.root[op.operands[i]] for i in op.facts.reads if op.operands[i] != NOT_A_TENSOR)
            needed.update(self.root[value] for value in op.captured)
        sources: dict[int, list[int]] = {}
        for edge in self._function.flows:
            sources.setdefault(self.root[edge.target], []).append(self.root[edge.source])
        for op in self._function.ops:
            for operand, result in op.facts.choices:
                sources.setdefault(op.results[result], []).append(self.root[op.operands[operand]])
        found = reached(needed, lambda value: sources.get(value, ()))
        return {value for value in range(len(self.root)) if self.root[value] in found}
