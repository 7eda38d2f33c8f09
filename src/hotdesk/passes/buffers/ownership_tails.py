"""Tail duplication: what comes behind a branch goes into each way of it, so that each way can say what it owns.

    %r = scf.if %p { yield %a } else { yield %b }              ->      %r = scf.if %p { write %a; yield %a }
    write %r; return %r                                                     else { write %b; yield %b }; return %r

legal iff one way of the branch runs, and nothing between takes memory of the stack, which would not live as long. Worth it for a
few ops without regions only: at most `_MOST` more are written.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.ir.building import clone_with
from hotdesk.ir.functions import widened
from hotdesk.models.new_memory import ALLOCA

_MOST = 64


@dataclass(frozen=True, slots=True)
class Tail:
    """The ops of a block behind op `branch` up to `user`, its last one, by number."""

    branch: int
    user: int


def may_follow(program: BufferProgram, tail: Tail) -> bool:
    """Whether the ops of a tail can, and are few enough to, go into each way of the branch."""
    branch, user = program.ops[tail.branch], program.ops[tail.user]
    block = program.blocks[branch.block]
    ways = len(_ends(program, branch))
    between = range(branch.end, tail.user)
    if user.block != branch.block or block.last != tail.user or block.branches or not ways:
        return False
    if (ways - 1) * len(between) > _MOST:
        return False
    return all(not program.ops[n].regions and program.ops[n].name != ALLOCA for n in between)


def follow_paths(program: BufferProgram, tail: Tail) -> None:
    """Puts the ops of a tail in front of each end of the branch; what the user wants of them becomes a result of the branch."""
    branch, user = program.ops[tail.branch], program.ops[tail.user]
    moved = [program.ops[n].operation for n in range(branch.end, tail.user)]
    made = [result for op in moved for result in op.results]
    wanted = [value for value in dict.fromkeys(user.operation.operands) if value in made]
    old = branch.operation
    for end in _ends(program, branch):
        known: dict[ir.Value, ir.Value] = dict(zip(old.results, end.operands, strict=True))
        for op in moved:
            clone_with(op, known, ir.InsertionPoint(end))
        widened(end, [*end.operands, *(known[value] for value in wanted)], [])
        end.erase()
    new = widened(old, list(old.operands), [*(r.type for r in old.results), *(value.type for value in wanted)])
    for before, after in zip([*old.results, *wanted], new.results, strict=True):
        before.replace_all_uses_with(after)
    for op in reversed(moved):
        op.erase()
    old.erase()


def _ends(program: BufferProgram, branch: BufferOp) -> list[ir.Operation]:
    return [end.operation for n in range(len(branch.regions)) for end in program.terminators(branch, n)]
