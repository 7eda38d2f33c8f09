"""Moves what depends on weights and constants alone into `@prepare`, which runs once.

    func @main(%x, %w {weight}) { %s = rsqrt %w; %r = %x * %s }
      ->
    func @prepare(%w) -> %s { %s = rsqrt %w; return %s }
    func @main(%x, %w, %s {prepared}) { %r = %x * %s }

Moved iff:

1. every tensor the op reads is a weight, a constant, or moved itself;
2. it has no effect but its results (index assertions move with it and are checked once), which a foreign call that keeps
   something beside them has;
3. no size of its results is one that only a run knows: what is passed on has a place of its own as long as the program lives.

A value used by what stays is passed as a `prepared` argument unless the op that makes it enlarges its operands (a broadcast of a
bias, a fill, a `linalg.map`): then the op is copied back into `@main`, where fusion absorbs it, and its operands are passed
instead. So `@prepare` never trades a small weight for a large buffer.

A value for which `max-kept-in-bytes` leaves no room is computed in each call, too, and its operands are passed as far as they
have room; the smallest values have it first, and those whose bytes are not known here have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.graphs import reached
from hotdesk.ir.argument_sizes import Stating
from hotdesk.ir.building import clone_with
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.signature import Formal, FunctionSignature, formals, new_function, set_signature, signature
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import (
    defined_functions,
    defining_op,
    entry_block,
    made_by,
    symbol_name,
    top_level_ops,
    values_read,
)
from hotdesk.models.generics import GENERIC
from hotdesk.models.hotdesk import KEEPS
from hotdesk.models.linalg import BROADCAST, FILL
from hotdesk.models.purity import is_computation
from hotdesk.models.tensor import EMPTY, KEEPS_NOTHING, VIEWS
from hotdesk.passes.base import Pass
from hotdesk.passes.properties import PREPARED_FROM_WEIGHTS, Property
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import is_opaque


@dataclass(frozen=True, slots=True)
class SplitPrepare(Pass):
    """Splits `@main` into `@prepare` (weights alone) and `@main` (the rest); no `@prepare` when there is nothing to move.

    Options:
        max_kept_in_bytes: how many bytes what is passed on may take together; -1 for any number.
    """

    name: ClassVar[str] = "hotdesk-split-prepare"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.WEIGHT_ONLY, Reason.PREPARED_TOO_LARGE)
    max_kept_in_bytes: int = -1

    def __post_init__(self) -> None:
        if self.max_kept_in_bytes < -1:
            raise OptionError(
                f"option 'max-kept-in-bytes' of '{self.name}'", expected="-1 or more", got=str(self.max_kept_in_bytes)
            )

    def ensures(self) -> tuple[Property, ...]:
        return (PREPARED_FROM_WEIGHTS,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        main = next((f for f in defined_functions(module) if symbol_name(f) == "main"), None)
        if main is None:
            return ()
        sizes = SymbolicSizes(main)
        movable = _movable(main, sizes)
        frontier = _frontier(main, movable, self.max_kept_in_bytes)
        decisions = tuple(_decision(value, value in frontier.passed) for value in frontier.found)
        if frontier.passed:
            _emit_prepare(main, frontier.passed)
            _take_as_arguments(main, frontier.passed, sizes)
        return decisions


def _decision(value: ir.Value, passed: bool) -> Decision:
    op = cast(ir.Operation, defining_op(value))
    outcome, reason = Outcome.PREPARED, Reason.WEIGHT_ONLY
    if not passed:
        outcome, reason = Outcome.NOT_PREPARED, Reason.PREPARED_TOO_LARGE
    return Decision(f"prepared {value.type}", outcome, reason, (source_in_model(op),), _bytes(value.type) or 0)


def _movable(main: ir.Operation, sizes: SymbolicSizes) -> dict[ir.Value, ir.Operation]:
    """Results that depend on weights and constants alone, with the op that makes them."""
    kinds = argument_kinds(main)
    known: set[ir.Value] = {
        argument for argument, kind in zip(entry_block(main).arguments, kinds, strict=True) if kind == "weight"
    }
    movable: dict[ir.Value, ir.Operation] = {}
    for op in top_level_ops(main):
        if not is_computation(op) or KEEPS in op.attributes:
            continue
        if any(is_opaque(size) for result in op.results if is_tensor(result.type) for size in sizes.shape(result)):
            continue
        if all(value in known for value in values_read(op)):
            known.update(op.results)
            movable.update(dict.fromkeys(op.results, op))
    return movable


def argument_kinds(function: ir.Operation) -> list[str]:
    """`weight`, `state`, `input` or `prepared` for each argument; `input` where nothing is said."""
    return [each.kind or "input" for each in signature(function).arguments]


def _bytes(value_type: ir.Type) -> int | None:
    if not is_tensor(value_type):
        return 8
    total = element_bytes(element_of(value_type))
    for size in shape_of(value_type):
        if size is None:
            return None
        total *= size
    return total


def _enlarges(op: ir.Operation, value: ir.Value) -> bool:
    """Whether making the value again in `@main` is cheaper than keeping it: it has more bytes than what it is made from."""
    if op.name in VIEWS or op.name in KEEPS_NOTHING or not is_tensor(value.type):
        return True
    if op.name not in (GENERIC, FILL, BROADCAST, "linalg.map"):
        return False
    size = _bytes(value.type)
    inputs = [v for v in values_read(op) if is_tensor(v.type) and made_by(v, EMPTY) is None]
    sources = sum(_bytes(v.type) or 0 for v in inputs)
    return size is None or size > sources


@dataclass(frozen=True, slots=True)
class _Frontier:
    """Movable values that what stays in `@main` uses, in program order.

    Attributes:
        passed: those that are passed to it.
        found: these, and those that would be if there were room.
    """

    passed: tuple[ir.Value, ...]
    found: tuple[ir.Value, ...]


def _frontier(main: ir.Operation, movable: dict[ir.Value, ir.Operation], limit: int) -> _Frontier:
    """Movable values used by what stays, or by an op that stays with its user: one that enlarges, or has no room in the limit."""
    moving = OpSet(movable.values())
    enlarging = {value for value, op in movable.items() if _enlarges(op, value)}
    order = OpMap((op, i) for i, op in enumerate(top_level_ops(main)))
    place = {value: (order[op], cast(int, cast(Any, value).result_number)) for value, op in movable.items()}
    known: set[ir.Value] = set()

    def used(op: ir.Operation) -> list[ir.Value]:
        return [value for value in values_read(op) if value in movable and value not in known]

    def needed(ops: Iterable[ir.Operation]) -> list[ir.Value]:
        """What ops use that does not enlarge, as far as it is new."""
        values = reached((v for op in ops for v in used(op)), lambda v: used(movable[v]) if v in enlarging else [])
        known.update(values)
        return [value for value in values if value not in enlarging]

    def entry(value: ir.Value) -> tuple[float, tuple[int, int], ir.Value]:
        size = _bytes(value.type)
        return inf if size is None else size, place[value], value

    found = needed(op for op in order if op not in moving)
    passed: list[ir.Value] = []
    room = inf if limit < 0 else limit
    smallest_first = [entry(value) for value in found]
    heapify(smallest_first)
    while smallest_first:
        size, _, value = heappop(smallest_first)
        if size <= room:
            passed.append(value)
            room -= size
            continue
        for operand in needed([movable[value]]):
            heappush(smallest_first, entry(operand))
    return _Frontier(*(tuple(sorted(each, key=place.__getitem__)) for each in (set(passed), {*found, *passed})))


def _emit_prepare(main: ir.Operation, frontier: Sequence[ir.Value]) -> None:
    """Clones the slice behind the frontier into `func @prepare`, whose arguments are `@main`'s weights, all of them."""
    arguments = list(entry_block(main).arguments)
    kinds = argument_kinds(main)
    weights = [a for a, kind in zip(arguments, kinds, strict=True) if kind == "weight"]
    known = signature(main).arguments
    slice_ops = _backward_slice(frontier)
    takes = tuple(known[cast(int, cast(Any, weight).arg_number)] for weight in weights)
    given = FunctionSignature(takes, formals(value.type for value in frontier))
    _, block = new_function("prepare", given, ir.InsertionPoint(main), main.location)
    mapping: dict[ir.Value, ir.Value] = dict(zip(weights, block.arguments, strict=True))
    point = ir.InsertionPoint(block)
    for op in top_level_ops(main):
        if op in slice_ops:
            clone_with(op, mapping, point)
    with point, main.location:
        ir.Operation.create("func.return", operands=[mapping[v] for v in frontier])


def _backward_slice(values: Sequence[ir.Value]) -> OpSet:
    found = reached(values, lambda value: [] if (op := defining_op(value)) is None else values_read(op))
    return OpSet(op for value in found if (op := defining_op(value)) is not None)


def _take_as_arguments(main: ir.Operation, frontier: Sequence[ir.Value], sizes: SymbolicSizes) -> None:
    block = entry_block(main)
    added: list[Formal] = []
    stating = Stating()
    shapes = [sizes.shape(value) if is_tensor(value.type) else () for value in frontier]
    for value, shape in zip(frontier, shapes, strict=True):
        argument = block.add_argument(value.type, value.location)
        value.replace_all_uses_with(argument)
        is_open = is_tensor(value.type) and None in shape_of(value.type)
        said = stating.of(argument.arg_number, shape) if is_open else None
        added.append(Formal(value.type).stating(kind="prepared", shape=said))
    set_signature(main, signature(main).with_arguments(added))
