"""Reads a function once into the records of `program.records`.

A level of IR, tensors or memrefs, says which values it follows and what it wants to know of each value and op. What it says of an
op it may found on whatever comes before it, and on what is in its regions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import in_order
from hotdesk.models.control_flow import branched
from hotdesk.models.facts import Flow
from hotdesk.program.records import ENTRY, EXIT, FUNCTION, UNTRACKED, Block, FlowEdge, Op, RegionEdge, Value
from hotdesk.program.regions import region_edges

ValueT = TypeVar("ValueT", bound=Value)
OpT = TypeVar("OpT", bound=Op)


class Head(NamedTuple):
    """What is read of an op before its results: `end` is the number after the last op that has been read."""

    number: int
    operation: ir.Operation
    name: str
    block: int
    end: int
    operands: tuple[int, ...]
    regions: tuple[tuple[int, ...], ...]
    edges: tuple[RegionEdge, ...]
    flow: Flow | None


class Reader(ABC, Generic[OpT, ValueT]):
    """Walks over a function and numbers what is in it; a level says what is recorded."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.values: list[ValueT] = []
        self.numbers: dict[ir.Value, int] = {}
        self.flows: list[FlowEdge] = []
        self.body: tuple[int, ...] = ()
        self._ops: list[OpT | None] = []
        self._blocks: list[Block | None] = []
        self._edges: dict[tuple[int, tuple[bool, ...]], tuple[Flow | None, tuple[RegionEdge, ...]]] = {}

    @property
    def ops(self) -> list[OpT]:
        """The ops, when all are read; those with regions that are being read are missing before."""
        return cast("list[OpT]", self._ops)

    @property
    def blocks(self) -> list[Block]:
        return cast("list[Block]", self._blocks)

    def read(self) -> None:
        """Reads the function."""
        self.body = self._region(self.function.regions[0], FUNCTION, 0, True)

    # What a level says

    @abstractmethod
    def argument(self, value: ir.Value, block: int, position: int, parent: int, known: bool) -> ValueT | None:
        """An argument of a block of op `parent`; `known` is whether it is known what comes there. None if it is not followed."""

    @abstractmethod
    def result(self, value: ir.Value, position: int, op: Head) -> ValueT | None:
        """A result of an op; None if it is not followed."""

    @abstractmethod
    def op(self, head: Head, results: tuple[int, ...], before: int) -> OpT:
        """The record of an op, all but whose results were defined `before` that many values."""

    @abstractmethod
    def flow(self, operation: ir.Operation) -> Flow | None:
        """How control and values go through the regions of an op; None if that is not known."""

    @abstractmethod
    def enters(self, operation: ir.Operation, operands: tuple[int, ...], flow: Flow | None) -> bool:
        """Called for each op before its regions; whether these are read."""

    def ended(self, last: int) -> None:
        """Called behind the last op of each block that has one."""

    def forgotten(self, argument: int, branch: ir.Operation) -> None:
        """Called for each block argument that gets its value from a branch of which it is not known what it passes."""

    # The walk

    def _region(self, region: ir.Region, parent: int, number: int, known: bool) -> tuple[int, ...]:
        places: dict[ir.Block, int] = {}
        for block in in_order(region):
            place = places[block] = len(self._blocks)
            self._blocks.append(None)
            entry_known = known or len(places) > 1
            arguments = tuple(
                [self._add(a, self.argument(a, place, i, parent, entry_known)) for i, a in enumerate(block.arguments)]
            )
            first, last = len(self._ops), -1
            for view in block.operations:
                last = self._operation(view.operation, place)
            if last >= 0:
                self.ended(last)
            self._blocks[place] = Block(place, parent, number, first, len(self._ops), arguments, last)
        if len(places) > 1:
            self._link(places)
        return tuple(places.values())

    def _add(self, value: ir.Value, record: ValueT | None) -> int:
        if record is None:
            return UNTRACKED
        self.values.append(record)
        self.numbers[value] = record.number
        return record.number

    def _operation(self, operation: ir.Operation, block: int) -> int:
        number, name, before = len(self._ops), operation.name, len(self.values)
        numbers = self.numbers
        operands = tuple([numbers.get(value, UNTRACKED) for value in operation.operands])
        flow = self.flow(operation)
        enters = self.enters(operation, operands, flow)
        self._ops.append(None)
        regions: tuple[tuple[int, ...], ...] = ()
        edges: tuple[RegionEdge, ...] = ()
        if enters:
            known = flow is not None
            regions = tuple([self._region(r, number, i, known) for i, r in enumerate(operation.regions)])
            edges = self._graph(flow, regions)
        head = Head(number, operation, name, block, len(self._ops), operands, regions, edges, flow)
        results = tuple([self._add(v, self.result(v, i, head)) for i, v in enumerate(operation.results)])
        self._ops[number] = op = self.op(head, results, before)
        if flow is not None:
            self._pass_on(op, flow)
        return number

    def _graph(self, flow: Flow | None, regions: tuple[tuple[int, ...], ...]) -> tuple[RegionEdge, ...]:
        """The graph of an op with regions; that of ops with one flow is made once."""
        key = id(flow), tuple([bool(blocks) for blocks in regions])
        if key not in self._edges:
            self._edges[key] = flow, region_edges(flow, key[1])
        return self._edges[key][1]

    def _pass_on(self, op: OpT, flow: Flow) -> None:
        """What an op hands to its regions, and these to each other and to its results."""
        ways = {(edge.start, edge.end): number for number, edge in enumerate(op.edges)}
        for operand, region, argument in flow.entries:
            if (way := ways.get((ENTRY, region))) is not None:
                self._add_flow(op, operand, self._arguments(op, region)[argument], way)
        for operand, result in flow.skips:
            if (way := ways.get((ENTRY, EXIT))) is not None:
                self._add_flow(op, operand, op.results[result], way)
        for region, operand, to, argument in flow.exits:
            if (way := ways.get((region, to))) is None:
                continue
            target = (op.results if to == EXIT else self._arguments(op, to))[argument]
            for number in op.regions[region]:
                last = self.blocks[number].last
                if last >= 0 and not self.blocks[number].branches and self.ops[last].operands:
                    self._add_flow(self.ops[last], operand, target, way)

    def _arguments(self, op: OpT, region: int) -> tuple[int, ...]:
        return self.blocks[op.regions[region][0]].arguments

    def _add_flow(self, op: OpT, operand: int, target: int, edge: int) -> None:
        source = op.operands[operand]
        if UNTRACKED not in (source, target):
            self.flows.append(FlowEdge(op.number, operand, source, target, edge))

    def _link(self, places: dict[ir.Block, int]) -> None:
        """Notes where the blocks of a region branch; without a model of a terminator nothing is known of what arrives."""
        for block, number in places.items():
            record = self.blocks[number]
            successors = [places[s] for s in block.successors] if record.last >= 0 else []
            if not successors:
                continue
            end = self.ops[record.last]
            passed = branched(end.operation)
            if passed is None:
                for successor in successors:
                    for argument in self.blocks[successor].arguments:
                        self.forgotten(argument, end.operation)
            ways = [[(o, argument) for o, to, argument in passed or () if to == i] for i in range(len(successors))]
            branches = tuple([(to, tuple(way)) for to, way in zip(successors, ways, strict=True)])
            self._blocks[number] = replace(record, branches=branches)
            for operand, to, argument in passed or ():
                self._add_flow(end, operand, self.blocks[successors[to]].arguments[argument], to)
