"""A function on memrefs as plain records: its buffers by number, who uses them, and where control hands them on.

Ops are numbered in order, parents before what is in their regions; `end` is the number after the last op inside, so that
"inside" and "later" are comparisons of numbers. Blocks of one region come in an order in which definitions precede uses. Memrefs
are numbered in the order in which they are defined. A linalg op is one op: what its payload uses, it uses.

What a memref is:
1. new memory: the result of an op that allocates, by `memory_effects.allocated`; of `memref.realloc`, or its operand's;
2. memory of somebody else: an argument, a global, the stack;
3. a *view*: the memory of its operand, seen differently;
4. a *choice* of two operands, by `arith.select`;
5. *passed*: a block argument or a result of an op with regions, of which the flow is known;
6. *unknown*: a call's result, or what any other op makes. It may be memory of the op's operands.

`analysis.memrefs.buffer_reading` reads it. The records are named tuples: there is one for each op, and a frozen dataclass takes
several times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.region_graph import ENTRY, EXIT, RegionEdge

NOT_A_BUFFER = -1
FUNCTION = -1
"""In the place of the number of the op around a block: the function."""


class Kind(Enum):
    """What a memref is (module docstring)."""

    ALLOCATION = "allocation"
    ARGUMENT = "argument"
    GLOBAL = "global"
    STACK = "stack"
    VIEW = "view"
    CHOICE = "choice"
    PASSED = "passed"
    UNKNOWN = "unknown"


class Buffer(NamedTuple):
    """A memref: `producer` is the number of the op that it is result `position` of, or -1 if it is an argument of `block`.

    `sources` are the memrefs that a view or a choice shows.
    """

    number: int
    value: ir.Value
    kind: Kind
    producer: int
    position: int
    block: int
    sources: tuple[int, ...] = ()


class BufferOp(NamedTuple):
    """An op, its memref operands and results by number (`NOT_A_BUFFER` for others), the blocks of its regions, their graph.

    `control` is whether the flow through the regions is known.
    """

    number: int
    operation: ir.Operation
    name: str
    block: int
    end: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    regions: tuple[tuple[int, ...], ...] = ()
    edges: tuple[RegionEdge, ...] = ()
    control: bool = False


class BufferBlock(NamedTuple):
    """A block in region `region` of op `parent`: its ops are numbered `first` to `end`, the last one directly in it `last`.

    `last` is -1 in an empty block. `branches` are (successor, passed), with (operand, argument there) for what it passes.
    """

    number: int
    parent: int
    region: int
    first: int
    end: int
    arguments: tuple[int, ...]
    last: int = -1
    branches: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()


class Passing(NamedTuple):
    """At op `op`, the memref `source`, its operand number `operand`, becomes `target`.

    `edge` is the way that control takes: a successor of a branch, or a number in the `edges` of the op with regions.
    """

    op: int
    operand: int
    source: int
    target: int
    edge: int


@dataclass(frozen=True, slots=True)
class BufferProgram:
    """A function. `users` has for each memref the numbers of the ops that have it as an operand, in order; `asynchronous` are
    the ops that run on beside the program (`analysis.memrefs.asynchronous`); `handed_on` are terminators that pass on
    what is not followed, each with a memref whose memory that leads to (`analysis.memrefs.hidden_memory`); `stored` are ops with
    a memref that they put into other memory, from where it may be read."""

    function: ir.Operation
    ops: tuple[BufferOp, ...]
    blocks: tuple[BufferBlock, ...]
    buffers: tuple[Buffer, ...]
    users: tuple[tuple[int, ...], ...]
    numbers: dict[ir.Value, int] = field(repr=False)
    asynchronous: frozenset[int] = frozenset()
    handed_on: tuple[tuple[int, int], ...] = ()
    stored: tuple[tuple[int, int], ...] = ()

    def terminators(self, op: BufferOp, region: int) -> Iterator[BufferOp]:
        """The ops with which control leaves a region of an op: not those that end in nowhere, such as `llvm.unreachable`."""
        passes = any(edge.passed for edge in op.edges if edge.start == region)
        for number in op.regions[region]:
            block = self.blocks[number]
            if block.last >= 0 and not block.branches and (self.ops[block.last].operands or not passes):
                yield self.ops[block.last]

    def root(self, buffer: int) -> int:
        """What a view is a view of, by the ops alone."""
        while (record := self.buffers[buffer]).kind is Kind.VIEW:
            buffer = record.sources[0]
        return buffer

    def passings(self) -> Iterator[Passing]:
        """All that control hands on."""
        for block in self.blocks:
            for number, (successor, passed) in enumerate(block.branches):
                yield from _pairs(self.ops[block.last], passed, self.blocks[successor].arguments, number)
        for op in self.ops:
            for number, edge in enumerate(op.edges):
                targets = op.results if edge.end == EXIT else self.blocks[op.regions[edge.end][0]].arguments
                for leaving in [op] if edge.start == ENTRY else self.terminators(op, edge.start):
                    yield from _pairs(leaving, edge.passed, targets, number)


def _pairs(op: BufferOp, passed: tuple[tuple[int, int], ...], targets: tuple[int, ...], edge: int) -> Iterator[Passing]:
    for operand, target in passed:
        if op.operands[operand] != NOT_A_BUFFER and targets[target] != NOT_A_BUFFER:
            yield Passing(op.number, operand, op.operands[operand], targets[target], edge)
