"""Copies of results that a function does not own, on all paths or under a flag, since its caller will own them.

return %r      ->      %c = scf.if %flag { yield %r } else { copy %r to %new; yield %new }; return %c
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import bytes_of
from hotdesk.analysis.ownership.owners import OwnershipTransfer
from hotdesk.explain import Reason
from hotdesk.ir.building import branch
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import constant_op, defining_op, flag_of
from hotdesk.passes.buffers.new_copies import copy_of
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class ReturnedCopy:
    """A result of `size` bytes (0 if they are not known) that is copied, at least on some paths, and why."""

    size: Size
    reason: Reason
    location: str

    @classmethod
    def of(cls, value: ir.Value, reason: Reason, end: ir.Operation, function: ir.Operation) -> ReturnedCopy:
        """The copy of what `end` returns."""
        return cls(bytes_of(value, SymbolicSizes(function)), reason, python_line(end.location))


def reason_of(transfer: OwnershipTransfer) -> Reason:
    """Why what is not transferred for certain is copied: it is another result's too, or somebody else's."""
    return Reason.RETURNED_TWICE if transfer.claimed else Reason.RETURNED_INPUT


def copy_results(
    end: ir.Operation, open_: Mapping[int, OwnershipTransfer], flags: Mapping[int, ir.Value], function: ir.Operation
) -> list[ReturnedCopy]:
    """Returns copies of what a function does not own; `open_` are operands of `end` of which that is not certain."""
    copied: list[ReturnedCopy] = []
    for operand, transfer in open_.items():
        value, flag = end.operands[operand], flags[operand]
        never = not (transfer.moved or transfer.claimed) or _is_false(flag)
        copied.append(ReturnedCopy.of(value, reason_of(transfer), end, function))
        if never:
            _erase_unused(flag)
            end.operands[operand] = copy_of(value, end)
            continue
        choice, _, unowned = branch(flag, [value.type], [value], end)
        unowned.operands[0] = copy_of(value, unowned)
        end.operands[operand] = choice.results[0]
    return copied


def _is_false(flag: ir.Value) -> bool:
    made = constant_op(flag)
    return made is not None and not flag_of(made, "value")


def _erase_unused(flag: ir.Value) -> None:
    made = defining_op(flag)
    if made is not None and next(iter(flag.uses), None) is None:
        made.erase()
