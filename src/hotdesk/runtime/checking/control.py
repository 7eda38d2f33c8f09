"""`scf`, `func` and assumptions of `shape`: what runs regions and functions.

Iterations of `scf.parallel` and `scf.forall` run in order, although a program may not count on it: what they could get wrong
when they run at once is a race (`races`). What a body puts on the stack is gone after each iteration of `scf.for`, `scf.parallel`
and `scf.forall`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from hotdesk._bindings import ir
from hotdesk.explain import Source
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Region, Step
from hotdesk.runtime.checking.elements import Value, dtype_of
from hotdesk.runtime.checking.machine import Machine
from hotdesk.runtime.checking.report import FaultKind


def _for(reading: Reading) -> Step:
    low, high, stride, *initial = reading.operands
    machine, at, body, results = reading.machine, reading.at, reading.region(0), reading.results
    kind = dtype_of(reading.operand_type(0)).type
    has_stack, unsigned = _allocates_on_stack(reading), reading.has("unsignedCmp")
    for sources in (initial, *body.passed):
        reading.code.join(sources, body.arguments[1:])
        reading.code.join(sources, results)

    def step(frame: Frame) -> None:
        start, end, stride_by = (int(machine.defined(frame[slot], at)) for slot in (low, high, stride))
        if stride_by <= 0:
            machine.findings.stop(FaultKind.ARITHMETIC, at, f"a loop steps by {stride_by}")
        if unsigned:
            bits = 8 * kind(0).dtype.itemsize
            start, end = start % (1 << bits), end % (1 << bits)
        carried: list[Value] = [frame[slot] for slot in initial]
        for i in range(start, end, stride_by):
            given = [kind(i), *carried]
            carried = _iteration(machine, body, frame, given, at, has_stack)
        _give(frame, results, carried)

    return step


def _iteration(
    machine: Machine, body: Region, frame: Frame, given: Sequence[Value], at: Source, has_stack: bool
) -> list[Value]:
    if has_stack:
        return machine.scoped(lambda: body.run(frame, given), at)
    return body.run(frame, given)


def _allocates_on_stack(reading: Reading) -> bool:
    def inside(op: ir.Operation) -> bool:
        return any(
            each.operation.name == "memref.alloca" or inside(each.operation)
            for region in op.regions
            for block in region.blocks
            for each in block.operations
        )

    return inside(reading.op)


def _while(reading: Reading) -> Step:
    operands, results, machine, at = reading.operands, reading.results, reading.machine, reading.at
    before, after = reading.regions()
    for sources in (operands, *after.passed):
        reading.code.join(sources, before.arguments)
    for _, *sources in before.passed:
        reading.code.join(sources, after.arguments)
        reading.code.join(sources, results)

    def step(frame: Frame) -> None:
        carried: list[Value] = [frame[slot] for slot in operands]
        while True:
            goes_on, *passed = before.run(frame, carried)
            if not machine.defined(goes_on, at):
                break
            carried = after.run(frame, passed)
        _give(frame, results, passed)

    return step


def _if(reading: Reading) -> Step:
    (condition,), results, machine, at = reading.operands, reading.results, reading.machine, reading.at
    then, otherwise = reading.regions()
    _join(reading, (then, otherwise))

    def step(frame: Frame) -> None:
        region = then if machine.defined(frame[condition], at) else otherwise
        _give(frame, results, region.run(frame))

    return step


def _index_switch(reading: Reading) -> Step:
    (flag,), results, machine, at = reading.operands, reading.results, reading.machine, reading.at
    default, *regions = reading.regions()
    cases = dict(zip(reading.integers("cases"), regions, strict=True))
    _join(reading, (default, *regions))

    def step(frame: Frame) -> None:
        region = cases.get(int(machine.defined(frame[flag], at)), default)
        _give(frame, results, region.run(frame))

    return step


def _execute(reading: Reading) -> Step:
    body, results = reading.region(0), reading.results
    _join(reading, (body,))

    def step(frame: Frame) -> None:
        _give(frame, results, body.run(frame))

    return step


def _witness(reading: Reading) -> Step:
    """That an assumption holds. The region of one that does not has no meaning."""
    machine, at, (result,) = reading.machine, reading.at, reading.results
    holds = bool(reading.attribute("passing").value)

    def step(frame: Frame) -> None:
        if not holds:
            machine.findings.stop(FaultKind.ASSERTION, at, "an assumption does not hold")
        frame[result] = np.bool_(True)

    return step


def _parallel(reading: Reading) -> Step:
    lows, highs, steps, initial = reading.groups()
    machine, at, body, results = reading.machine, reading.at, reading.region(0), reading.results
    last = [op.operation for op in reading.op.regions[0].blocks[0].operations][-1]
    combiners = [reading.code.region(region) for region in last.regions]
    has_stack = _allocates_on_stack(reading)

    def step(frame: Frame) -> None:
        bounds = [
            tuple(int(machine.defined(frame[slot], at)) for slot in group)
            for group in zip(lows, highs, steps, strict=True)
        ]
        if any(stride <= 0 for _, _, stride in bounds):
            machine.findings.stop(FaultKind.ARITHMETIC, at, "a loop steps by less than 1")
        totals: list[Value] = [frame[slot] for slot in initial]

        def iteration(point: tuple[int, ...]) -> list[Value]:
            news = body.run(frame, [np.int64(i) for i in point])
            pairs = zip(combiners, totals, news, strict=True)
            return [combine.run(frame, [old, new])[0] for combine, old, new in pairs]

        with machine.memory.team(at) as team:
            for team.iteration, point in enumerate(itertools.product(*(range(*bound) for bound in bounds)), 1):
                totals = machine.scoped(lambda point=point: iteration(point), at) if has_stack else iteration(point)
        _give(frame, results, totals)

    return step


def _forall(reading: Reading) -> Step:
    lows, highs, steps, outputs = reading.groups()
    lows_of, highs_of = reading.mixed("staticLowerBound", lows), reading.mixed("staticUpperBound", highs)
    steps_of, machine, at, body = reading.mixed("staticStep", steps), reading.machine, reading.at, reading.region(0)
    has_stack = _allocates_on_stack(reading)

    def step(frame: Frame) -> None:
        bounds = list(zip(lows_of(frame), highs_of(frame), steps_of(frame), strict=True))
        if any(stride <= 0 for _, _, stride in bounds):
            machine.findings.stop(FaultKind.ARITHMETIC, at, "a loop steps by less than 1")
        shared = [frame[slot] for slot in outputs]
        with machine.memory.team(at) as team:
            for team.iteration, point in enumerate(itertools.product(*(range(*bound) for bound in bounds)), 1):
                given = [*(np.int64(i) for i in point), *shared]
                _iteration(machine, body, frame, given, at, has_stack)

    return step


def _call(reading: Reading) -> Step:
    callee, operands, results = str(reading.attribute("callee").value), reading.operands, reading.results
    machine, at = reading.machine, reading.at

    def step(frame: Frame) -> None:
        _give(frame, results, machine.call(callee, [frame[slot] for slot in operands], at))

    return step


def _join(reading: Reading, regions: Sequence[Region]) -> None:
    """The results are what one of the regions passes on."""
    for region in regions:
        for sources in region.passed:
            reading.code.join(sources, reading.results)


def _give(frame: Frame, slots: Sequence[int], values: Sequence[Value]) -> None:
    for slot, value in zip(slots, values, strict=True):
        frame[slot] = value


MEANINGS: dict[str, Meaning] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.execute_region": _execute,
    "shape.assuming": _execute,
    "shape.const_witness": _witness,
    "scf.parallel": _parallel,
    "scf.forall": _forall,
    "func.call": _call,
}
