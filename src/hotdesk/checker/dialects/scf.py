"""`scf`: branches and loops.

Iterations of `scf.parallel` and `scf.forall` run in order, although a program may not count on it: what they could get wrong
when they run at once is a race (`races`). What a body puts on the stack is gone after each iteration of `scf.for`, `scf.parallel`
and `scf.forall`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.interpreter import (
    Frame,
    Implementation,
    Interpreter,
    OpReader,
    Region,
    Step,
    Terminator,
    give,
    leave,
)
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Value, dtype_of
from hotdesk.explain import Source
from hotdesk.models.new_memory import ALLOCA


def _for(reader: OpReader) -> Step:
    low, high, stride, *initial = reader.operands
    interpreter, at, body, results = reader.interpreter, reader.at, reader.region(0), reader.results
    kind = dtype_of(reader.operand_type(0)).type
    has_stack, unsigned = _allocates_on_stack(reader), reader.has("unsignedCmp")
    for sources in (initial, *body.passed):
        reader.function.join(sources, body.arguments[1:])
        reader.function.join(sources, results)

    def step(frame: Frame) -> None:
        start, end, stride_by = (int(interpreter.defined(frame[slot], at)) for slot in (low, high, stride))
        if stride_by <= 0:
            interpreter.findings.stop(FaultKind.ARITHMETIC, at, f"a loop steps by {stride_by}")
        if unsigned:
            bits = 8 * kind(0).dtype.itemsize
            start, end = start % (1 << bits), end % (1 << bits)
        carried: list[Value] = [frame[slot] for slot in initial]
        for i in range(start, end, stride_by):
            given = [kind(i), *carried]
            carried = _iteration(interpreter, body, frame, given, at, has_stack)
        give(frame, results, carried)

    return step


def _iteration(
    interpreter: Interpreter, body: Region, frame: Frame, given: Sequence[Value], at: Source, has_stack: bool
) -> list[Value]:
    if has_stack:
        return interpreter.scoped(lambda: body.run(frame, given), at)
    return body.run(frame, given)


def _allocates_on_stack(reader: OpReader) -> bool:
    def inside(op: ir.Operation) -> bool:
        return any(
            each.operation.name == ALLOCA or inside(each.operation)
            for region in op.regions
            for block in region.blocks
            for each in block.operations
        )

    return inside(reader.op)


def _while(reader: OpReader) -> Step:
    operands, results, interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    before, after = reader.regions()
    for sources in (operands, *after.passed):
        reader.function.join(sources, before.arguments)
    for _, *sources in before.passed:
        reader.function.join(sources, after.arguments)
        reader.function.join(sources, results)

    def step(frame: Frame) -> None:
        carried: list[Value] = [frame[slot] for slot in operands]
        while True:
            goes_on, *passed = before.run(frame, carried)
            if not interpreter.defined(goes_on, at):
                break
            carried = after.run(frame, passed)
        give(frame, results, passed)

    return step


def _if(reader: OpReader) -> Step:
    (condition,), results, interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    then, otherwise = reader.regions()
    join_results(reader, (then, otherwise))

    def step(frame: Frame) -> None:
        region = then if interpreter.defined(frame[condition], at) else otherwise
        give(frame, results, region.run(frame))

    return step


def _index_switch(reader: OpReader) -> Step:
    (flag,), results, interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    default, *regions = reader.regions()
    cases = dict(zip(reader.integers("cases"), regions, strict=True))
    join_results(reader, (default, *regions))

    def step(frame: Frame) -> None:
        region = cases.get(int(interpreter.defined(frame[flag], at)), default)
        give(frame, results, region.run(frame))

    return step


def execute(reader: OpReader) -> Step:
    body, results = reader.region(0), reader.results
    join_results(reader, (body,))

    def step(frame: Frame) -> None:
        give(frame, results, body.run(frame))

    return step


def _parallel(reader: OpReader) -> Step:
    lows, highs, steps, initial = reader.groups()
    interpreter, at, body, results = reader.interpreter, reader.at, reader.region(0), reader.results
    last = [op.operation for op in reader.op.regions[0].blocks[0].operations][-1]
    combiners = [reader.function.region(region) for region in last.regions]
    has_stack = _allocates_on_stack(reader)

    def step(frame: Frame) -> None:
        bounds = [
            tuple(int(interpreter.defined(frame[slot], at)) for slot in group)
            for group in zip(lows, highs, steps, strict=True)
        ]
        if any(stride <= 0 for _, _, stride in bounds):
            interpreter.findings.stop(FaultKind.ARITHMETIC, at, "a loop steps by less than 1")
        totals: list[Value] = [frame[slot] for slot in initial]

        def iteration(point: tuple[int, ...]) -> list[Value]:
            news = body.run(frame, [np.int64(i) for i in point])
            pairs = zip(combiners, totals, news, strict=True)
            return [combine.run(frame, [old, new])[0] for combine, old, new in pairs]

        with interpreter.memory.team(at) as team:
            for team.iteration, point in enumerate(itertools.product(*(range(*bound) for bound in bounds)), 1):
                totals = interpreter.scoped(lambda point=point: iteration(point), at) if has_stack else iteration(point)
        give(frame, results, totals)

    return step


def _forall(reader: OpReader) -> Step:
    lows, highs, steps, outputs = reader.groups()
    lows_of, highs_of = reader.mixed("staticLowerBound", lows), reader.mixed("staticUpperBound", highs)
    steps_of, interpreter, at, body = reader.mixed("staticStep", steps), reader.interpreter, reader.at, reader.region(0)
    has_stack = _allocates_on_stack(reader)

    def step(frame: Frame) -> None:
        bounds = list(zip(lows_of(frame), highs_of(frame), steps_of(frame), strict=True))
        if any(stride <= 0 for _, _, stride in bounds):
            interpreter.findings.stop(FaultKind.ARITHMETIC, at, "a loop steps by less than 1")
        shared = [frame[slot] for slot in outputs]
        with interpreter.memory.team(at) as team:
            for team.iteration, point in enumerate(itertools.product(*(range(*bound) for bound in bounds)), 1):
                given = [*(np.int64(i) for i in point), *shared]
                _iteration(interpreter, body, frame, given, at, has_stack)

    return step


def join_results(reader: OpReader, regions: Sequence[Region]) -> None:
    """The results are what one of the regions passes on."""
    for region in regions:
        for sources in region.passed:
            reader.function.join(sources, reader.results)


OPS: dict[str, Implementation] = {
    "scf.execute_region": execute,
    "scf.for": _for,
    "scf.forall": _forall,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.parallel": _parallel,
    "scf.while": _while,
}
TERMINATORS: dict[str, Terminator] = dict.fromkeys(
    ("scf.condition", "scf.forall.in_parallel", "scf.reduce", "scf.reduce.return", "scf.yield"), leave
)
