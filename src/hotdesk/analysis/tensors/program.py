"""A function on tensors: the record of its program, with the size of each tensor and the facts of each op."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Source
from hotdesk.models.facts import Facts
from hotdesk.models.func import RETURN
from hotdesk.program.records import UNTRACKED, FlowEdge, FunctionIR, Op, Value
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size

NOT_A_TENSOR = UNTRACKED


@dataclass(frozen=True, slots=True)
class TensorValue(Value):
    """A tensor and its size.

    `order` is when it is defined: what op `n` makes has order `2n + 1`, and `2n` is in front of it. An argument is in front of
    the first op of its block, so that whatever was there before op `n` has an order of `2n` at most, not of less.
    """

    shape: tuple[Size, ...]
    element: str
    bytes: Size
    order: int


@dataclass(frozen=True, slots=True)
class OpRecord(Op):
    """An op and its facts. It is a block's terminator, or has a flow, or its regions are its payload.

    `captured` are tensors that it reads otherwise than as operands: in its payload, or for a scalar it uses, if its kernel
    computes that from the tensor when it runs.
    """

    facts: Facts
    captured: tuple[int, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class TensorProgram(FunctionIR[OpRecord, TensorValue]):
    """A function on tensors, and which of its arguments may be overwritten.

    `scalars` tells which op defines an index or other scalar value, by its number; `shown` which operand each argument of a
    region shows; `insertions` which result of a parallel loop an insertion writes a part of, by the insertion's number; `spaces`
    the memory space of each value (`analysis.tensors.memory_spaces`), empty if all are in the default one. With `gives_back` the
    results are memory that the function made; else they are in the caller's. With `moves`, an insertion may read other elements
    of the memory that it writes (`analysis.in_place.interference`).
    """

    arguments: tuple[int, ...]
    writable_arguments: frozenset[int]
    argument_kinds: tuple[str, ...]
    sizes: SymbolicSizes
    scalars: dict[ir.Value, int]
    shown: tuple[FlowEdge, ...] = ()
    insertions: dict[int, int] = field(default_factory=dict[int, int])
    spaces: tuple[ir.Attribute | None, ...] = ()
    gives_back: bool = False
    moves: bool = False

    def space(self, value: int) -> ir.Attribute | None:
        """The memory space of a value; None for the default one."""
        return self.spaces[value] if self.spaces else None

    def tie_to(self, value: int) -> tuple[OpRecord, int] | None:
        """The op that may write a value over an operand of its own, and the number of that; None if none does."""
        made = self.values[value]
        if made.producer < 0:
            return None
        op = self.ops[made.producer]
        operand = op.facts.tied_to(made.position)
        return None if operand is None else (op, operand)

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
        found = next((op for op in reversed(self.ops) if op.name == RETURN), None)
        if found is None:
            where = next((op.source.location for op in self.ops if op.source.location), None)
            raise BufferizationError("function", expected="an op that returns", got="none", where=where)
        return found


def in_order(function: TensorProgram) -> TensorProgram:
    """The same function, its parallel loops taken to run one iteration after the other."""
    ops = tuple(
        replace(op, flow=replace(op.flow, parallel=False)) if op.flow is not None and op.flow.parallel else op
        for op in function.ops
    )
    return replace(function, ops=ops)
