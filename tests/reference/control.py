"""`scf`, `func` and `cf.assert`: what runs regions and functions. Branches between blocks are the interpreter's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.interpreter import Interpreter, Meaning
from tests.reference.values import Operation, Values, inserted, mixed, segments, slices


def _for(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    low, high, step, *carried = operands
    assert step > 0, "a step that is not positive"
    for i in range(int(low), int(high), int(step)):
        carried = machine.yielded(op.regions[0], [type(low)(i), *carried], values)
    return carried


def _while(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    before, after = op.regions
    while True:
        goes_on, *passed = machine.yielded(before, operands, values)
        if not goes_on:
            return passed
        operands = machine.yielded(after, passed, values)


def _if(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    region = op.regions[0 if operands[0] else 1]
    return machine.yielded(region, [], values) if len(region.blocks) else []


def _index_switch(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    cases = [int(c) for c in op.attributes["cases"]]
    number = cases.index(int(operands[0])) + 1 if int(operands[0]) in cases else 0
    return machine.yielded(op.regions[number], [], values)


def _execute(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return machine.yielded(op.regions[0], [], values)


def _forall(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """Every thread sees the shared outputs as they were before; what it inserts shows afterwards."""
    lows, highs, steps, outs = _groups(operands, segments(op))
    bounds = [
        mixed(op.attributes[n], x)
        for n, x in (("staticLowerBound", lows), ("staticUpperBound", highs), ("staticStep", steps))
    ]
    results = list(outs)
    for point in itertools.product(*(range(*bound) for bound in zip(*bounds, strict=True))):
        end = machine.region(op.regions[0], [*(np.int64(p) for p in point), *outs], values)
        threads = op.regions[0].blocks[0].arguments[len(point) :]
        for view in end.op.regions[0].blocks[0].operations:
            insertion = view.operation
            assert insertion.name == "tensor.parallel_insert_slice", f"{insertion.name} has no meaning here"
            given = [end.values[v] for v in insertion.operands]
            number = list(threads).index(insertion.operands[1])
            into = machine.read(results[number])
            results[number] = inserted(machine.read(given[0]), into, slices(insertion, given, 2, into.shape))
    return results


def _parallel(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """In order, although a program may not count on it."""
    *bounds, results = _groups(operands, segments(op))
    for point in itertools.product(*(range(*(int(b) for b in bound)) for bound in zip(*bounds, strict=True))):
        end = machine.region(op.regions[0], [np.int64(p) for p in point], values)
        results = [
            machine.yielded(region, [old, new], end.values)[0]
            for region, old, new in zip(end.op.regions, results, end.operands, strict=True)
        ]
    return results


def _groups(operands: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    rest = iter(operands)
    return [list(itertools.islice(rest, count)) for count in counts]


def _call(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    module = op.parent
    while module.name != "builtin.module":
        module = module.parent
    name = op.attributes["callee"].value
    views = (view.operation for view in module.regions[0].blocks[0].operations)
    callee = next(f for f in views if f.name == "func.func" and f.attributes["sym_name"].value == name)
    return machine.yielded(callee.regions[0], operands, {})


def _assert(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    assert operands[0], op.attributes["msg"]
    return []


MEANINGS: dict[str, Meaning] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.execute_region": _execute,
    "shape.assuming": _execute,
    "scf.forall": _forall,
    "scf.parallel": _parallel,
    "func.call": _call,
    "cf.assert": _assert,
}
PASSING = frozenset(MEANINGS)
"""They do not read their tensors."""
