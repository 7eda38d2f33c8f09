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
from hotdesk.ir.sizes import Size, integer
from hotdesk.ir.walking import int_array, segment_sizes

Sources: TypeAlias = "dict[ir.Value, tuple[ir.Value, ...]]"
_CHOOSING = ("scf.if", "scf.index_switch", "scf.execute_region", "shape.assuming")
_ENDS = ("scf.yield", "scf.condition", "shape.assuming_yield")
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


def replaced(size: Size, values: Mapping[Any, Size]) -> Size:
    """A size with some of its symbols replaced."""
    if not isinstance(size, sympy.Expr) or not any(symbol in values for symbol in size.free_symbols):
        return size
    return integer(cast(Any, size).xreplace(dict(values)))


def _replaced(size: Size, values: Mapping[Any, Size | None]) -> Size | None:
    """A size with symbols replaced; None if one of them has no value yet."""
    if not isinstance(size, sympy.Expr):
        return size
    used = {symbol: values[symbol] for symbol in size.free_symbols if symbol in values}
    return None if None in used.values() else replaced(size, cast("Mapping[Any, Size]", used))


def _of_results(op: ir.Operation) -> Sources:
    results, operands = list(op.results), list(op.operands)
    count = len(results)
    if op.name == "arith.select":
        return {results[0]: (operands[1], operands[2])}
    if op.name == "scf.for":
        ends = _ends(op.regions[0])
        return {result: (operands[3 + i], *(end[i] for end in ends)) for i, result in enumerate(results)}
    if op.name == "scf.while":
        return {result: tuple(end[1 + i] for end in _ends(op.regions[0])) for i, result in enumerate(results)}
    if op.name == "scf.forall":
        return {result: (operands[len(operands) - count + i],) for i, result in enumerate(results)}
    if op.name in _CHOOSING:
        ends = [end for region in op.regions for end in _ends(region)]
        return {result: tuple(end[i] for end in ends) for i, result in enumerate(results)} if ends else {}
    return {}


def _of_arguments(block: ir.Block) -> Sources:
    region = cast(Any, block).region
    op = cast(Any, block.owner).operation
    blocks = list(region.blocks)
    if block != blocks[0]:
        return _of_branches(blocks)
    operands = list(op.operands)
    arguments = list(block.arguments)
    if op.name == "scf.for":
        ends = _ends(region)
        return {argument: (operands[3 + i], *(end[i] for end in ends)) for i, argument in enumerate(arguments[1:])}
    if op.name == "scf.while":
        before, after = (list(each.blocks[0].arguments) for each in op.regions)
        conditions, ends = _ends(op.regions[0]), _ends(op.regions[1])
        return {
            **{argument: (operands[i], *(end[i] for end in ends)) for i, argument in enumerate(before)},
            **{argument: tuple(end[1 + i] for end in conditions) for i, argument in enumerate(after)},
        }
    if op.name == "scf.forall":
        count = len(op.results)
        shared = zip(arguments[len(arguments) - count :], operands[len(operands) - count :], strict=True)
        return {argument: (operand,) for argument, operand in shared}
    return {}


def _of_branches(blocks: Sequence[ir.Block]) -> Sources:
    """The arguments of all blocks of a region but the first, and what branches pass to them; nothing if one is not known."""
    found: dict[ir.Value, list[ir.Value]] = {argument: [] for block in blocks[1:] for argument in block.arguments}
    for block in blocks:
        end = _terminator(block)
        if end is None or not len(end.successors):
            continue
        passed = branch_operands(end)
        if passed is None:
            return {}
        for successor, values in zip(end.successors, passed, strict=True):
            for argument, value in zip(successor.arguments, values, strict=True):
                found[argument].append(value)
    return {argument: tuple(values) for argument, values in found.items()}


def branch_operands(op: ir.Operation) -> list[list[ir.Value]] | None:
    """What a branch passes to each of its successors; None for an op that is no branch of `cf`."""
    operands = list(op.operands)
    match op.name:
        case "cf.br":
            return [operands]
        case "cf.cond_br":
            counts = segment_sizes(op)[1:]
        case "cf.switch":
            counts = (segment_sizes(op)[1], *int_array(op.attributes["case_operand_segments"]))
        case _:
            return None
    passed: list[list[ir.Value]] = []
    first = 1
    for count in counts:
        passed.append(operands[first : first + count])
        first += count
    return passed


def is_inside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value is defined in a region of an op."""
    owner = value.owner
    around = owner.owner.operation if isinstance(owner, ir.Block) else cast(Any, owner).operation.parent
    while around is not None:
        if around == op:
            return True
        around = around.operation.parent
    return False


def _ends(region: ir.Region) -> list[list[ir.Value]]:
    """The operands of the terminators that leave a region with values."""
    ends = [_terminator(block) for block in region.blocks]
    return [list(end.operands) for end in ends if end is not None and end.name in _ENDS]


def _terminator(block: ir.Block) -> ir.Operation | None:
    operations = cast(Any, block.operations)
    return operations[-1].operation if len(operations) else None
