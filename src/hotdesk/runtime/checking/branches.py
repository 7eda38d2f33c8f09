"""`cf`: branches between the blocks of a region, and assertions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hotdesk.runtime.checking.attributes import integers, split
from hotdesk.runtime.checking.code import End, Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import Value
from hotdesk.runtime.checking.report import FaultKind


def _branch(reading: Reading, targets: Sequence[int]) -> End:
    slots, (target,) = reading.operands, targets
    _join(reading, [slots])
    return lambda frame: (target, [frame[slot] for slot in slots])


def _conditional(reading: Reading, targets: Sequence[int]) -> End:
    (condition,), *given = reading.groups()
    machine, at = reading.machine, reading.at
    _join(reading, given)

    def end(frame: Frame) -> tuple[int, list[Value]]:
        way = 0 if machine.defined(frame[condition], at) else 1
        return targets[way], [frame[slot] for slot in given[way]]

    return end


def _switch(reading: Reading, targets: Sequence[int]) -> End:
    (flag,), default, _ = reading.groups()
    counts = integers(reading.attribute("case_operand_segments"))
    given = [default, *split(reading.operands[1 + len(default) :], counts)]
    cases = {int(v): i + 1 for i, v in enumerate(reading.integers("case_values"))} if reading.has("case_values") else {}
    machine, at = reading.machine, reading.at
    _join(reading, given)

    def end(frame: Frame) -> tuple[int, list[Value]]:
        way = cases.get(int(machine.defined(frame[flag], at)), 0)
        return targets[way], [frame[slot] for slot in given[way]]

    return end


def _join(reading: Reading, given: Sequence[Sequence[int]]) -> None:
    for sources, block in zip(given, reading.op.successors, strict=True):
        reading.code.join(sources, [reading.code.slot(argument) for argument in block.arguments])


def _assert(reading: Reading) -> Step:
    (condition,), machine, at = reading.operands, reading.machine, reading.at
    message = str(reading.attribute("msg").value)

    def step(frame: Frame) -> None:
        if not np.all(machine.defined(frame[condition], at)):
            machine.findings.stop(FaultKind.ASSERTION, at, message)

    return step


BRANCHES: dict[str, Callable[[Reading, Sequence[int]], End]] = {
    "cf.br": _branch,
    "cf.cond_br": _conditional,
    "cf.switch": _switch,
}
MEANINGS: dict[str, Meaning] = {"cf.assert": _assert}
