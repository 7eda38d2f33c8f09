"""The rewrite of one function from tensors to buffers, as the in-place analysis decided; what models see of it.

Which memref holds a tensor is in `memrefs`, what control flow passes on in `passed_memrefs`, where the function's results end in
`result_memory`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.extents import disjoint, same, within
from hotdesk.analysis.tensors.program import OpRecord
from hotdesk.errors import BufferizationError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.building import alloc, create, elementwise_copy
from hotdesk.ir.locations import python_line
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import dynamic_layout, is_tensor
from hotdesk.ir.walking import entry_block, nested_ops
from hotdesk.models.bufferization import TO_BUFFER
from hotdesk.models.facts import Facts
from hotdesk.models.func import RETURN
from hotdesk.models.hotdesk import MOVE
from hotdesk.models.layouts import has_identity_layout, have_one_order
from hotdesk.models.memref import viewed
from hotdesk.models.registry import model_of
from hotdesk.passes.bufferize.conventions import USUAL, Conventions
from hotdesk.passes.bufferize.materializing import copied_as
from hotdesk.passes.bufferize.memrefs import Memrefs, copied, seen_as
from hotdesk.passes.bufferize.passed_memrefs import PassedMemrefs
from hotdesk.passes.bufferize.result_memory import ResultMemory
from hotdesk.passes.bufferize.rewrite_decisions import RewriteDecisions


class Rewriting:
    """Rewrites a function; implements what models see of it (`models.model.Buffers`).

    Attributes:
        analysis: what was decided about it.
        symbols: names for what it makes beside the function.
        decided: what was carried out, in order.
        conventions: what is done at the edges of the function.
        result_memory: where its results lie.
    """

    def __init__(
        self,
        analysis: InPlaceAnalysis,
        symbols: Symbols,
        conventions: Conventions = USUAL,
    ) -> None:
        self._record = analysis.function
        self._function = self._record.function
        self.analysis = analysis
        self.symbols = symbols
        self.conventions = conventions
        self.decided = RewriteDecisions(analysis)
        self._readers = analysis.readers
        self._memrefs = Memrefs(analysis)
        self._passed = PassedMemrefs(analysis, self._memrefs, self.decided)
        self.result_memory = ResultMemory(self._record, analysis.places, self._memrefs.memory)
        self._erase: list[ir.Operation] = []
        self._replaced: list[tuple[ir.Block, int, int]] = []

    def run(self) -> list[ir.Value]:
        """Rewrites every op but the return; returns the memrefs of what it returns, in order."""
        self.rebuild_arguments(entry_block(self._function))
        self._memrefs.keep_arguments()
        for other in list(self._function.regions[0].blocks)[1:]:
            self.rebuild_arguments(other)
        returned: list[ir.Value] = []
        for record in self._record.ops:
            self._memrefs.current = record
            if record.name == RETURN:
                returned = [self.buffer(v) if is_tensor(v.type) else v for v in record.operation.operands]
                continue
            if self._rewrite(record):
                self._erase.append(record.operation)
        return returned

    def finish(self) -> None:
        """Drops the old ops and arguments; the return is gone already."""
        for op in reversed(self._erase):
            op.erase()
        for block, first, count in self._replaced:
            for _ in range(count):
                block.erase_argument(first)
        self._memrefs.keep_layouts()
        leaves_tensors = self.conventions.partial or not self.conventions.functions
        for op in () if leaves_tensors else nested_ops(self._function):
            self._refuse_tensors(op)

    def _rewrite(self, record: OpRecord) -> bool:
        """Rewrites an op; whether the old one is to be erased."""
        op = record.operation
        model = model_of(record.name)
        if model is None or model.bufferize is None:
            self._refuse_tensors(op)
            return False
        if record.flow is None:  # the blocks of others have moved to the new op when tensors are looked for here
            captured = record.captured if len(op.regions) else ()
            seen = (*op.operands, *op.results, *(self._record.values[number].value for number in captured))
            if not self._passed.passes_on(record) and not any(is_tensor(v.type) for v in seen):
                return False
        model.bufferize(op, self)
        return True

    def _refuse_tensors(self, op: ir.Operation) -> None:
        if any(is_tensor(v.type) for v in (*op.operands, *op.results)):
            raise BufferizationError(
                f"op `{op.name}` still has tensors after bufferization",
                expected="buffers only",
                got=str(next(v.type for v in (*op.operands, *op.results) if is_tensor(v.type))),
                where=python_line(op.location),
            )

    # What models see

    @property
    def facts(self) -> Facts:
        return self._memrefs.current.facts

    @property
    def captures(self) -> bool:
        return bool(self._memrefs.current.captured)

    def buffer(self, value: ir.Value) -> ir.Value:
        return self._memrefs.of(value)

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        value = op.operands[operand]
        record = self._memrefs.current
        decision = self.analysis.by_operand[(record.number, operand)]
        if decision.in_place and not decision.fresh:
            self.decided.of_tie(record, operand, Outcome.IN_PLACE)
            return self.buffer(value)
        sizes = self._memrefs.sizes(value)
        result = dict(record.facts.ties).get(operand)
        kind = self.plain_type(value)
        new = alloc(kind, sizes, op) if result is None else self._memrefs.written(record.results[result], sizes, record)
        if not decision.in_place and record.facts.needs(operand) and not self._memrefs.is_undefined(value):
            elementwise_copy(self.buffer(value), new, op)
            self.decided.of_tie(record, operand, Outcome.COPIED)
        elif new in self.decided.allocations:
            self.decided.of_tie(record, operand, Outcome.IN_PLACE)
        else:
            self.decided.allocations[new] = self.decided.of_tie(record, operand, Outcome.ALLOCATED)
        return new

    def result(self, op: ir.Operation, number: int, sizes: Sequence[ir.Value]) -> ir.Value:
        value = self._record.values[self._memrefs.current.results[number]]
        new = self._memrefs.written(value.number, sizes, self._memrefs.current)
        if (made := self.decided.of_new(self._memrefs.current, number)).outcome is Outcome.ALLOCATED:
            self.decided.allocations[new] = made
        return new

    def contents(self, op: ir.Operation, operand: int) -> ir.Value | None:
        edge = next(e for e in self._record.shown if (e.op, e.operand) == (self._memrefs.current.number, operand))
        seen_before = self._readers.root[edge.target] != edge.target
        return self.buffer(op.operands[operand]) if seen_before else None

    def inserted_into(self, op: ir.Operation) -> ir.Value:
        return self._memrefs.of(self._record.values[self._record.insertions[self._memrefs.current.number]].value)

    def drop_arguments(self, block: ir.Block, first: int) -> None:
        self._replaced.append((block, first, len(block.arguments) - first))

    def replaced_by(self, new: ir.Operation) -> None:
        self._memrefs.memory.replace(self._memrefs.current, new)

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self._memrefs.assign(value, memref)

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int, kind: ir.Type | None = None) -> ir.Value:
        followed = kind is not None or not has_identity_layout(memref)
        reason = Reason.DIFFERENT_LAYOUT if followed else Reason.NOT_FOLLOWED
        self.decided.of_copy(self._memrefs.current, operand, reason)
        return copied(memref, op) if kind is None else copied_as(memref, kind, op)

    def lies_there(self, op: ir.Operation) -> bool:
        part = self._memrefs.current.facts.part
        assert part is not None
        assert part.source is not None
        source = self._memrefs.current.operands[part.source]
        container = self._record.insertions.get(self._memrefs.current.number)
        container = self._memrefs.current.results[0] if container is None else container
        here = tuple(
            (p, within(e, self._readers.part(self._memrefs.current)))
            for p, e in self.analysis.places.locations(container)
        )
        if len(here) != 1 or self.analysis.places.locations(source) != here:
            return False
        in_one = self._memrefs.memory.is_one(here[0][0])
        return in_one or self._sees_destination(op, part.source, part.container)

    def _sees_destination(self, op: ir.Operation, source: int, container: int) -> bool:
        """Whether what an op inserts is a view of the memref in which it is inserted."""
        if self._memrefs.current.number in self._record.insertions:
            return viewed(self.buffer(op.operands[source])) == viewed(self.inserted_into(op))
        fresh = self.analysis.by_operand[self._memrefs.current.number, container].fresh
        return not fresh and viewed(self.buffer(op.operands[source])) == viewed(self.buffer(op.operands[container]))

    def passed_type(self, value: ir.Value) -> ir.Type:
        return self._memrefs.passed_type(value)

    def plain_type(self, value: ir.Value) -> ir.MemRefType:
        return self._memrefs.plain_type(self._memrefs.number(value))

    def signature_type(self, tensor: ir.Type) -> ir.MemRefType:
        return self.conventions.spaces.memref_of(tensor)

    def seen_as(self, memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
        return seen_as(memref, kind, op)

    def rebuild_arguments(self, block: ir.Block) -> None:
        arguments = list(block.arguments)
        entry = block == entry_block(self._function)
        if entry and not self.conventions.functions:
            self._read_arguments(block)
            return
        for argument in arguments:
            if not is_tensor(argument.type):
                argument.replace_all_uses_with(block.add_argument(argument.type, argument.location))
                continue
            kind = self._argument_type(argument) if entry else self.passed_type(argument)
            self.assign(argument, block.add_argument(kind, argument.location))
        self._replaced.append((block, 0, len(arguments)))

    def _argument_type(self, argument: ir.Value) -> ir.Type:
        plain = self.signature_type(argument.type)
        return dynamic_layout(plain) if self.conventions.strided_arguments else plain

    def _read_arguments(self, block: ir.Block) -> None:
        """Sees the memory of arguments that stay tensors."""
        first = next(iter(block.operations)).operation
        read_only = {"read_only": ir.UnitAttr.get()}
        for argument in block.arguments:
            if is_tensor(argument.type):
                kind = self._argument_type(argument)
                made = create(TO_BUFFER, [argument], [kind], read_only, before=first)
                self.assign(argument, made.results[0])

    def copy_into(self, memref: ir.Value, op: ir.Operation, operand: int, before: ir.Operation | None = None) -> None:
        source, front = self.buffer(op.operands[operand]), op if before is None else before
        meeting = self._meeting(operand)
        if meeting and have_one_order(source, memref):
            create(MOVE, [source, memref], [], before=front)
            if all(map(self._memrefs.memory.is_one, meeting)):
                self.decided.of_move(self._memrefs.current, operand)
                return
        elif meeting:
            self.decided.of_copy(self._memrefs.current, operand, Reason.DIFFERENT_LAYOUT)
            elementwise_copy(copied(source, front), memref, front)
        else:
            elementwise_copy(source, memref, front)
        self.decided.of_insertion(self._memrefs.current, operand)

    def _meeting(self, operand: int) -> list[int]:
        """The places in which an insertion reads, through an operand, elements that it writes, but not those that lie there."""
        record = self._memrefs.current
        part = record.facts.part
        if not self._record.moves or part is None or part.source != operand or not record.results:
            return []
        written, places = self._readers.part(record), self.analysis.places
        targets = [(place, within(extent, written)) for place, extent in places.locations(record.results[0])]
        sources = places.locations(record.operands[operand])
        pairs = [(a, here, there) for a, here in sources for b, there in targets if a == b]
        return [place for place, here, there in pairs if not (disjoint(here, there) or same(here, there))]

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        return self._passed.entering(op, operand)

    def leaving(self, op: ir.Operation, operand: int) -> ir.Value:
        return self._passed.leaving(op, operand)
