"""The decisions of a rewrite to buffers, for reports: each copy and allocation with its conflict, and what would remove it."""

from __future__ import annotations

from dataclasses import replace

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.conflicts import DecidedAliases, reads_to_move, value_read
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.interference import Clash, Conflict
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import same_space
from hotdesk.ir.walking import is_constant, made_by
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.models.linalg import FILL
from hotdesk.models.memref import CAST
from hotdesk.passes.bufferize.hints import Situation, hint
from hotdesk.program.records import FlowEdge

_READ_ONLY = (
    Reason.NOT_WRITABLE_INPUT,
    Reason.NOT_WRITABLE_WEIGHT,
    Reason.NOT_WRITABLE_CONSTANT,
    Reason.NOT_WRITABLE_MEMORY,
)
_CHEAP = (FILL, "tensor.splat")


class RewriteDecisions:
    """The decisions of one function, in the order in which they are carried out.

    Attributes:
        decisions: about each written tensor.
        allocations: the decision behind each `memref.alloc`, by its result.
    """

    def __init__(self, analysis: InPlaceAnalysis) -> None:
        self._record = analysis.function
        self._analysis = analysis
        self._aliases = DecidedAliases(analysis)
        # The function's arguments are gone when the last decisions are written down.
        self._lines = {v.number: python_line(v.value.location) for v in self._record.values if v.producer < 0}
        self.decisions: list[Decision] = []
        self.allocations: dict[ir.Value, Decision] = {}

    def of_tie(self, op: OpRecord, operand: int, outcome: Outcome) -> Decision:
        """About a tied operand, or one that is overwritten for the op alone, as the analysis decided it."""
        found = self._analysis.by_operand[op.number, operand]
        value = op.operands[operand]
        target, subject = value, f"operand {operand} of {op.name}"
        result = dict(op.facts.ties).get(operand)
        if result is not None:
            target = op.results[result]
            subject = f"result of {op.name}" if len(op.results) == 1 else f"result {result} of {op.name}"
        size = self._record.values[value].bytes
        if outcome is Outcome.IN_PLACE:
            return self._add(Decision(subject, outcome, found.reason, (op.source,), size))
        candidate = value if found.candidate is None else found.candidate
        because = (op.source, *([self._record.ops[found.conflict].source] if found.conflict is not None else []))
        decision = Decision(subject, outcome, found.reason, because, size)
        told = self._with_conflict(decision, op, candidate, target, found.clash, found.fresh)
        # To remove one thing of several that stand in the way changes nothing.
        return self._add(told if found.alone else replace(told, hint=""))

    def of_copy(self, op: OpRecord, operand: int, reason: Reason) -> Decision:
        """About an operand that the op cannot take where it lies, such as one that is not contiguous."""
        value = op.operands[operand]
        decision = Decision(
            f"operand {operand} of {op.name}",
            Outcome.COPIED,
            reason,
            (op.source,),
            self._record.values[value].bytes,
            read=op.source,
            definition=self.source_of(value),
        )
        return self._add(decision)

    def of_new(self, op: OpRecord, result: int) -> Decision:
        """About a result that is tied to no operand."""
        size = self._record.values[op.results[result]].bytes
        space = self._record.space(op.results[result])
        for operand in op.facts.reads if op.facts.spaces.results else ():
            value = op.operands[operand]
            if not same_space(self._record.space(value), space):
                copied = Decision(f"result of {op.name}", Outcome.COPIED, Reason.OTHER_MEMORY_SPACE, (op.source,), size)
                return self._add(replace(copied, read=op.source, definition=self.source_of(value)))
        if op.number in self._analysis.slices:
            clash, sliced = self._analysis.slices[op.number], op.operands[0]
            reason = Reason.SLICE_OVERWRITTEN if clash is None else Reason.SLICE_INSTEAD
            copied = Decision(f"result of {op.name}", Outcome.COPIED, reason, (op.source,), size)
            return self._add(self._with_conflict(copied, op, sliced, sliced, clash, False))
        for operand, _ in op.facts.spaces.alike:  # what it makes has the operand's contents
            value = op.operands[operand]
            if self._analysis.readers.extent[value] is not WHOLE:
                copied = Decision(f"result of {op.name}", Outcome.COPIED, Reason.DIFFERENT_LAYOUT, (op.source,), size)
                return self._add(replace(copied, read=op.source, definition=self.source_of(value)))
        reason = Reason.NO_DEAD_OPERAND_OF_SAME_SIZE
        return self._add(Decision(f"result of {op.name}", Outcome.ALLOCATED, reason, (op.source,), size))

    def of_insertion(self, op: OpRecord, operand: int) -> Decision:
        """About an operand that is copied to where the op puts it."""
        value = op.operands[operand]
        root = self._analysis.readers.root[value]
        decision = Decision(
            f"operand {operand} of {op.name}",
            Outcome.COPIED,
            Reason.LIES_ELSEWHERE,
            (op.source,),
            self._record.values[value].bytes,
            read=op.source,
            definition=self.source_of(root),
            path=self._sources(self._aliases.path(value, lambda each: each == root)),
        )
        situation = Situation(fresh=self._begins_empty(root))
        return self._add(replace(decision, hint=hint(decision, situation)))

    def of_move(self, op: OpRecord, operand: int) -> Decision:
        """About an operand that goes to another place of the memory that it lies in."""
        size = self._record.values[op.operands[operand]].bytes
        return self._add(
            Decision(f"operand {operand} of {op.name}", Outcome.IN_PLACE, Reason.MOVED_WITHIN, (op.source,), size)
        )

    def _begins_empty(self, value: int) -> bool:
        """Whether a value is written into memory that an op chooses freely."""
        tie = self._record.tie_to(value)
        return tie is not None and self._analysis.by_operand[tie[0].number, tie[1]].fresh

    def of_copied_edge(self, op: OpRecord, edge: FlowEdge, conflict: Conflict) -> Decision:
        """About what an op with regions or a terminator passes on, and copies."""
        because = (op.source, *([self._record.ops[conflict.op].source] if conflict.op is not None else []))
        subject = f"operand {edge.operand} of {op.name}"
        size = self._record.values[edge.source].bytes
        decision = Decision(subject, Outcome.COPIED, conflict.reason, because, size)
        return self._add(self._with_conflict(decision, op, edge.source, edge.target, conflict.clash, False))

    def of_result(self, number: int, value: int, outcome: Outcome, reason: Reason) -> Decision:
        """About a result of the function."""
        size = self._record.values[value].bytes
        returning, made = self._record.end.source, self.source_of(value)
        decision = Decision(f"result {number}", outcome, reason, (made, returning), size)
        if outcome is not Outcome.LENT:
            origin = self._aliases.path(value, self._aliases.is_read_only_origin)
            definition = self.source_of(origin[-1]) if origin else made
            decision = replace(decision, read=returning, definition=definition, path=self._sources(origin))
            decision = replace(decision, hint=hint(decision, Situation()))
        return self._add(decision)

    def source_of(self, value: int) -> Source:
        """The op that makes a value, or the argument that it is."""
        found = self._record.values[value]
        if found.producer >= 0:
            return self._record.ops[found.producer].source
        parent = self._record.blocks[found.block].parent
        name = f"argument {found.position}"
        if parent >= 0:
            op = self._record.ops[parent].source
            return Source(f"{name} of {op.op}", op.location)
        return Source(name, self._lines[value])

    def _with_conflict(
        self, decision: Decision, op: OpRecord, value: int, target: int, clash: Clash | None, fresh: bool
    ) -> Decision:
        """A decision with what forbids that `op` puts `target` where `value` lies."""
        if decision.reason in _READ_ONLY:
            return self._of_read_only(decision, op, value, target, fresh)
        if decision.reason is Reason.OVERWRITTEN_UNREAD:
            if self._is_carried(value):  # what a loop gets anew may be copied for it in front of the loop
                return replace(decision, write=op.source)
            situation = Situation(fresh=fresh, dying=self.source_of(value))
            return replace(decision, write=op.source, hint=hint(decision, situation))
        if clash is None:
            defined = self._analysis.readers.root[value] not in self._analysis.readers.undefined
            told = replace(decision, write=op.source, definition=self.source_of(value) if defined else None)
            return replace(told, hint=hint(told, Situation(fresh=fresh)))
        writer = op if clash.writer is None else self._record.ops[clash.writer]
        path = self._aliases.path(value_read(self._record, clash), lambda each: each in (value, target))
        told = replace(
            decision,
            read=self._record.ops[clash.read].source,
            write=writer.source,
            definition=self.source_of(clash.lost),
            path=self._sources(path),
        )
        moves = tuple(each.source for each in reads_to_move(self._analysis, clash.lost, writer))
        return replace(told, hint=hint(told, Situation(moves=moves, cheap=self._is_cheap(clash.lost), fresh=fresh)))

    def _of_read_only(self, decision: Decision, op: OpRecord, value: int, target: int, fresh: bool) -> Decision:
        path = self._aliases.path(value, self._aliases.is_read_only_origin)
        if not path:
            return replace(decision, write=op.source)
        origin = path[-1]
        read = self._analysis.readers.live(origin, op.block, op.end)
        told = replace(
            decision,
            read=self._record.ops[read.op].source if read is not None else None,
            write=op.source,
            definition=self.source_of(origin),
            path=self._sources(path),
        )
        moves = reads_to_move(self._analysis, origin, op) if read is not None else []
        situation = Situation(
            argument=self._record.values[origin].position if self._record.values[origin].producer < 0 else None,
            moves=tuple(each.source for each in moves),
            cheap=self._is_cheap(origin),
            reads_on=read is not None,
            shown=self._is_shown(origin),
            returned=self._is_returned(target),
            fresh=fresh,
        )
        return replace(told, hint=hint(told, situation))

    def _is_shown(self, value: int) -> bool:
        """Whether a value is a memref of the program's, and not one that was seen without a rank."""
        producer = self._record.values[value].producer
        if producer < 0 or self._record.ops[producer].name != TO_TENSOR:
            return False
        memref = self._record.ops[producer].operation.operands[0]
        seen = made_by(memref, CAST)
        return seen is None or not isinstance(seen.operands[0].type, ir.UnrankedMemRefType)

    def _is_carried(self, value: int) -> bool:
        """Whether a value is an argument of a block inside an op."""
        found = self._record.values[value]
        return found.producer < 0 and self._record.blocks[found.block].parent >= 0

    def _is_returned(self, value: int) -> bool:
        """Whether a value lies where a result of the function does."""
        places = self._analysis.places
        return any(
            places.find(value) == places.find(each) for each in self._record.end.operands if each != NOT_A_TENSOR
        )

    def _is_cheap(self, value: int) -> bool:
        """Whether a value costs nothing but a write to make again: filled with one element, which needs no tensor."""
        producer = self._record.values[value].producer
        if producer < 0:
            return False
        op = self._record.ops[producer]
        if op.facts.constants:
            return _is_splat(op.operation)
        return op.name in _CHEAP

    def _sources(self, values: tuple[int, ...]) -> tuple[Source, ...]:
        return tuple(self.source_of(value) for value in values)

    def _add(self, decision: Decision) -> Decision:
        self.decisions.append(decision)
        return decision


def _is_splat(op: ir.Operation) -> bool:
    if not is_constant(op):
        return False
    value = op.attributes["value"]
    return isinstance(value, ir.DenseElementsAttr) and value.is_splat
