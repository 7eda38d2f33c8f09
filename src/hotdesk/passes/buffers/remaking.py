"""Ops made anew with more operands and results, functions with more results, and arithmetic on `i1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import constant, create, remade
from hotdesk.ir.functions import call_attributes
from hotdesk.ir.signature import formals, set_signature, signature
from hotdesk.ir.walking import is_constant


def widened(old: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]) -> ir.Operation:
    """The same op in front of the old one, which stays without its regions, with more operands and results."""
    attributes = call_attributes(
        old,
        [number if number < len(old.operands) else None for number in range(len(operands))],
        [number if number < len(old.results) else None for number in range(len(types))],
    )
    return remade(old, operands, types, attributes)


def widen_signature(function: ir.Operation, flags: int) -> None:
    """Gives the type of a function so many more results of type `i1`."""
    known = signature(function)
    set_signature(function, replace(known, results=(*known.results, *formals([bit_type()] * flags))))


def bit_type() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def bit(value: bool, before: ir.Operation) -> ir.Value:
    return constant(int(value), bit_type(), before)


def joined(how: str, flags: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """All flags in one, by `arith.andi` or `arith.ori`."""
    found = flags[0]
    for flag in flags[1:]:
        found = create(how, [found, flag], [bit_type()], before=before).results[0]
    return found


def is_false(flag: ir.Value) -> bool:
    owner = flag.owner
    if isinstance(owner, ir.Block):
        return False
    op = cast(Any, owner).operation
    return is_constant(op) and not bool(op.attributes["value"].value)


def erase_unused(flag: ir.Value) -> None:
    if next(iter(flag.uses), None) is None and not isinstance(flag.owner, ir.Block):
        flag.owner.operation.erase()
