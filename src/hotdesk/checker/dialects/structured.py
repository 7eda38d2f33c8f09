"""`linalg.generic`, which all structured ops are turned into: by whole arrays where the body allows it, else point by point.

1. Loops that are all parallel: the body runs once on arrays, over parts of the domain that fit in memory.
2. Reductions by a known function (a sum, a product, a maximum …): what is reduced is computed as in 1 and then folded; a sum of
   products is left to `numpy.einsum`. Sums are rounded in another order than the loops would.
3. Other reductions: the body runs on arrays over the parallel loops, once for each point of the others, in order.
4. A body with ops that take no arrays, an index that is no sum of multiples, or a body that loads from what the op writes: point
   by point.

That an op reads an element which it writes at another point is an *overlap*: the loops may run in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects import arith, complex, math, ub
from hotdesk.checker.interpreter import Frame, Interpreter, OpReader, Region
from hotdesk.checker.iteration import IndexingMap, counters, domain_of, indexing_map, parts, shaped, summed, widened
from hotdesk.checker.overlaps import disturbed, meet, sharing
from hotdesk.checker.reductions import Fold, find_fold
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Unwritten, Value
from hotdesk.ir.walking import captured_operands, nested_ops
from hotdesk.models.memref import LOAD

_ON_ARRAYS = frozenset(
    {
        *arith.OPS,
        *math.OPS,
        *complex.OPS,
        *ub.OPS,
        "linalg.index",
        "linalg.yield",
        LOAD,
        "memref.dim",
        "cf.assert",
    }
)
"""Ops that take arrays as they take scalars."""


@dataclass(frozen=True, slots=True)
class _BodyOperand:
    slot: int
    argument: int
    used: bool
    indexing: IndexingMap


class GenericOp:
    """One op, ready to run."""

    def __init__(self, reader: OpReader) -> None:
        self._at = reader.at
        self._interpreter: Interpreter = reader.interpreter
        body = reader.op.regions[0].blocks[0]
        maps = [indexing_map(attribute.value) for attribute in reader.attribute("indexing_maps")]
        self._body: Region = reader.region(0)
        used = [next(iter(a.uses), None) is not None for a in body.arguments]
        pairs = zip(reader.operands, self._body.arguments, used, maps, strict=True)
        operands = [_BodyOperand(*each) for each in pairs]
        inputs = len(reader.groups()[0])
        self._inputs, self._outputs = operands[:inputs], operands[inputs:]
        self._operands = operands
        self._parallel = [str(i) == "#linalg.iterator_type<parallel>" for i in reader.attribute("iterator_types")]
        names = {op.name for op in nested_ops(reader.op)}
        linear = all(operand.indexing.expressions is not None for operand in operands)
        self._arrays = names <= _ON_ARRAYS and linear and all(self._writes_once(operand) for operand in self._outputs)
        self._gathers = [
            reader.function.slot(value) for op, i, value in captured_operands(reader.op) if op.name == LOAD and i == 0
        ]
        self._folds: list[Fold] | None = None if all(self._parallel) else self._find_folds(reader, body)

    def _find_folds(self, reader: OpReader, body: ir.Block) -> list[Fold] | None:
        last = list(body.operations)[-1].operation
        count = len(self._inputs)
        found = [find_fold(reader.function, body, count, i, value) for i, value in enumerate(last.operands)]
        folds = [fold for fold in found if fold is not None]
        return folds if len(folds) == len(found) else None

    def _writes_once(self, operand: _BodyOperand) -> bool:
        """Whether an output has an element of its own for each point of the parallel loops, as it should."""
        expressions = operand.indexing.expressions or ()
        loops = [[i for i, multiple in enumerate(e.multiples) if multiple] for e in expressions]
        used = [loop for each in loops for loop in each]
        return all(len(each) < 2 for each in loops) and sorted(used) == [i for i, p in enumerate(self._parallel) if p]

    def run(self, frame: Frame) -> None:
        held = [frame[operand.slot] for operand in self._operands]
        shapes = [x.sizes if isinstance(x, MemRef) else () for x in held]
        maps = [operand.indexing for operand in self._operands]
        domain = domain_of(maps, shapes, held, self._interpreter.findings, self._at)
        if 0 in domain:
            return
        written = [view.buffer for view in held[len(self._inputs) :]]
        if not self._arrays or any(frame[slot].buffer in written for slot in self._gathers):
            self._by_points(frame, held, domain)
            return
        self._check_overlap(held, domain)
        if self._folds is None:
            self._in_order(frame, held, [0] * len(domain), domain)
            return
        for starts, sizes in parts(domain, self._parallel):
            if not self._fold(frame, held, starts, sizes, self._folds):
                self._in_order(frame, held, starts, sizes)

    # By whole arrays

    def _in_order(self, frame: Frame, held: Sequence[Any], first: Sequence[int], domain: Sequence[int]) -> None:
        """Rules 1 and 3, for the part of the domain that begins at `first`."""
        fixed = [1 if parallel else size for size, parallel in zip(domain, self._parallel, strict=True)]
        rest = [size if parallel else 1 for size, parallel in zip(domain, self._parallel, strict=True)]
        for point in itertools.product(*map(range, fixed)):
            for starts, sizes in parts(rest, self._parallel):
                at = [a + b + c for a, b, c in zip(first, point, starts, strict=True)]
                self._compute(frame, held, at, sizes)

    def _compute(self, frame: Frame, held: Sequence[Any], starts: Sequence[int], sizes: Sequence[int]) -> None:
        given = [self._read(operand, x, starts, sizes) for operand, x in zip(self._operands, held, strict=True)]
        values = self._run_body(frame, given, starts, sizes)
        outputs = zip(self._outputs, held[len(self._inputs) :], values, strict=True)
        for operand, view, value in outputs:
            self._interpreter.memory.write(
                operand.indexing.over(view, starts, sizes), shaped(value, len(sizes)), self._at
            )

    def _fold(
        self, frame: Frame, held: Sequence[Any], starts: Sequence[int], sizes: Sequence[int], folds: Sequence[Fold]
    ) -> bool:
        """Rule 2. False, with nothing done, if some value was never written."""
        count = len(self._inputs)
        given = [self._read(operand, x, starts, sizes) for operand, x in zip(self._inputs, held, strict=False)]
        targets = [o.indexing.over(v, starts, sizes) for o, v in zip(self._outputs, held[count:], strict=True)]
        before = [self._interpreter.memory.read(target, self._at) for target in targets]
        if any(type(x) is Unwritten for x in (*given, *before)):
            return False
        loops = tuple(i for i, parallel in enumerate(self._parallel) if not parallel)
        product = folds[0].product if len(folds) == 1 else None
        if product is None:
            self._run_body(frame, [*given, *(target.dtype.type(0) for target in targets)], starts, sizes)
            values = [frame[fold.operand] for fold in folds]
            if any(type(x) is Unwritten for x in values):
                return False
            whole = [np.broadcast_to(shaped(value, len(sizes)), sizes) for value in values]
            totals = [fold.reduced(value, loops) for fold, value in zip(folds, whole, strict=True)]
        else:
            totals = [summed(product, given, sizes, loops, targets[0].dtype)]
        for fold, target, old, total in zip(folds, targets, before, totals, strict=True):
            self._interpreter.memory.write(target, fold.combined(old, total).astype(target.dtype), self._at)
        return True

    def _read(self, operand: _BodyOperand, x: Any, starts: Sequence[int], sizes: Sequence[int]) -> Value:
        """The operand over a part of the domain; nothing of one that the body does not use."""
        if not operand.used:
            return None
        if not isinstance(x, MemRef):
            return x
        return self._interpreter.memory.read(operand.indexing.over(x, starts, sizes), self._at)

    def _run_body(self, frame: Frame, given: list[Value], starts: Sequence[int], sizes: Sequence[int]) -> list[Value]:
        self._interpreter.counters.append(counters(starts, sizes))
        try:
            return self._body.run(frame, given)
        finally:
            self._interpreter.counters.pop()

    def _check_overlap(self, held: Sequence[Any], domain: Sequence[int]) -> None:
        """Each input against each output, and outputs against one another."""
        count = len(self._inputs)
        starts = [0] * len(domain)
        for number, (operand, view) in enumerate(zip(self._outputs, held[count:], strict=True)):
            for other in held[count + number + 1 :]:
                if sharing(view, other):
                    self._interpreter.findings.add(FaultKind.OVERLAP, self._at, "two outputs share bytes", view.buffer)
            for source, x in zip(self._inputs, held, strict=False):
                if not source.used or not isinstance(x, MemRef) or not meet(x, view):
                    continue
                reads, writes = (
                    widened(o.indexing.over(v, starts, domain), domain) for o, v in ((source, x), (operand, view))
                )
                if disturbed(reads, writes) and not self._is_nothing(x):
                    message = f"reads elements of {view.buffer.name} that it overwrites at another point of its loops"
                    self._interpreter.findings.add(FaultKind.OVERLAP, self._at, message, view.buffer)

    @staticmethod
    def _is_nothing(view: MemRef) -> bool:
        """Whether nobody has written what a view shows: then nothing is lost, and that it is read is a fault of its own."""
        return view.buffer.written is not None and view.inside and not view.bytewise(view.buffer.shadowed()).any()

    # Point by point

    def _by_points(self, frame: Frame, held: Sequence[Any], domain: Sequence[int]) -> None:
        memory, count = self._interpreter.memory, len(self._inputs)
        for point in itertools.product(*map(range, domain)):
            given = [
                None if not o.used else memory.load(x, o.indexing.at(point), self._at) if isinstance(x, MemRef) else x
                for o, x in zip(self._operands, held, strict=True)
            ]
            self._interpreter.counters.append([np.int64(i) for i in point])
            try:
                values = self._body.run(frame, given)
            finally:
                self._interpreter.counters.pop()
            for operand, view, value in zip(self._outputs, held[count:], values, strict=True):
                memory.store(view, operand.indexing.at(point), value, self._at)
