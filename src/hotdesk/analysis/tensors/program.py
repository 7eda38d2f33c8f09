"""The records of a function: tensor values by number, operations with their facts, and where control flow passes values.

Operations are numbered in the order of the text, blocks in reverse postorder, parents before what is in their regions; `end` is
the number after the last operation inside, so that "inside" and "later" are comparisons of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Source
from hotdesk.ir.sizes import Size
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.models.facts import Facts
from hotdesk.models.flow import Flow

NOT_A_TENSOR = -1


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor: its number, where it comes from, and its size.

    `producer` is an op number, or None for a block argument; `result` the number of the result or argument. `block` is where it
    is defined, and `order` when: what op `n` makes has order `2n + 1`, and `2n` is in front of it. An argument is in front of the
    first op of its block, so that whatever was there before op `n` has an order of `2n` at most, not of less.
    """

    number: int
    value: ir.Value
    producer: int | None
    result: int
    shape: tuple[Size, ...]
    element: str
    bytes: Size
    block: int = 0
    order: int = 0


@dataclass(frozen=True, slots=True)
class OpRecord:
    """An operation: its facts, and its tensor operands and results by number (`NOT_A_TENSOR` for others).

    `captured` are tensors that it reads otherwise than as operands: in its payload, or for a scalar it uses, if its kernel
    computes that from the tensor when it runs. Operations inside its regions, if it has a flow, have numbers below `end`.
    """

    number: int
    operation: ir.Operation
    name: str
    facts: Facts
    operands: tuple[int, ...]
    captured: tuple[int, ...]
    results: tuple[int, ...]
    source: Source
    end: int = -1
    block: int = 0
    flow: Flow | None = None


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block: the op whose region `region` it is in (-1 for the function), its ops `first` to `end`, and where it branches."""

    number: int
    parent: int
    region: int
    first: int
    end: int
    arguments: tuple[int, ...]
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """At op `op`, the value `source`, its operand number `operand`, is passed to the block argument or result `target`."""

    op: int
    operand: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """The ops of a function in order, its tensor values, and the arguments that may be overwritten.

    `scalars` tells which op defines an index or other scalar value, by its number; `shown` which operand each argument of a
    region shows; `insertions` which result of a parallel loop an insertion writes a part of, by the insertion's number; `spaces`
    the memory space of each value (`analysis.tensors.memory_spaces`), empty if all are in the default one. With `gives_back` the
    results are memory that the function made; else they are in the caller's.
    """

    ops: tuple[OpRecord, ...]
    values: tuple[TensorValue, ...]
    arguments: tuple[int, ...]
    writable_arguments: frozenset[int]
    argument_kinds: tuple[str, ...]
    blocks: tuple[BlockRecord, ...]
    flows: tuple[FlowEdge, ...]
    sizes: SymbolicSizes
    scalars: dict[ir.Value, int]
    shown: tuple[FlowEdge, ...] = ()
    insertions: dict[int, int] = field(default_factory=dict[int, int])
    spaces: tuple[ir.Attribute | None, ...] = ()
    gives_back: bool = False

    def space(self, value: int) -> ir.Attribute | None:
        """The memory space of a value; None for the default one."""
        return self.spaces[value] if self.spaces else None

    def blocks_in(self, op: OpRecord) -> Iterator[int]:
        """The blocks of an op's regions, by number."""
        number = op.number + 1
        while number < op.end:
            block = self.ops[number].block
            yield block
            number = self.blocks[block].end

    @property
    def end(self) -> OpRecord:
        """The op that returns. Raises BufferizationError if there is none."""
        found = next((op for op in reversed(self.ops) if op.name == "func.return"), None)
        if found is None:
            where = next((op.source.location for op in self.ops if op.source.location), None)
            raise BufferizationError("function", expected="an op that returns", got="none", where=where)
        return found


def in_order(function: FunctionRecord) -> FunctionRecord:
    """The same function, its parallel loops taken to run one iteration after the other."""
    ops = tuple(
        replace(op, flow=replace(op.flow, parallel=False)) if op.flow is not None and op.flow.parallel else op
        for op in function.ops
    )
    return replace(function, ops=ops)
