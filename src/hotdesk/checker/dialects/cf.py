"""`cf`: branches between the blocks of a region, and assertions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hotdesk.checker.attributes import integers, split
from hotdesk.checker.interpreter import End, Frame, Implementation, OpReader, Step, Terminator
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Value


def _branch(reader: OpReader, targets: Sequence[int]) -> End:
    slots, (target,) = reader.operands, targets
    _join(reader, [slots])
    return lambda frame: (target, [frame[slot] for slot in slots])


def _conditional(reader: OpReader, targets: Sequence[int]) -> End:
    (condition,), *given = reader.groups()
    interpreter, at = reader.interpreter, reader.at
    _join(reader, given)

    def end(frame: Frame) -> tuple[int, list[Value]]:
        way = 0 if interpreter.defined(frame[condition], at) else 1
        return targets[way], [frame[slot] for slot in given[way]]

    return end


def _switch(reader: OpReader, targets: Sequence[int]) -> End:
    (flag,), default, _ = reader.groups()
    counts = integers(reader.attribute("case_operand_segments"))
    given = [default, *split(reader.operands[1 + len(default) :], counts)]
    cases = {int(v): i + 1 for i, v in enumerate(reader.integers("case_values"))} if reader.has("case_values") else {}
    interpreter, at = reader.interpreter, reader.at
    _join(reader, given)

    def end(frame: Frame) -> tuple[int, list[Value]]:
        way = cases.get(int(interpreter.defined(frame[flag], at)), 0)
        return targets[way], [frame[slot] for slot in given[way]]

    return end


def _join(reader: OpReader, given: Sequence[Sequence[int]]) -> None:
    for sources, block in zip(given, reader.op.successors, strict=True):
        reader.function.join(sources, [reader.function.slot(argument) for argument in block.arguments])


def _assert(reader: OpReader) -> Step:
    (condition,), interpreter, at = reader.operands, reader.interpreter, reader.at
    message = str(reader.attribute("msg").value)

    def step(frame: Frame) -> None:
        if not np.all(interpreter.defined(frame[condition], at)):
            interpreter.findings.stop(FaultKind.ASSERTION, at, message)

    return step


OPS: dict[str, Implementation] = {"cf.assert": _assert}
TERMINATORS: dict[str, Terminator] = {"cf.br": _branch, "cf.cond_br": _conditional, "cf.switch": _switch}
