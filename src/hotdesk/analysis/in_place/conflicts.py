"""What lies behind a read-after-write conflict: the aliases between what is read and what is written, and which reads could move.

Values alias step by step: a view and its operand, a result and the operand that it overwrites, and what control flow passes on
without a copy. Searches give up after `LIMIT` values, so that explaining a decision costs no more than making it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import CAPTURED

LIMIT = 64
FEW = 3


class DecidedAliases:
    """The values of a function that lie in the same memory, as the analysis decided."""

    def __init__(self, analysis: InPlaceAnalysis) -> None:
        self._function = analysis.function
        self._analysis = analysis

    def path(self, start: int, wanted: Callable[[int], bool]) -> tuple[int, ...]:
        """The values from `start` to the nearest that is wanted, each an alias of the one before; empty if none was found."""
        came: dict[int, int] = {start: start}
        waiting = [start]
        for value in waiting:
            if wanted(value):
                return self._back(value, came)
            for other in self._neighbours.get(value, ()):
                if other not in came and len(came) < LIMIT:
                    came[other] = value
                    waiting.append(other)
        return ()

    def is_read_only_origin(self, value: int) -> bool:
        """Whether a value is an argument of the function or a constant: memory that was there before."""
        found = self._function.values[value]
        if found.producer < 0:
            return found.block == 0
        return found.position in self._function.ops[found.producer].facts.constants

    def _back(self, value: int, came: dict[int, int]) -> tuple[int, ...]:
        found = [value]
        while came[found[-1]] != found[-1]:
            found.append(came[found[-1]])
        return tuple(reversed(found))

    @cached_property
    def _neighbours(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for a, b in self._pairs():
            if NOT_A_TENSOR not in (a, b):
                found.setdefault(a, []).append(b)
                found.setdefault(b, []).append(a)
        return found

    def _pairs(self) -> list[tuple[int, int]]:
        pairs: list[tuple[int, int]] = []
        for op in self._function.ops:
            for operand, result in (*op.facts.views, *op.facts.choices):
                pairs.append((op.operands[operand], op.results[result]))
            for operand, result in op.facts.ties:
                decision = self._analysis.by_operand[op.number, operand]
                if decision.in_place and not decision.fresh:
                    pairs.append((op.operands[operand], op.results[result]))
        passed = (edge for edge, conflict in self._analysis.copies.items() if conflict is None)
        return [*pairs, *((edge.source, edge.target) for edge in passed)]


def value_read(function: TensorProgram, clash: Clash) -> int:
    """The value by which the read of a conflict sees what would be lost."""
    reader = function.ops[clash.read]
    if clash.operand == CAPTURED:
        return clash.lost
    return reader.operands[clash.operand]


def reads_to_move(analysis: InPlaceAnalysis, group: int, writer: OpRecord) -> list[OpRecord]:
    """The ops that stand in the way of `writer` because they read a group after it, if all of them could run before it.

    They can if the group is made in the writer's block and they are in that block, or inside an op of it, do not end it and need
    nothing that the writer makes.
    """
    function = analysis.function
    block = function.blocks[writer.block]
    if function.values[group].block != writer.block:
        return []
    found: dict[int, OpRecord] = {}
    reads = analysis.readers.reads.get(group, [])
    for read in reads[bisect_left(reads, writer.number, key=lambda read: read.op) :]:
        if read.op == writer.number and _in_step(writer, read.operand):
            continue
        top = function.within(read.op, writer.block)
        moved = None if top is None else function.ops[top]
        if moved is None or moved.number == writer.number or moved.end == block.end or _needs(function, moved, writer):
            return []
        found[moved.number] = moved
        if len(found) > FEW:
            return []
    return list(found.values())


def _in_step(op: OpRecord, operand: int) -> bool:
    """Whether an op reads an operand before it overwrites it, element by element or because it is the one it writes into."""
    return operand in op.facts.elementwise or any(operand == tied for tied, _ in op.facts.ties)


def _needs(function: TensorProgram, op: OpRecord, writer: OpRecord) -> bool:
    """Whether an op uses, directly or not, what another makes; also if that is not clear within `LIMIT` steps."""
    if writer.flow is not None or any(value == NOT_A_TENSOR for value in writer.results):
        return True
    seen: set[int] = set()
    waiting = list(range(op.number, op.end))
    while waiting:
        each = function.ops[waiting.pop()]
        for value in (*each.operands, *each.captured):
            if value == NOT_A_TENSOR or value in seen:
                continue
            if value in writer.results or len(seen) == LIMIT:
                return True
            seen.add(value)
            producer = function.values[value].producer
            if producer > writer.number:
                waiting.extend(range(producer, function.ops[producer].end))
    return False
