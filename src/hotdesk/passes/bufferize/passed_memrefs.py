"""Memrefs that control flow passes on: into regions, out of them and between blocks, copied where the analysis says so.

A terminator copies all that it has to copy as if at once (`program.parallel_copies`). What a branch to several blocks copies on
one way alone is in a branch in front of it: `scf.if`, or `scf.index_switch` in front of a `cf.switch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.program import OpRecord
from hotdesk.ir.building import alloc, create, dynamic_dims, elementwise_copy, ended
from hotdesk.ir.types import is_tensor, memref_with, shape_of
from hotdesk.models.control_flow import CHOOSING, INDEX_BITS, way_of
from hotdesk.passes.bufferize.memrefs import Memrefs, copied, seen_as
from hotdesk.passes.bufferize.rewrite_decisions import RewriteDecisions
from hotdesk.program.parallel_copies import sequentialized
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

    def __init__(self, analysis: InPlaceAnalysis, memrefs: Memrefs, decided: RewriteDecisions) -> None:
        self._record = analysis.function
        self._places = analysis.places
        self._copies = analysis.copies
        self._needed = analysis.readers.needed
        self._merged = analysis.merged
        self._memrefs = memrefs
        self._decided = decided
        self._edges: dict[tuple[int, int], list[FlowEdge]] = {}
        for edge in analysis.copies:
            self._edges.setdefault((edge.op, edge.operand), []).append(edge)
        self._entered: dict[int, ir.Value] = {}  # the memref that a loop's argument has, unless it moves
        self._leaving: dict[int, dict[int, ir.Value]] = {}

    def passes_on(self, op: OpRecord) -> bool:
        """Whether an op passes on any tensor."""
        return any((op.number, i) in self._edges for i in range(len(op.operands)))

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that an op hands to its regions for an operand."""
        current = self._memrefs.current
        (edge,) = (e for e in self._edges[current.number, operand] if self._record.values[e.target].producer < 0)
        target, conflict = self._record.values[edge.target], self._copies[edge]
        value = op.operands[operand]
        place = self._places.place_of(target.number)
        if conflict is not None:
            memref = alloc(self._memrefs.plain_type(edge.source), self._memrefs.sizes(value), op)
            if self._is_needed(current, operand):
                if not self._memrefs.is_undefined(value):
                    elementwise_copy(self._memrefs.of(value), memref, op)
                self._decided.of_copied_edge(current, edge, conflict)
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
        return any(edge.target in self._needed for edge in self._edges[op.number, operand])

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
            for edge in self._edges.get((current.number, operand), []):
                conflict = self._copies[edge]
                if operand not in passing or conflict is not None:
                    passing[operand] = _Passing(edge, self._memrefs.of(value), conflict is not None)
                if conflict is not None and self._is_needed(current, operand):
                    self._decided.of_copied_edge(current, edge, conflict)
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

    def _copy(self, passing: Sequence[_Passing], op: ir.Operation) -> None:
        """Copies what is passed on to where it belongs, as if all at once, in front of a terminator."""
        read, overwritten = ([places(each) for each in passing] for places in (self._read, self._overwritten))
        for number, aside in sequentialized(read, overwritten):
            each = passing[number]
            if aside:
                each.memref = copied(each.memref, op)
                continue
            destination = self._arrival(each, op)
            if not self._is_needed(self._memrefs.current, each.edge.operand):
                continue
            before = _on_way(op, each.edge.operand) if each.edge.target in self._merged else op
            elementwise_copy(each.memref, destination, before)

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

    def _read(self, passing: _Passing) -> list[int]:
        """The places that are read when something is copied."""
        needed = self._is_needed(self._memrefs.current, passing.edge.operand)
        return [place for place, _ in self._places.locations(passing.edge.source)] if needed else []

    def _overwritten(self, passing: _Passing) -> list[int]:
        """The places that are overwritten when something is copied: none if it is to new memory."""
        target = passing.edge.target
        new = target not in self._entered and target not in self._merged
        if new or not self._is_needed(self._memrefs.current, passing.edge.operand):
            return []
        return [place for place, _ in self._places.locations(target)]


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
