"""One record of a function for every analysis: its ops, values, blocks, regions, and where control passes values on.

Ops are numbered in order, parents before what is in their regions; `end` is the number after the last op inside, so that
"inside" and "later" are comparisons of numbers. The blocks of one region come in reverse postorder: definitions precede uses.
Values are numbered in the order in which they are defined. Which values are followed, tensors or memrefs, is for whoever reads a
function to say (`program.reading`); other values are `UNTRACKED`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from hotdesk._bindings import ir
from hotdesk.graphs import reached
from hotdesk.models.facts import RESULTS, Flow
from hotdesk.models.func import RETURN

UNTRACKED = -1
"""In the place of the number of a value: one that is not followed."""
FUNCTION = -1
"""In the place of the number of the op around a block: the function."""
ENTRY, EXIT = -2, RESULTS
"""Where control comes from when an op begins, and goes when it is over, in the place of a region's number."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value: it is result, or argument, number `position` of the op `producer`, or of `block` if that is -1."""

    number: int
    value: ir.Value
    producer: int
    position: int
    block: int


class RegionEdge(NamedTuple):
    """Control goes from region `start` (or `ENTRY`) to region `end` (or `EXIT`).

    `passed` are (operand, argument or result there): of the op itself at `ENTRY`, of the region's terminators otherwise.
    """

    start: int
    end: int
    passed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Op:
    """An op: its operands and results by number, the blocks of each of its regions, and the graph of these.

    `flow` is what its model says of the way through its regions; None for ops without such, and where it is not known.
    Regions that are only a payload are not read: then `regions` is empty.
    """

    number: int
    operation: ir.Operation
    name: str
    block: int
    end: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    regions: tuple[tuple[int, ...], ...]
    edges: tuple[RegionEdge, ...]
    flow: Flow | None

    @property
    def control(self) -> bool:
        """Whether it is known how control goes through its regions."""
        return self.flow is not None


@dataclass(frozen=True, slots=True)
class Block:
    """A block in region `region` of op `parent`: its ops are numbered `first` to `end`, the last one directly in it `last`.

    `last` is -1 in an empty block. `branches` are (successor, passed), with (operand, argument there) for what it passes.
    """

    number: int
    parent: int
    region: int
    first: int
    end: int
    arguments: tuple[int, ...]
    last: int
    branches: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that it branches to."""
        return tuple([successor for successor, _ in self.branches])


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """At op `op`, the value `source`, its operand number `operand`, becomes the block argument or result `target`.

    `edge` is the way that control takes: a successor of a branch, or a number in the `edges` of the op with regions.
    """

    op: int
    operand: int
    source: int
    target: int
    edge: int = field(default=-1, compare=False)


ValueT = TypeVar("ValueT", bound=Value, covariant=True)
OpT = TypeVar("OpT", bound=Op, covariant=True)


@dataclass(frozen=True, slots=True)
class FunctionIR(Generic[OpT, ValueT]):
    """A function. `numbers` has the number of each value that is followed; `flows` is all that control passes on;
    `body` the blocks of its own region."""

    function: ir.Operation
    ops: tuple[OpT, ...]
    blocks: tuple[Block, ...]
    values: tuple[ValueT, ...]
    flows: tuple[FlowEdge, ...]
    numbers: dict[ir.Value, int] = field(repr=False)
    body: tuple[int, ...]

    @property
    def is_structured(self) -> bool:
        """Whether no region has more than one block."""
        return len({(block.parent, block.region) for block in self.blocks}) == len(self.blocks)

    @property
    def returns(self) -> tuple[OpT, ...]:
        """The ops that return from the function, in order."""
        return tuple([op for op in self.ops if op.name == RETURN])

    def region_of(self, block: int) -> tuple[int, ...]:
        """The blocks of the region that a block is in."""
        record = self.blocks[block]
        if record.parent != FUNCTION:
            return self.ops[record.parent].regions[record.region]
        return self.body

    def heads(self) -> frozenset[int]:
        """The blocks that are branched to from themselves or a block behind them: where loops between blocks begin."""
        return frozenset(to for block in self.blocks for to in block.successors if to <= block.number)

    def following(self, op: Op, region: int) -> list[int]:
        """The regions of an op that may run after one of them, at once or later, by its flow."""
        follows = sorted(op.flow.follows) if op.flow is not None else []
        after = [second for first, second in follows if first == region]
        return list(reached(after, lambda each: [second for first, second in follows if first == each]))

    def terminators(self, op: Op, region: int) -> Iterator[OpT]:
        """The ops with which control leaves a region of an op: not those that end in nowhere, such as `llvm.unreachable`."""
        passes = any(edge.passed for edge in op.edges if edge.start == region)
        for number in op.regions[region]:
            block = self.blocks[number]
            if block.last >= 0 and not block.branches and (self.ops[block.last].operands or not passes):
                yield self.ops[block.last]

    def leads_on(self, op: Op) -> bool:
        """Whether an op ends a block from which it is known where control goes: it passes on what it has, and does no more."""
        block = self.blocks[op.block]
        known = block.parent == FUNCTION or self.ops[block.parent].control
        return block.last == op.number and (known or bool(block.branches))

    def around(self, block: int) -> Iterator[OpT]:
        """The ops that a block is in, from the inside out."""
        while (parent := self.blocks[block].parent) != FUNCTION:
            yield self.ops[parent]
            block = self.ops[parent].block

    def within(self, op: int, block: int) -> int | None:
        """The op of a block that is, or has inside, another op; None if the block has none."""
        while (here := self.ops[op].block) != block:
            op = self.blocks[here].parent
            if op == FUNCTION:
                return None
        return op

    def within_block(self, inner: int, block: int) -> int | None:
        """The op of a block that has another block inside; None if the block has none."""
        parent = self.blocks[inner].parent
        return None if parent == FUNCTION else self.within(parent, block)
