"""Removes copies that need not be made, with the allocations that they fill or empty.

    %t = memref.alloc(); memref.copy %s, %t; memref.dealloc %s; return %t     ->     return %s
    %t = memref.alloc(); linalg.exp ins(%x) outs(%t); memref.copy %t, %r      ->     linalg.exp ins(%x) outs(%r)

Legal iff the constraints of `analysis.copying.removal` hold, which are numbered there. A copy that stays is reported with the
reason, and with the constraint that it fails in either direction. The pass goes over a function until no copy that is left may
go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.retyping import TypeFit
from hotdesk.analysis.copying.copies import FOREIGN
from hotdesk.analysis.copying.removal import CopyRemovals, Removal
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import all_functions, users
from hotdesk.models.memref import SUBVIEW
from hotdesk.models.new_memory import freed
from hotdesk.models.tensor_slices import subview
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class CopyRemoval(Pass):
    """Removes copies (constraints in `analysis.copying.removal`).

    Options:
        arguments_overlap: memrefs that are arguments may overlap one another; if not, that is a promise of whoever calls.
    """

    name: ClassVar[str] = "hotdesk-copy-removal"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.ALREADY_THERE,
        Reason.COPY_OF_ITSELF,
        Reason.NOTHING_COPIED,
        Reason.OVERWRITTEN_UNREAD,
        Reason.SOURCE_REUSED,
        Reason.TARGET_REUSED,
        Reason.ALIGNMENT_ASSUMED,
        Reason.DESTINATION_LATER,
        Reason.FREED_BY_ANOTHER_OP,
        Reason.FREED_ELSEWHERE,
        Reason.LEAVES_SCOPE,
        Reason.NOT_ALLOCATED_HERE,
        Reason.OTHER_TYPE,
        Reason.STILL_USED,
        Reason.TOUCHED_BETWEEN,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_ORDINARY_MEMORY,
    )
    arguments_overlap: bool = True

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        freeing = FreeingCalls()
        for function in all_functions(module):
            while True:
                removals = CopyRemovals(function, self.arguments_overlap, freeing)
                found = [removals.find(copy) for copy in removals.memory.copies]
                chosen = _independent([each for each in found if isinstance(each, Removal)])
                if not chosen:
                    decisions.extend(each for each in found if isinstance(each, Decision))
                    break
                for each in chosen:
                    _remove(each)
                    decisions.append(each.decision)
        return tuple(decisions)


def _independent(removals: Sequence[Removal]) -> list[Removal]:
    """Removals of which none changes what another one rests on: the others are found again in the next round.

    A copy that is overwritten by one that is overwritten in turn is overwritten by the next: such a row goes at once.
    """
    chosen: list[Removal] = []
    last: dict[int, Removal] = {}  # of those chosen, by class
    for each in removals:
        before = [last[one] for one in each.classes if one in last]
        if not all(_are_in_a_row(other, each) or _are_apart(other, each) for other in before):
            continue
        chosen.append(each)
        last.update(dict.fromkeys(each.classes, each))
    return chosen


def _are_apart(first: Removal, second: Removal) -> bool:
    """Whether two have nothing in common but memory of which more is there than theirs, and that at different times."""
    return first.classes & second.classes == frozenset({FOREIGN}) and second.first >= first.end


def _are_in_a_row(first: Removal, second: Removal) -> bool:
    """Whether a copy that nobody reads is overwritten by another one that nobody reads; or both write what is there already, so
    that memory is the same without the first."""
    if {first.decision.reason, second.decision.reason} == {Reason.ALREADY_THERE}:
        return second.first >= first.first
    unread = all(each.decision.reason is Reason.OVERWRITTEN_UNREAD for each in (first, second))
    return unread and first.end == second.first + 1


def _remove(removal: Removal) -> None:
    for free in removal.erased:
        free.erase()
    for op, other in removal.moved:
        if freed(op):
            op.move_after(other)
        else:
            op.move_before(other)
    if removal.old is not None and removal.new is not None:
        _put(removal.new, removal.old, removal)
        removal.old.erase()
    removal.copy.erase()


def _put(new: ir.Value, old: ir.Operation, removal: Removal) -> None:
    """Gives the uses of an allocation another memref."""
    value = old.results[0]
    if removal.fit is TypeFit.CAST and removal.front is not None:
        for user in users(value):
            if freed(user):
                user.operands[0] = new
        new = create("memref.cast", [new], [value.type], before=removal.front).results[0]
    slices = [user for user in users(value) if user.name == SUBVIEW]
    value.replace_all_uses_with(new)
    if removal.fit is TypeFit.RETYPED:
        for each in slices:
            _slice_again(each)


def _slice_again(old: ir.Operation) -> None:
    """Makes a slice, and the slices of it, anew, since the layout of what it is cut out of has changed."""
    value = old.results[0]
    slices = [user for user in users(value) if user.name == SUBVIEW]
    value.replace_all_uses_with(subview(old.operands[0], old, shape_of(value.type)))
    old.erase()
    for each in slices:
        _slice_again(each)
