"""Memrefs that control flow passes on: into regions, out of them and between blocks, copied where the analysis says so.

A terminator copies all that it has to copy before anything is overwritten that is still to be copied; what goes round in a cycle
is set aside once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.flow_edges import FlowDecision
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.ir.building import alloc, create, dynamic_dims, elementwise_copy, ended
from hotdesk.ir.types import is_tensor, memref_with, shape_of
from hotdesk.models.control_flow import CHOOSING, INDEX_BITS, way_of
from hotdesk.passes.bufferize.memrefs import Memrefs, copied, seen_as
from hotdesk.passes.bufferize.rewrite_decisions import RewriteDecisions
from hotdesk.program.records import FlowEdge


@dataclass(slots=True)
class _Passing:
    """What a terminator passes on for an operand: the memref, and where it is copied to."""

    edge: FlowEdge
    memref: ir.Value
    copied: bool
    destination: ir.Value | None = None


class PassedMemrefs:
    """Hands memrefs from ops to their regions, and from terminators to whatever comes next."""

    def __init__(
        self, record: TensorProgram, analysis: InPlaceAnalysis, memrefs: Memrefs, decided: RewriteDecisions
    ) -> None:
        self._record = record
        self._places = analysis.places
        self._needed = analysis.readers.needed
        self._merged = analysis.merged
        self._memrefs = memrefs
        self._decided = decided
        self._edges: dict[tuple[int, int], list[FlowDecision]] = {}
        for edge, flow in analysis.flows.items():
            self._edges.setdefault((edge.op, edge.operand), []).append(flow)
        self._entered: dict[int, ir.Value] = {}  # the memref that a loop's argument has, unless it moves
        self._leaving: dict[int, dict[int, ir.Value]] = {}

    def passes_on(self, op: OpRecord) -> bool:
        """Whether an op passes on any tensor."""
        return any((op.number, i) in self._edges for i in range(len(op.operands)))

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that an op hands to its regions for an operand."""
        current = self._memrefs.current
        (flow,) = (f for f in self._edges[current.number, operand] if self._record.values[f.edge.target].producer < 0)
        target = self._record.values[flow.edge.target]
        value = op.operands[operand]
        place = self._places.place_of(target.number)
        if flow.copied:
            memref = alloc(self._memrefs.plain_type(flow.edge.source), self._memrefs.sizes(value), op)
            if self._is_needed(current, operand):
                if not self._memrefs.is_undefined(value):
                    elementwise_copy(self._memrefs.of(value), memref, op)
                self._decided.of_flow(current, flow)
            self._keep(place, memref, target.number, allocated=True)
        else:
            memref = self._memrefs.of(value)
        memref = seen_as(memref, self._memrefs.passed_type(target.value), op)
        if not self._places.moves(target.number):
            self._entered[target.number] = memref
        self._keep(place, memref, target.number, allocated=False)
        return memref

    def _is_needed(self, op: OpRecord, operand: int) -> bool:
        """Whether anybody reads what an op passes on: if not, memory is enough, without contents."""
        return any(flow.edge.target in self._needed for flow in self._edges[op.number, operand])

    def _keep(self, place: int | None, memref: ir.Value, value: int, *, allocated: bool) -> None:
        current = self._memrefs.current
        self._memrefs.memory.keep(place, memref, value, current.block, 2 * current.number, allocated=allocated)

    def leaving(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that a terminator passes on for an operand."""
        number = self._memrefs.current.number
        if number not in self._leaving:
            self._leaving[number] = self._pass_on(op)
        return self._leaving[number][operand]

    def _pass_on(self, op: ir.Operation) -> dict[int, ir.Value]:
        """Copies what must be copied, each before its place is overwritten, and says which memref each operand passes on."""
        current = self._memrefs.current
        passing: dict[int, _Passing] = {}
        for operand, value in enumerate(op.operands):
            for flow in self._edges.get((current.number, operand), []):
                if operand not in passing or flow.copied:
                    passing[operand] = _Passing(flow.edge, self._memrefs.of(value), flow.copied)
                if flow.copied and self._is_needed(current, operand):
                    self._decided.of_flow(current, flow)
        self._copy([each for each in passing.values() if each.copied], op)
        found: dict[int, ir.Value] = {}
        for operand, value in enumerate(op.operands):
            if operand in passing:
                each = passing[operand]
                kind = self._memrefs.passed_type(self._record.values[each.edge.target].value)
                memref = each.destination if each.destination is not None else each.memref
                found[operand] = seen_as(memref, kind, op)
            elif is_tensor(value.type):
                found[operand] = self._memrefs.of(value)
        return found

    def _copy(self, waiting: list[_Passing], op: ir.Operation) -> None:
        """Copies what waits to where it belongs, in front of a terminator."""
        while waiting:
            ready = next((each for each in waiting if not self._overwrites_another(each, waiting)), None)
            if ready is None:  # they go round in a cycle
                staged = waiting[0]
                other = next(each for each in waiting if each is not staged and self._meets(staged, each))
                other.memref = copied(other.memref, op)
                other.edge = FlowEdge(other.edge.op, other.edge.operand, -1, other.edge.target)
                continue
            waiting.remove(ready)
            destination = self._arrival(ready, op)
            if not self._is_needed(self._memrefs.current, ready.edge.operand):
                continue
            before = _on_way(op, ready.edge.operand) if ready.edge.target in self._merged else op
            elementwise_copy(ready.memref, destination, before)

    def _arrival(self, passing: _Passing, op: ir.Operation) -> ir.Value:
        """Where something is copied: the memref of a loop's argument or of a merged value, or a new one for another block's."""
        target = passing.edge.target
        passing.destination = self._entered.get(target)
        if target in self._merged:
            sizes = dynamic_dims(passing.memref, op)
            passing.destination = self._memrefs.written(target, sizes, self._memrefs.current)
        elif passing.destination is None:
            kind = memref_with(shape_of(passing.memref.type), passing.memref.type)
            passing.destination = alloc(kind, dynamic_dims(passing.memref, op), op)
            place = self._places.place_of(passing.edge.target)
            if place is not None and self._places.stay(place):
                self._keep(place, passing.destination, passing.edge.target, allocated=True)
        return passing.destination

    def _overwrites_another(self, each: _Passing, waiting: Sequence[_Passing]) -> bool:
        return any(other is not each and self._meets(each, other) for other in waiting)

    def _meets(self, each: _Passing, other: _Passing) -> bool:
        """Whether copying one overwrites what is still to be copied for the other."""
        if other.edge.source < 0 or not (each.edge.target in self._entered or each.edge.target in self._merged):
            return False
        if not all(self._is_needed(self._memrefs.current, edge.operand) for edge in (each.edge, other.edge)):
            return False
        target = {place for place, _ in self._places.locations(each.edge.target)}
        return any(place in target for place, _ in self._places.locations(other.edge.source))


def _on_way(op: ir.Operation, operand: int) -> ir.Operation:
    """The op in front of which something happens only if `op` passes on that operand: `op`, or the end of a branch before it."""
    if op.name not in CHOOSING:
        return op
    way = way_of(op, operand)
    if op.name == "cf.switch":
        return _on_case(op, way)
    branch = create("scf.if", [op.operands[0]], [], regions=2, before=op)
    return [ended(region, [], op) for region in branch.regions[: way + 1]][way]


def _on_case(op: ir.Operation, way: int) -> ir.Operation:
    """The end of the region for one way of a switch; 0 is the default."""
    cases = _cases(op)
    cases = cases[way - 1 : way] if way else cases
    flag = create("arith.index_castui", [op.operands[0]], [ir.IndexType.get()], before=op).results[0]
    attributes: dict[str, ir.Attribute] = {"cases": ir.DenseI64ArrayAttr.get(cases)}
    branch = create("scf.index_switch", [flag], [], attributes, regions=1 + len(cases), before=op)
    return [ended(region, [], op) for region in branch.regions][1 if way else 0]


def _cases(op: ir.Operation) -> list[int]:
    """The values of a switch's cases, as indices."""
    width = cast(ir.IntegerType, op.operands[0].type).width
    values = list(cast(Any, op.attributes["case_values"])) if "case_values" in op.attributes else []
    return [int(value) % 2**width if width < INDEX_BITS else int(value) for value in values]
