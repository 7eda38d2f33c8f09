"""Branches of the `cf` dialect with other operands, and blocks on the way to one of their successors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import segment_sizes


def operand_parts(branch: ir.Operation) -> tuple[list[ir.Value], list[list[ir.Value]]]:
    """The operands of a branch: what decides, and what each successor gets.

    Raises:
        BufferizationError: it is no branch of the `cf` dialect.
    """
    operands = list(branch.operands)
    if branch.name == "cf.br":
        return [], [operands]
    if branch.name == "cf.cond_br":
        counts = list(segment_sizes(branch)[1:])
    elif branch.name == "cf.switch":
        counts = [segment_sizes(branch)[1], *(int(n) for n in cast(Any, branch.attributes["case_operand_segments"]))]
    else:
        raise BufferizationError(
            f"branch `{branch.name}`",
            expected="a branch of the cf dialect where a buffer is owned, or freed, on some ways only",
            got=branch.name,
            where=python_line(branch.location) or None,
        )
    parts: list[list[ir.Value]] = []
    at = 1
    for count in counts:
        parts.append(operands[at : at + count])
        at += count
    return operands[:1], parts


def remade_branch(
    old: ir.Operation, parts: Sequence[Sequence[ir.Value]], successors: Sequence[ir.Block] | None = None
) -> ir.Operation:
    """A branch with other operands for its successors, or others of those, in front of the old one, which stays."""
    known = old.attributes
    attributes = {name: known[name] for name in known} if len(known) else {}
    counts = [len(part) for part in parts]
    if old.name == "cf.switch":
        attributes["case_operand_segments"] = ir.DenseI32ArrayAttr.get(counts[1:])
        counts = [counts[0], sum(counts[1:])]
    if old.name != "cf.br":
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *counts])
    deciding = [] if old.name == "cf.br" else [old.operands[0]]
    operands = [*deciding, *(value for part in parts for value in part)]
    after = list(old.successors) if successors is None else list(successors)
    return create(old.name, operands, [], attributes, successors=after, before=old)


def split_edge(branch: ir.Operation, successor: int) -> tuple[ir.Operation, ir.Operation]:
    """Puts a block between a branch and one of its successors; returns the branch made anew, and the new block's.

    cf.cond_br %p, ^a(%x : f32), ^b      ->      cf.cond_br %p, ^new, ^b
                                                 ^new: cf.br ^a(%x : f32)
    """
    _, parts = operand_parts(branch)
    successors = list(branch.successors)
    new = cast(Any, branch.block).create_after()
    passed, at = parts[successor], ir.InsertionPoint(new)
    forward = ir.Operation.create("cf.br", [], passed, None, [successors[successor]], 0, branch.location, at).operation
    parts[successor], successors[successor] = [], new
    remade = remade_branch(branch, parts, successors)
    branch.erase()
    return remade, forward
