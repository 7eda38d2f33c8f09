"""Where control flow comes together: which values a block argument or a result may be, and which of their sizes are one.

Sizes that come together are symbols with equations. A symbol is what all of its sources are, if that can be assumed of every
symbol at once: the greatest fixed point, as in sparse conditional constant propagation (Wegman and Zadeck, TOPLAS 1991). So a
loop that yields its argument's size has the size that it began with, and one that yields another does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.walking import ops_around
from hotdesk.models.control_flow import CHOICE, branched
from hotdesk.models.facts import Flow
from hotdesk.models.registry import registered_model
from hotdesk.program.records import ENTRY, EXIT
from hotdesk.program.regions import region_edges
from hotdesk.sizes.expressions import replaced
from hotdesk.sizes.size import Size

Sources: TypeAlias = dict[ir.Value, tuple[ir.Value, ...]]
_CHANGES = 2


def sources_of(value: ir.Value) -> Sources:
    """What a value may be, and with a block argument, what those that come with it may be; nothing if that is not known."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _of_arguments(owner)
    found = _of_results(cast(Any, owner).operation)
    return {value: found[value]} if value in found else {}


def settled(equations: Mapping[Any, Sequence[Size]], may_be: Callable[[Any, Size], bool]) -> dict[Any, Size]:
    """The symbols that are other sizes: those that all of their sources are, wherever `may_be` allows it.

    A symbol is given up that does not keep one value, so the passes over all of them are few.
    """
    found: dict[Any, Size | None] = dict.fromkeys(equations)
    changes = dict.fromkeys(equations, 0)
    unsettled = True
    while unsettled:
        unsettled = False
        for symbol, sources in equations.items():
            seen = {size for each in sources if (size := _replaced(each, found)) is not None}
            if not seen or found[symbol] == symbol:
                continue
            (size,) = seen if len(seen) == 1 else (symbol,)
            if size != found[symbol]:
                changes[symbol] += 1
                found[symbol] = size if changes[symbol] <= _CHANGES and may_be(symbol, size) else symbol
                unsettled = True
    return {symbol: size for symbol, size in found.items() if size is not None and size != symbol}


def _replaced(size: Size, values: Mapping[Any, Size | None]) -> Size | None:
    """A size with symbols replaced; None if one of them has no value yet."""
    if not isinstance(size, sympy.Expr):
        return size
    used = {symbol: values[symbol] for symbol in size.free_symbols if symbol in values}
    return None if None in used.values() else replaced(size, cast("Mapping[Any, Size]", used))


def _of_results(op: ir.Operation) -> Sources:
    if op.name == CHOICE:  # no control flow, but one of two values all the same
        return {op.results[0]: (op.operands[1], op.operands[2])}
    model = registered_model(op.name)
    if model is None or model.flow is None:
        return {}
    flow = model.flow(op)
    if flow.shows:
        return {op.results[result]: (op.operands[operand],) for operand, result in model.facts(op).ties}
    return _passed(op, flow, EXIT, op.results)


def _of_arguments(block: ir.Block) -> Sources:
    region = cast(Any, block).region
    op = cast(Any, block.owner).operation
    blocks = list(region.blocks)
    if block != blocks[0]:
        return _of_branches(blocks)
    model = registered_model(op.name)
    if model is None or model.flow is None:
        return {}
    flow, found = model.flow(op), Sources()
    for number, each in enumerate(op.regions):
        if len(each.blocks):
            arguments = list(each.blocks[0].arguments)
            found |= _passed(op, flow, number, arguments)
            found |= {arguments[to]: (op.operands[operand],) for operand, shown, to in flow.shows if shown == number}
    return found


def _passed(op: ir.Operation, flow: Flow, to: int, targets: Sequence[ir.Value]) -> Sources:
    """What each target may be that every way to a region, or to `EXIT`, passes something."""
    filled = [bool(len(region.blocks)) for region in op.regions]
    ways: list[dict[int, ir.Value]] = []
    for edge in region_edges(flow, filled):
        if edge.end == to:
            ends = [list(op.operands)] if edge.start == ENTRY else _ends(op.regions[edge.start])
            ways.extend({at: end[operand] for operand, at in edge.passed if operand < len(end)} for end in ends)
    known = [i for i in range(len(targets)) if ways and all(i in way for way in ways)]
    return {targets[i]: tuple(dict.fromkeys(way[i] for way in ways)) for i in known}


def _of_branches(blocks: Sequence[ir.Block]) -> Sources:
    """The arguments of all blocks of a region but the first, and what branches pass to them; nothing if one is not known."""
    found: dict[ir.Value, list[ir.Value]] = {argument: [] for block in blocks[1:] for argument in block.arguments}
    for block in blocks:
        end = _terminator(block)
        if end is None or not len(end.successors):
            continue
        passed = branched(end)
        arguments = sum(len(successor.arguments) for successor in end.successors)
        if passed is None or len({each[1:] for each in passed}) < arguments:
            return {}
        for operand, successor, argument in passed:
            found[end.successors[successor].arguments[argument]].append(end.operands[operand])
    return {argument: tuple(values) for argument, values in found.items()}


def is_inside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value is defined in a region of an op."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        home = owner.owner.operation
        return home == op or op in ops_around(home)
    return op in ops_around(cast(Any, owner).operation)


def _ends(region: ir.Region) -> list[list[ir.Value]]:
    """The operands of the terminators that leave a region."""
    ends = [_terminator(block) for block in region.blocks]
    return [list(end.operands) for end in ends if end is not None and not len(end.successors)]


def _terminator(block: ir.Block) -> ir.Operation | None:
    operations = cast(Any, block.operations)
    return operations[-1].operation if len(operations) else None
