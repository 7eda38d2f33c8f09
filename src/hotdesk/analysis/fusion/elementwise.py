"""Which elementwise producer may be computed where its elements are read.

A producer and a consumer, generic or named linalg ops, become one `linalg.generic` iff

1. both work on tensors alone (what one reads, no write can change) (`not-pure-tensors`);
2. the value between them is a ranked tensor throughout (`unranked-tensor`);
3. all loops of the producer are parallel (`producer-reduces`);
4. each iteration of the producer writes one element, and the consumer reads an element by its loops, one loop a dimension
   (`not-a-permutation`);
5. the consumer reads the value as an input, and does not accumulate into it (`accumulated-into`);
6. nobody else reads the value, and the consumer reads it in one way; or computing it again is free: no arithmetic, one element
   (`multiple-readers`);
7. both stand in one block, so that nothing is computed more often than before (`different-block`);
8. the sizes of all loops are known without the value (`loop-size-lost`);
9. the consumer is no contraction, convolution or pooling by name: kernels know it by that (`not-elementwise`);
10. nothing in between writes memory that the producer reads as a tensor, by `bufferization.to_tensor` (`touched-between`).
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.tensors_of_memory import MemoryWrites
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import defining_op, users
from hotdesk.models.generics import Generic, are_sized, is_free, matched_loops, read_generic, renamed
from hotdesk.models.tensor import CAST
from hotdesk.program.symbolic import SymbolicSizes


@dataclass(frozen=True, slots=True)
class Fusion:
    """A producer that may be computed in its consumer.

    Attributes:
        producer, consumer: the ops.
        uses: (operand of the consumer, output of the producer) pairs that go away.
        loops: for each loop of the producer the consumer's loop that it becomes.
        shared: whether the producer has to stay, for other readers.
        decision: what to tell about it.
    """

    producer: ir.Operation
    consumer: ir.Operation
    uses: tuple[tuple[int, int], ...]
    loops: tuple[int, ...]
    shared: bool
    decision: Decision


def find_fusion(
    consumer: Generic, operand: int, sizes: SymbolicSizes, writes: MemoryWrites
) -> Fusion | Decision | None:
    """The producer of an operand if it may be computed in the consumer, or why not; None if there is no such producer."""
    value = consumer.op.operands[operand]
    if is_memref(value.type):
        return _on_memory(consumer, operand, sizes)
    origin, ranked = _origin(value)
    producer = read_generic(origin)
    if producer is None or (ranked and origin != defining_op(value)):
        return None
    if not ranked:
        return _refused(value, sizes, Reason.UNRANKED_TENSOR, consumer.op)
    if consumer.keeps_name:
        return _refused(value, sizes, Reason.NOT_ELEMENTWISE, consumer.op)
    if not all(producer.parallel):
        return _refused(value, sizes, Reason.PRODUCER_REDUCES, producer.op)
    if operand >= consumer.inputs:
        return _refused(value, sizes, Reason.ACCUMULATED_INTO, consumer.op) if consumer.reads(operand) else None
    output = producer.inputs + list(producer.op.results).index(value)  # pyright: ignore[reportArgumentType]
    loops = matched_loops(producer, output, consumer, operand)
    if loops is None:
        return _refused(value, sizes, Reason.NOT_A_PERMUTATION, producer.op, consumer.op)
    if producer.op.block != consumer.op.block:
        return _refused(value, sizes, Reason.DIFFERENT_BLOCK, producer.op, consumer.op)
    if (writer := writes.between(producer.op, consumer.op)) is not None:
        return _refused(value, sizes, Reason.TOUCHED_BETWEEN, writer, consumer.op)
    alike = [
        i
        for i in range(consumer.inputs)
        if consumer.op.operands[i] == value and consumer.maps[i] == consumer.maps[operand]
    ]
    others = _others(producer, consumer, value, alike)
    if others and not is_free(producer):
        return _refused(value, sizes, Reason.MULTIPLE_READERS, *others)
    moved = [renamed(m, loops, len(consumer.parallel)) for m in producer.maps[: producer.inputs]]
    kept = [m for i, m in enumerate(consumer.maps) if i not in alike]
    if not are_sized([*moved, *kept], len(consumer.parallel)):
        return _refused(value, sizes, Reason.LOOP_SIZE_LOST, consumer.op)
    reason = Reason.CHEAP_TO_RECOMPUTE if others else Reason.SINGLE_READER
    decision = _decision(producer.op, value, sizes, Outcome.FUSED, reason, consumer.op)
    uses = tuple((i, output - producer.inputs) for i in alike)
    return Fusion(producer.op, consumer.op, uses, loops, bool(others), decision)


def _origin(value: ir.Value) -> tuple[ir.Operation | None, bool]:
    """The op behind casts that makes a tensor, and whether the tensor has a rank all the way."""
    ranked = True
    op = defining_op(value)
    while op is not None and op.name == CAST:
        value = op.operands[0]
        ranked &= isinstance(value.type, ir.RankedTensorType)
        op = defining_op(value)
    return op, ranked


def _others(producer: Generic, consumer: Generic, value: ir.Value, alike: list[int]) -> list[ir.Operation]:
    """Who else reads a result of the producer; the consumer itself, if it reads the value in another way too."""
    found = [user for result in producer.op.results for user in users(result) if user != consumer.op]
    others = [result for result in producer.op.results if result != value]
    in_another_way = any(
        (operand == value and i not in alike) or operand in others for i, operand in enumerate(consumer.op.operands)
    )
    return [*OpSet(found), *([consumer.op] if in_another_way else [])]


def _on_memory(consumer: Generic, operand: int, sizes: SymbolicSizes) -> Decision | None:
    """The refusal for an operand in memory that another op of the block wrote before."""
    value = consumer.op.operands[operand]
    for user in users(value):
        writer = read_generic(user)
        if writer is None or user == consumer.op or user.block != consumer.op.block:
            continue
        written = any(user.operands[i] == value for i in writer.outputs)
        if written and user.is_before_in_block(consumer.op) and operand < consumer.inputs:
            return _decision(user, value, sizes, Outcome.NOT_FUSED, Reason.NOT_PURE_TENSORS, user, consumer.op)
    return None


def _refused(value: ir.Value, sizes: SymbolicSizes, reason: Reason, *because: ir.Operation) -> Decision:
    return _decision(_origin(value)[0], value, sizes, Outcome.NOT_FUSED, reason, *because)


def _decision(
    maker: ir.Operation | None,
    value: ir.Value,
    sizes: SymbolicSizes,
    outcome: Outcome,
    reason: Reason,
    *because: ir.Operation,
) -> Decision:
    assert maker is not None, "a value that is fused or not is a producer's"
    sources = tuple(source_of(op) for op in because)
    size = sizes.bytes(value)
    return Decision(f"result of {maker.name}", outcome, reason, sources, size)
