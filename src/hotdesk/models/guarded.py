"""Models of a user's own, guarded: a mistake in one is an error that names its op, at the op's place, before it does harm.

1. What a function of the model raises, or returns of another kind than it should, or numbers that the op does not have.
2. A result that bufferization gives no memref, or one that does not hold its type; a buffer asked for of what is no tensor.

Facts are not asked of an op without tensors as operands or results, such as the form on buffers of one that has some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError, HotdeskError
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import element_of, is_memref, is_tensor, shape_of
from hotdesk.models.facts import RESULTS, Facts, Flow, MemoryEffects
from hotdesk.models.model import Buffers, OpModel


def guarded(model: OpModel) -> OpModel:
    """The model with its functions guarded; these raise BufferizationError for a mistake in it."""
    return replace(
        model,
        facts=_only_of_tensors(_told(model.facts, "facts", Facts, _check_facts)),
        bufferize=model.bufferize and _watched(model.bufferize),
        flow=model.flow and _told(model.flow, "flow", Flow, _check_flow),
        effects=model.effects and _told(model.effects, "effects", MemoryEffects, _check_effects),
        branches=model.branches and _told(model.branches, "branches", object, _trust),
        runs_on=model.runs_on and _told(model.runs_on, "runs_on", bool, _trust),
        expand=model.expand and _told(model.expand, "expand", object, _trust),
    )


def _only_of_tensors(stated: Callable[[ir.Operation], Facts]) -> Callable[[ir.Operation], Facts]:
    @wraps(stated)
    def facts(op: ir.Operation) -> Facts:
        return stated(op) if any(is_tensor(v.type) for v in (*op.operands, *op.results)) else Facts()

    return facts


def _told(
    stated: Callable[[ir.Operation], Any], part: str, kind: type, check: Callable[[Any, ir.Operation], None]
) -> Callable[[ir.Operation], Any]:
    @wraps(stated)
    def told(op: ir.Operation) -> Any:
        try:
            found = stated(op)
            if not isinstance(found, kind):
                raise _mistake(op, f"`{part}` to return a {kind.__name__}", type(cast(object, found)).__name__)
            check(found, op)
        except HotdeskError:
            raise
        except Exception as error:
            raise _mistake(op, f"`{part}` of this op", f"{type(error).__name__}: {error}") from error
        return found

    return told


def _watched(bufferize: Callable[[ir.Operation, Buffers], object]) -> Callable[[ir.Operation, Buffers], None]:
    @wraps(bufferize)
    def watched(op: ir.Operation, buffers: Buffers) -> None:
        seen = _Watched(op, buffers)
        try:
            bufferize(op, cast(Buffers, seen))
        except HotdeskError:
            raise
        except Exception as error:
            raise _mistake(op, "`bufferize` to make its form on buffers", f"{type(error).__name__}: {error}") from error
        for number, result in enumerate(op.results):
            if is_tensor(result.type) and result not in seen.assigned and number not in buffers.facts.undefined:
                raise _mistake(op, f"`bufferize` to assign a memref to result {number}", "none")

    return watched


class _Watched:
    """What a model asks is passed on, once it has been looked at."""

    def __init__(self, op: ir.Operation, buffers: Buffers) -> None:
        self._op = op
        self._buffers = buffers
        self.assigned: set[ir.Value] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffers, name)

    def buffer(self, value: ir.Value) -> ir.Value:
        if not is_tensor(value.type):
            raise _mistake(self._op, "a tensor whose buffer is asked for", str(value.type))
        return self._buffers.buffer(value)

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        facts = self._buffers.facts
        if operand not in facts.clobbers and all(operand != tied for tied, _ in facts.ties):
            raise _mistake(self._op, "the destination of an operand that `facts` tie to a result", f"operand {operand}")
        return self._buffers.destination(op, operand)

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self.assigned.add(value)
        if not _holds(memref.type, value.type):
            raise _mistake(self._op, f"a memref for {value.type} to be assigned", str(memref.type))
        self._buffers.assign(value, memref)


def _holds(memref: ir.Type, tensor: ir.Type) -> bool:
    if not is_memref(memref) or not is_tensor(tensor) or element_of(memref) != element_of(tensor):
        return False
    made, wanted = shape_of(memref), shape_of(tensor)
    return len(made) == len(wanted) and all(a == b or None in (a, b) for a, b in zip(made, wanted, strict=True))


def _check_facts(facts: Facts, op: ir.Operation) -> None:
    for name in ("reads", "overwrites", "elementwise", "clobbers", "contiguous"):
        _check_numbers(op, name, getattr(facts, name), op.operands)
    for name in ("undefined", "constants", "lent"):
        _check_numbers(op, name, getattr(facts, name), op.results)
    for name in ("ties", "views", "whole_views", "choices"):
        pairs = [(operand, result) for operand, result in getattr(facts, name)]
        _check_tensors(op, name, [operand for operand, _ in pairs], op.operands)
        _check_tensors(op, name, [result for _, result in pairs], op.results)
    tied = {operand for operand, _ in facts.ties}
    if not set(facts.overwrites) <= tied:
        raise _mistake(op, "`overwrites` among the operands in `ties`", str(sorted(set(facts.overwrites) - tied)))


def _check_flow(flow: Flow, op: ir.Operation) -> None:
    regions = op.regions
    for operand, region, argument in (*flow.entries, *flow.shows):
        _check_numbers(op, "entries", [operand], op.operands)
        _check_numbers(op, "entries", [region], regions)
        _check_numbers(op, "entries", [argument], regions[region].blocks[0].arguments)
    for region, _, target, argument in flow.exits:
        _check_numbers(op, "exits", [region] if target == RESULTS else [region, target], regions)
        there = op.results if target == RESULTS else regions[target].blocks[0].arguments
        _check_numbers(op, "exits", [argument], there)
    for operand, result in flow.skips:
        _check_numbers(op, "skips", [operand], op.operands)
        _check_numbers(op, "skips", [result], op.results)
    for pair in flow.follows:
        _check_numbers(op, "follows", pair, regions)


def _check_effects(effects: MemoryEffects, op: ir.Operation) -> None:
    for name in ("reads", "writes", "frees"):
        _check_numbers(op, name, getattr(effects, name), op.operands)
    _check_numbers(op, "allocates", effects.allocates, op.results)


def _trust(found: object, op: ir.Operation) -> None:
    """Nothing to check."""


def _check_numbers(op: ir.Operation, name: str, numbers: Iterable[int], among: Any) -> None:
    outside = [number for number in numbers if not 0 <= number < len(among)]
    if outside:
        raise _mistake(
            op, f"numbers from 0 to {len(among) - 1} in `{name}`" if len(among) else f"no `{name}`", str(outside[0])
        )


def _check_tensors(op: ir.Operation, name: str, numbers: Iterable[int], among: Any) -> None:
    numbers = list(numbers)
    _check_numbers(op, name, numbers, among)
    for number in numbers:
        if not is_tensor(among[number].type):
            raise _mistake(op, f"tensors in `{name}`", f"number {number}, a value of type {among[number].type}")


def _mistake(op: ir.Operation, expected: str, got: str) -> BufferizationError:
    where = python_line(op.location)
    return BufferizationError(
        f"model of `{op.name}`",
        expected=expected,
        got=got,
        where=where,
        hint="docs/models.md says what a model states.",
    )
