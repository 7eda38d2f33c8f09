"""Makes values again, instead of keeping them, until no operation has more than so many bytes.

    %a = product(%x, %w)            %a = product(%x, %w)
    %b = exp(%a)                    %b = exp(%a)
    %c = wide(%b)                   %c = wide(%b)
    %d = narrow(%c)          ->     %d = narrow(%c)
    %r = add(%b, %d)                %a2 = product(%x, %w)
    %s = mul(%a, %r)                %b2 = exp(%a2)
                                    %r = add(%b2, %d)
                                    %s = mul(%a2, %r)

Unlike `hotdesk-recompute-across` it looks at all operations, and lets values that are made again share what they are made of.
Which ones are, `planning.scheduling.recomputation` chooses; what is there when is the estimate of `analysis.order.schedules`.

An operation is done again only if

1. it is pure, has no loops or branches, and one result, a tensor;
2. nothing in between works on memory or is unknown (`analysis.order.schedules`);
3. arguments that may be overwritten, and that it reads, are read there or later by others.

Views and constants are not counted, and views are made where they are read. An operation that nobody reads any more is erased.
Goes in front of `hotdesk-choose-destinations`; MLIR's `cse` behind it would undo it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.chains import cost_of, is_repeatable
from hotdesk.analysis.order.schedules import Stretch, read_all, read_stretch, used_in_other_blocks
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import captured_operands, defining_op
from hotdesk.models.purity import is_fence
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.base import StraightPass
from hotdesk.planning.scheduling.recomputation import Recomputed, RecomputeProblem, RecomputeStep, Remade, recompute


@dataclass(frozen=True, slots=True)
class RecomputeToFit(StraightPass):
    """Makes values again until they fit (rules in the module docstring).

    Options:
        bytes: that an operation may have at most, by the estimate: its operands, its results, and all that is kept across it.
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-recompute-to-fit"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_KEPT_AT_PEAK,)

    bytes: int = 1 << 30
    assumed_size: int = 256

    def run_on(self, function: ir.Operation) -> list[Decision]:
        record = read_all(function)
        if record is None:
            return []
        elsewhere = used_in_other_blocks(record)
        stretch = read_stretch(record, record.blocks[0], {}, elsewhere, self.assumed_size, returned=False)
        found = recompute(_problem(stretch, StraightLine(function, self.assumed_size)), self.bytes)
        decisions = [_decision(stretch, each) for each in found.remade]
        if decisions:
            _Arrangement(stretch).make(found)
        return decisions


def _problem(stretch: Stretch, line: StraightLine) -> RecomputeProblem:
    fences_before = list(accumulate((is_fence(op) for op in stretch.operations), initial=0))
    return RecomputeProblem(
        stretch.problem,
        tuple(cost_of(line, position) for position in stretch.tasks),
        tuple(is_repeatable(stretch.operations[position]) for position in stretch.tasks),
        tuple(fences_before[position] for position in stretch.tasks),
    )


class _Arrangement:
    """Puts the steps of a recomputation into a block."""

    def __init__(self, stretch: Stretch) -> None:
        self._operations = [stretch.operations[position] for position in stretch.tasks]
        self._values = stretch.problem.tasks
        self._made: dict[tuple[int, int], ir.Value] = {}  # copies of values, by number
        self._numbers = {
            result: value
            for op, task in zip(self._operations, stretch.problem.tasks, strict=True)
            for result, value in zip(_tensors(op), task.results, strict=True)
        }
        self._views: dict[
            tuple[ir.Value, ...], ir.Operation
        ] = {}  # by the first result of the old one, and the operands

    def make(self, found: Recomputed) -> None:
        waiting: list[RecomputeStep] = []
        for step in found.steps:
            if step.copy:
                waiting.append(step)
                continue
            anchor = self._operations[step.task]
            for each in waiting:
                clone = self._operations[each.task].clone(ir.InsertionPoint(anchor))
                self._let_read(clone, self._copies(each.task, each.reads), fresh=True)
                made = zip(self._values[each.task].results, _tensors(clone), strict=True)
                self._made.update(((value, each.copy), result) for value, result in made)
            waiting = []
            self._let_read(anchor, self._copies(step.task, step.reads), fresh=False)
        for op in reversed(self._operations):
            if is_repeatable(op) and not any(list(result.uses) for result in op.results):
                op.erase()

    def _copies(self, task: int, reads: tuple[int, ...]) -> Mapping[int, ir.Value]:
        """The operands that are copies, by the number of the value."""
        operands = self._values[task].operands
        return {value: self._made[value, copy] for value, copy in zip(operands, reads, strict=True) if copy}

    def _let_read(self, op: ir.Operation, copies: Mapping[int, ir.Value], *, fresh: bool) -> None:
        """Has an operation and its regions read copies; destinations without contents are its own where it is `fresh`."""
        if not copies and not fresh:
            return
        used = [(op, number, value) for number, value in enumerate(op.operands)]
        for reader, number, value in (*used, *captured_operands(op)):
            if is_tensor(value.type):
                reader.operands[number] = self._read(value, op, copies, fresh=fresh)

    def _read(self, value: ir.Value, reader: ir.Operation, copies: Mapping[int, ir.Value], *, fresh: bool) -> ir.Value:
        maker = defining_op(value)
        if maker is None:
            return value
        if value in self._numbers:
            return copies.get(self._numbers[value], value)
        operands = [
            self._read(each, reader, copies, fresh=fresh) if is_tensor(each.type) else each for each in maker.operands
        ]
        if maker.name == EMPTY and fresh:
            return maker.clone(ir.InsertionPoint(reader)).results[0]
        if operands == list(maker.operands):
            return value
        key = (maker.results[0], *operands)
        if key not in self._views:
            view = self._views[key] = maker.clone(ir.InsertionPoint(reader))
            for number, operand in enumerate(operands):
                view.operands[number] = operand
        return self._views[key].results[[result == value for result in maker.results].index(True)]


def _tensors(op: ir.Operation) -> list[ir.Value]:
    return [result for result in op.results if is_tensor(result.type)]


def _decision(stretch: Stretch, made: Remade) -> Decision:
    op, reader = (stretch.operations[stretch.tasks[task]] for task in (made.task, made.reader))
    sources = (source_of(op), source_of(reader))
    subject = f"result of {op.name}, by {made.tasks} operation{'s' if made.tasks != 1 else ''}"
    return Decision(subject, Outcome.RECOMPUTED, Reason.NOT_KEPT_AT_PEAK, sources, made.bytes)
