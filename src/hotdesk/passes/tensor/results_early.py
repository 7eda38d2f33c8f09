"""Old contents of state that a function returns are copied early, before new ones are computed, and not at the return.

    func.func @main(%s {hotdesk.state = 1}, %x) {         %o = bufferization.alloc_tensor() copy(%s)
      %n = linalg.exp ins(%s) outs(%e)              ->    %n = linalg.exp ins(%s) outs(%e)      may overwrite %s
      return %s, %n }                                     return %o, %n }

Such a result is copied in any case. A copy at the end wants the old contents until then, so that the new ones are computed
elsewhere, and copied too.

A result is copied where it is made iff

1. it is an argument that is state, or a view of one, in the function's first block;
2. that argument gets other contents;
3. it is a result of the caller's (`returned-input`), or new contents of state that nobody else reads: then it is copied into
   that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create
from hotdesk.ir.locations import source_of
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import entry_block
from hotdesk.models.bufferization import ALLOC_TENSOR, MATERIALIZE
from hotdesk.passes.base import FunctionPass

_Early = tuple[int, int | None, list[int]]
"""A value, the state that it is copied into, if it is, and the results that it is, by number."""


@dataclass(frozen=True, slots=True)
class CopyResultsEarly(FunctionPass):
    """Copies old contents of state that are returned where they are made (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-copy-results-early"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.RETURNED_INPUT,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        states = [each.state for each in signature(function).arguments]
        if all(state is None for state in states):
            return
        record = read_function(function)
        readers = Readers(record)
        ops = [op.operation for op in entry_block(function).operations]
        for value, target, results in _found(record, readers, states):
            made = record.values[value]  # several copies in one place stay in the order found
            before = ops[0] if made.producer < 0 else ops[ops.index(record.ops[made.producer].operation) + 1]
            copy = _copy(made.value, None if target is None else record.values[target].value, before)
            for number in results:
                record.end.operation.operands[number] = copy.results[0]
            if target is None and readers.extent[value] is WHOLE:  # of others, bufferization says that they are copied
                sources, subject = (source_of(copy), record.end.source), f"result {results[0]}"
                yield Decision(subject, Outcome.COPIED, Reason.RETURNED_INPUT, sources, made.bytes)


def _found(record: TensorProgram, readers: Readers, states: Sequence[int | None]) -> Iterator[_Early]:
    """What is copied where it is made, each value once; what is copied into state comes behind what reads that."""
    end, root = record.end, readers.root
    into = {state: record.arguments[number] for number, state in enumerate(states) if state is not None}
    changed = {target for state, target in into.items() if root[end.operands[state]] != target}
    found: dict[tuple[int, int | None], list[int]] = {}
    waiting = [number for number, value in enumerate(end.operands) if value != NOT_A_TENSOR and root[value] in changed]
    waiting = [number for number in waiting if record.values[end.operands[number]].block == 0]
    taken: set[int] = set()
    while True:
        free = [number for number in waiting if number not in taken and _is_free(readers, into.get(number), end, taken)]
        if not free:
            break
        for number in free:
            found.setdefault((end.operands[number], into.get(number)), []).append(number)
        taken.update(free)
    yield from ((value, target, results) for (value, target), results in found.items())


def _is_free(readers: Readers, target: int | None, end: OpRecord, taken: Collection[int]) -> bool:
    """Whether nobody reads a target, but for results that have been `taken` by then; there may be none."""
    reads = () if target is None else readers.reads.get(target, ())
    return all(read.op == end.number and read.operand in taken for read in reads)


def _copy(value: ir.Value, target: ir.Value | None, before: ir.Operation) -> ir.Operation:
    """A copy of a tensor, in front of an op, into another one or into new memory."""
    if target is not None:
        return create(MATERIALIZE, [value, target], [value.type], before=before)
    segments: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])}
    return create(ALLOC_TENSOR, [value], [value.type], segments, before=before)
