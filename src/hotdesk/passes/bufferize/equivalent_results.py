"""Drops results that are arguments as they came: the caller has them already.

    func private @f(%x: memref<4xf32>) -> memref<4xf32> {        func private @f(%x: memref<4xf32>) {
      return %x }                                          ->      return }
    %r = call @f(%a); use %r                                     call @f(%a); use %a

Legal iff

1. every return of the function returns the same argument in that place, as it is or cast to another memref type;
2. the function is private, or `modify-public-functions` is given (`public-function`);
3. it is used by `func.call` only (`address-taken`).

Where a caller returned such a result, its own result may be an argument now: functions are looked at until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import cast_to
from hotdesk.ir.functions import Uses, find_uses, keep_results, named_functions, rebuild_call, returns_of
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import entry_block, made_by, modules
from hotdesk.models.memref import CAST
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.conventions import why_fixed
from hotdesk.passes.properties import NO_ARGUMENTS_RETURNED, Property


@dataclass(frozen=True, slots=True)
class DropEquivalentBufferResults(Pass):
    """Drops memref results that are arguments (rules in the module docstring).

    Options:
        modify_public_functions: results of public functions are dropped too: whoever calls them from elsewhere has to know.
    """

    name: ClassVar[str] = "hotdesk-drop-equivalent-buffer-results"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.EQUALS_ARGUMENT, Reason.ADDRESS_TAKEN, Reason.PUBLIC_FUNCTION)
    modify_public_functions: bool = False

    def ensures(self) -> tuple[Property, ...]:
        return (NO_ARGUMENTS_RETURNED,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return tuple(decision for each in modules(module) for decision in self._run(each))

    def _run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: dict[str, Decision] = {}
        functions = named_functions(module)
        changed = True
        while changed:
            changed = False
            uses = find_uses(module)
            for name, function in functions.items():
                dropped = _equivalent(function)
                refusal = why_fixed(function, uses.get(name, Uses()), public=self.modify_public_functions)
                reason, because = refusal or (Reason.EQUALS_ARGUMENT, ())
                for number in dropped:
                    subject = f"result {number} of @{name}"
                    decisions.setdefault(subject, Decision(subject, Outcome.LENT, reason, because))
                if dropped and refusal is None:
                    drop_results(function, uses.get(name, Uses()).calls, dropped)
                    changed = True
        return tuple(decisions.values())


def _equivalent(function: ir.Operation) -> dict[int, int]:
    """Results that every return gives the same argument, with the argument's number."""
    returns = returns_of(function)
    found: dict[int, int] = {}
    for number, result in enumerate(signature(function).outputs):
        arguments = {_argument(op.operands[number], function) for op in returns} if is_memref(result) else {None}
        argument = arguments.pop() if len(arguments) == 1 else None
        if argument is not None:
            found[number] = argument
    return found


def _argument(value: ir.Value, function: ir.Operation) -> int | None:
    """The number of the argument that a value is, through casts."""
    while (op := made_by(value, CAST)) is not None:
        value = op.operands[0]
    if value.owner != entry_block(function) or not is_memref(value.type):
        return None
    return int(cast(Any, value).arg_number)


def drop_results(function: ir.Operation, calls: tuple[ir.Operation, ...], dropped: dict[int, int]) -> None:
    """Drops results of a function, by number, each the argument of a number, which callers use in its place."""
    kept = [i for i in range(len(signature(function).outputs)) if i not in dropped]
    for call in calls:
        new = rebuild_call(call, range(len(call.operands)), kept)
        for number, argument in dropped.items():
            result = call.results[number]
            result.replace_all_uses_with(cast_to(new.operands[argument], result.type, call))
        call.erase()
    keep_results(function, kept)
