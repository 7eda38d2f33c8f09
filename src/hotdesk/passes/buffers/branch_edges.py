"""Branches of the `cf` dialect with other operands, and blocks between any branch and one of its successors.

Of a branch of one's own, a model says what it passes, but not how it would pass more: the `cf.br` of a block in between does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.models import cf
from hotdesk.models.cf import branch_segments
from hotdesk.models.control_flow import branched


def passes_more(branch: ir.Operation) -> bool:
    """Whether a branch can be made again with more operands for a successor."""
    return branch.name in cf.MODELS


def operand_parts(branch: ir.Operation) -> tuple[list[ir.Value], list[list[ir.Value]]]:
    """The operands of a branch of the `cf` dialect: what decides, and what each successor gets."""
    operands = list(branch.operands)
    parts: list[list[ir.Value]] = [[] for _ in branch.successors]
    passed = branched(branch) or ()
    for operand, to, _ in passed:
        parts[to].append(operands[operand])
    return operands[: len(operands) - len(passed)], parts


def remade_branch(
    old: ir.Operation, parts: Sequence[Sequence[ir.Value]], successors: Sequence[ir.Block] | None = None
) -> ir.Operation:
    """A branch with other operands for its successors, or others of those, in front of the old one, which stays."""
    known = old.attributes
    attributes = {name: known[name] for name in known} if len(known) else {}
    attributes.update(branch_segments(old, [len(part) for part in parts]))
    deciding, _ = operand_parts(old)
    operands = [*deciding, *(value for part in parts for value in part)]
    after = list(old.successors) if successors is None else list(successors)
    return create(old.name, operands, [], attributes, successors=after, before=old)


def split_edge(branch: ir.Operation, successor: int) -> tuple[ir.Operation, ir.Operation]:
    """Puts a block between a branch and one of its successors; returns the branch made anew, and the new block's.

    cf.cond_br %p, ^a(%x : f32), ^b      ->      cf.cond_br %p, ^new, ^b
                                                 ^new: cf.br ^a(%x : f32)

    A branch of another dialect passes to the new block what it passed to its successor, since its operands are its own affair:

    "my.br"(%x)[^a] : (f32) -> ()         ->      "my.br"(%x)[^new] : (f32) -> ()
                                                 ^new(%y: f32): cf.br ^a(%x : f32)
    """
    if not passes_more(branch):
        return _split_foreign(branch, successor)
    _, parts = operand_parts(branch)
    successors = list(branch.successors)
    new = cast(Any, branch.block).create_after()
    passed, at = parts[successor], ir.InsertionPoint(new)
    forward = ir.Operation.create("cf.br", [], passed, None, [successors[successor]], 0, branch.location, at).operation
    parts[successor], successors[successor] = [], new
    remade = remade_branch(branch, parts, successors)
    branch.erase()
    return remade, forward


def passed_along(branch: ir.Operation, successor: int) -> list[list[int]]:
    """The operands of a branch that may become each argument of a successor."""
    found: list[list[int]] = [[] for _ in branch.successors[successor].arguments]
    for operand, to, argument in branched(branch) or ():
        if to == successor:
            found[argument].append(operand)
    return found


def _split_foreign(branch: ir.Operation, successor: int) -> tuple[ir.Operation, ir.Operation]:
    successors, operands = list(branch.successors), list(branch.operands)
    target, ways = successors[successor], passed_along(branch, successor)
    new = cast(Any, branch.block).create_after(*(argument.type for argument in target.arguments))
    passed = [
        operands[way[0]] if len(way) == 1 else argument for way, argument in zip(ways, new.arguments, strict=True)
    ]
    at = ir.InsertionPoint(new)
    forward = ir.Operation.create("cf.br", [], passed, None, [target], 0, branch.location, at).operation
    successors[successor] = new
    known = branch.attributes
    attributes = {name: known[name] for name in known}
    remade = create(branch.name, operands, [], attributes, successors=successors, before=branch)
    branch.erase()
    return remade, forward
