"""Which loops over memory may become one: a producer that writes a buffer, and the consumer that reads it.

A producer and a consumer, generic or named linalg ops on memrefs in one block, become one `linalg.generic` in the consumer's
place iff

1. every loop of the producer is parallel, and each iteration writes one element of each output, apart from the other outputs
   (`producer-reduces`, `not-a-permutation`);
2. the consumer reads the very same elements (*must* alias), each in the one iteration that matches the producer's
   (`may-overlap`, `not-a-permutation`);
3. whatever else one of the two writes and the other one reads or writes lies apart, or is the same element in the matching
   iteration, where the producer still comes first (`may-overlap`);
4. no op between the two writes what the producer reads or writes, or reads what it writes, and none has unknown effects
   (`touched-between`);
5. a payload does nothing to memory but load from what neither of the two writes;
6. all loops of the consumer are parallel, or no output of the producer stays (`accumulated-into`);
7. the sizes of all loops are known without what goes away (`loop-size-lost`);
8. the consumer is no contraction, convolution or pooling by name: kernels know it by that (`not-elementwise`).

An output of the producer goes away if it lies in an allocation of that block that nothing else touches, or if the consumer
overwrites it. Two ops that only write the same buffer are no producer and consumer: they keep their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.fusion_blocks import FusionBlock
from hotdesk.analysis.memrefs.aliasing import Alias, Aliases, described
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import defining_op
from hotdesk.models.generics import Generic, are_sized, loops_of, matched_loops, renamed
from hotdesk.models.memory_effects import Effects, payload_effects
from hotdesk.models.memref import asks_for_size, view_source
from hotdesk.models.new_memory import only_frees, why_not_replaced


@dataclass(frozen=True, slots=True)
class BufferFusion:
    """A producer that may run in its consumer's loops.

    Attributes:
        producer, consumer: the ops.
        uses: (operand of the consumer, output of the producer) pairs that are the same element.
        loops: for each loop of the producer the consumer's loop that it becomes.
        keep: outputs of the producer that are still written.
        unused: allocations that nothing touches any more.
        decision: what to tell about it.
    """

    producer: ir.Operation
    consumer: ir.Operation
    uses: tuple[tuple[int, int], ...]
    loops: tuple[int, ...]
    keep: tuple[int, ...]
    unused: tuple[ir.Value, ...]
    decision: Decision


class BufferFusions:
    """Answers for pairs of ops of one function; nothing but fusions may change it meanwhile, which make no memrefs."""

    def __init__(self, function: ir.Operation, arguments_overlap: bool = True) -> None:
        self.aliases = self._aliases = Aliases(function, arguments_overlap)

    def nearest(self, block: FusionBlock, place: int) -> tuple[int, BufferFusion] | list[Decision]:
        """The nearest producer in front of an op that may be fused into it, by its place, or why none of them may."""
        reader = block.generic(place)
        refused: list[Decision] = []
        for each in [] if reader is None else block.producers(place, reader):
            writer = block.generic(each)
            found = None if writer is None or reader is None else self._find(block, (each, writer), (place, reader))
            if isinstance(found, BufferFusion):
                return each, found
            if found is not None:
                refused.append(found)
        return refused

    def _find(
        self, block: FusionBlock, first: tuple[int, Generic], second: tuple[int, Generic]
    ) -> BufferFusion | Decision | None:
        """Whether two ops, given with their places, may become one; None if one reads nothing that the other writes."""
        (place, producer), (end, consumer) = first, second
        related = list(self._related(producer, consumer))
        if not related:
            return None
        subject = _Subject(producer.op, producer.op.operands[related[0][1]])
        if not all(producer.parallel):
            return self._refused(subject, Reason.PRODUCER_REDUCES, source_of(producer.op))
        if not all(producer.is_permutation(output) for output in producer.outputs):
            return self._refused(subject, Reason.NOT_A_PERMUTATION, source_of(producer.op))
        if consumer.keeps_name:
            return self._refused(subject, Reason.NOT_ELEMENTWISE, source_of(consumer.op))
        between = self._between(block, place, end)
        if between is not None:
            return self._refused(subject, Reason.TOUCHED_BETWEEN, source_of(between))
        same = [(i, output) for i, output, alias in related if alias is Alias.MUST]
        if not same:
            operand, output, _ = related[0]
            views = described(producer.op.operands[output]), described(consumer.op.operands[operand])
            return self._refused(subject, Reason.MAY_OVERLAP, *views)
        loops = matched_loops(producer, same[0][1], consumer, same[0][0])
        if loops is None or len(loops) != len(consumer.parallel):
            return self._refused(subject, Reason.NOT_A_PERMUTATION, source_of(producer.op), source_of(consumer.op))
        maps = [renamed(m, loops, len(loops)) for m in producer.maps]
        clash = self._clash(producer, consumer, maps) or self._clash_of_payloads(producer, consumer)
        if clash is not None:
            return self._refused(subject, Reason.MAY_OVERLAP, *clash)
        return self._fusion(producer, consumer, maps, same, loops)

    def _related(self, producer: Generic, consumer: Generic) -> Iterator[tuple[int, int, Alias]]:
        """(operand that the consumer reads, output of the producer) pairs that may be the same memory."""
        for i, value in enumerate(consumer.op.operands):
            for output in producer.outputs if is_memref(value.type) and consumer.reads(i) else ():
                alias = self._aliases.relation(producer.op.operands[output], value)
                if not alias.apart:
                    yield i, output, alias

    def _between(self, block: FusionBlock, producer: int, consumer: int) -> ir.Operation | None:
        """An op that the producer cannot move past (rule 4)."""
        ours = block.effects(producer)
        for op, theirs in block.between(producer, consumer):
            if ours is None or theirs is None or self._meet(ours, theirs) or self._meet(theirs, ours):
                return op
        return None

    def _meet(self, a: Effects, b: Effects) -> bool:
        """Whether `a` may write what `b` reads or writes."""
        touched = (*b.reads, *b.writes)
        return any(not self._aliases.relation(one, other).apart for one in a.writes for other in touched)

    def _clash(self, producer: Generic, consumer: Generic, maps: list[ir.AffineMap]) -> tuple[Source, Source] | None:
        """Two views that may share an element in iterations that do not match (rules 1 to 3)."""
        for a, b in itertools.combinations([producer.op.operands[i] for i in producer.outputs], 2):
            if not self._aliases.relation(a, b).apart:
                return described(a), described(b)
        for (a, first), (b, second) in itertools.product(_touched(producer), _touched(consumer)):
            if a not in producer.outputs and b not in consumer.outputs:
                continue
            alias = self._aliases.relation(first, second)
            matches = alias is Alias.MUST and maps[a] == consumer.maps[b] and _is_permutation(maps[a])
            if not (alias.apart or matches):
                return described(first), described(second)
        return None

    def _clash_of_payloads(self, producer: Generic, consumer: Generic) -> tuple[Source, Source] | None:
        """What a payload does to memory that forbids to mix the loops (rule 5)."""
        places = [each.op.operands[i] for each in (producer, consumer) for i in each.outputs]
        for generic in (producer, consumer):
            effects = payload_effects(generic.op)
            if effects is None or effects.writes:
                return source_of(producer.op), source_of(consumer.op)
            for loaded, place in itertools.product(effects.reads, places):
                if not self._aliases.relation(loaded, place).apart:
                    return described(loaded), described(place)
        return None

    def _fusion(
        self,
        producer: Generic,
        consumer: Generic,
        maps: list[ir.AffineMap],
        same: list[tuple[int, int]],
        loops: tuple[int, ...],
    ) -> BufferFusion | Decision:
        keep: list[int] = []
        unused: list[ir.Value] = []
        for output in producer.outputs:
            place = producer.op.operands[output]
            if self._is_private(place, producer.op, consumer.op):
                unused.append(self._aliases.base(place))
            elif not self._is_overwritten(consumer, place):
                keep.append(output)
        subject = _Subject(producer.op, producer.op.operands[same[0][1]])
        if keep and not all(consumer.parallel):
            return self._refused(subject, Reason.ACCUMULATED_INTO, source_of(consumer.op))
        stays = [m for i, m in enumerate(maps) if i in keep or producer.reads(i)]
        stays += [m for i, m in enumerate(consumer.maps) if i in consumer.outputs or i not in dict(same)]
        if not are_sized(stays, len(loops)):
            return self._refused(subject, Reason.LOOP_SIZE_LOST, source_of(consumer.op))
        reason = Reason.READ_AS_WRITTEN if keep else Reason.SINGLE_READER
        decision = self._decision(subject, Outcome.FUSED, reason, source_of(consumer.op))
        uses = tuple((i, output - producer.inputs) for i, output in same)
        kept = tuple(output - producer.inputs for output in keep)
        return BufferFusion(producer.op, consumer.op, uses, loops, kept, tuple(unused), decision)

    def _is_overwritten(self, consumer: Generic, place: ir.Value) -> bool:
        """Whether the consumer writes what an output holds; rule 3 says that it does so in the matching iterations."""
        written = [consumer.op.operands[i] for i in consumer.outputs]
        return any(self._aliases.relation(place, other) is Alias.MUST for other in written)

    def _is_private(self, place: ir.Value, producer: ir.Operation, consumer: ir.Operation) -> bool:
        """Whether memory is an allocation of this block that nothing but the two ops touches."""
        base = self._aliases.base(place)
        owner = defining_op(base)
        if owner is None or why_not_replaced(owner) is not None or owner.block != producer.block:
            return False
        return all(user in (producer, consumer) for user in _touching(base))

    def _refused(self, subject: _Subject, reason: Reason, *because: Source) -> Decision:
        return self._decision(subject, Outcome.NOT_FUSED, reason, *because)

    def _decision(self, subject: _Subject, outcome: Outcome, reason: Reason, *because: Source) -> Decision:
        size = self._aliases.sizes.bytes(subject.written)
        return Decision(f"result of {subject.producer.name}", outcome, reason, because, size)


class _Subject(NamedTuple):
    """What a decision is about: what a producer writes."""

    producer: ir.Operation
    written: ir.Value


def _touched(generic: Generic) -> list[tuple[int, ir.Value]]:
    """The memrefs that an op reads or writes, with their operand numbers."""
    operands = enumerate(generic.op.operands)
    return [(i, v) for i, v in operands if is_memref(v.type) and (generic.reads(i) or i in generic.outputs)]


def _is_permutation(affine_map: ir.AffineMap) -> bool:
    loops = loops_of(affine_map)
    return loops is not None and len(loops) == affine_map.n_dims


def _touching(value: ir.Value) -> Iterator[ir.Operation]:
    """Every op that uses a memref or a view of it; deallocations and questions about sizes aside."""
    for use in value.uses:  # one by one: the first of many may be enough
        user = cast(Any, use.owner).operation
        shown = views_in(user, cast(Any, use).operand_number)
        if shown:
            yield from (op for result in shown for op in _touching(result))
        elif not (asks_for_size(user.name) or only_frees(user)):
            yield user


def views_in(op: ir.Operation, operand: int) -> list[ir.Value]:
    """The results of an op that do nothing but show an operand differently; none if it does anything else with it."""
    return [result for number, result in enumerate(op.results) if view_source(op.name, number) == operand]
