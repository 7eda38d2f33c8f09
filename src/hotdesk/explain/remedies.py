"""What would change a decision: the hint that came with it, or what its reason suggests."""

from __future__ import annotations

from collections.abc import Mapping

from hotdesk.explain.decision import Decision, Outcome
from hotdesk.explain.reason import Reason

_DONATE = "Donate the argument: hotdesk.compile(…, donate=…), see docs/donated-inputs.md."
_BUDGET = "Let a budget split or recompute it: hotdesk.compile(…, budget=…), see docs/budget.md."
_ORDER = "Try another order: hotdesk.compile(…, order='peak'), see docs/scheduling.md."
_COPY_ONCE = "Return it once, or let the caller copy it."
_REMEDIES: Mapping[Reason, str] = {
    Reason.NO_DEAD_OPERAND_OF_SAME_SIZE: f"An operand of the same size that is read last here would be overwritten. {_BUDGET}",
    Reason.DIFFERENT_ELEMENT_TYPE: "Compute in one element type, so that the operand can be overwritten.",
    Reason.DIFFERENT_LAYOUT: "Keep one order of dimensions, so that the operand can be overwritten.",
    Reason.READ_LATER: f"Read the old value before this operation. {_ORDER}",
    Reason.NOT_WRITABLE_INPUT: _DONATE,
    Reason.SIZE_NOT_PROVEN_EQUAL: "Give both sizes one name in dynamic_shapes.",
    Reason.RETURNED_INPUT: f"Leave it out of the results, or donate it. {_DONATE}",
    Reason.RETURNED_WEIGHT: "Leave it out of the results: the model has it.",
    Reason.RETURNED_TWICE: _COPY_ONCE,
    Reason.RETURNED_VIEW: _COPY_ONCE,
    Reason.NON_CONTIGUOUS_ARGUMENT: "Pass x.contiguous().",
    Reason.DONATED_NOT_USABLE: "Donate memory that may be written and is aligned to 16 bytes.",
    Reason.MULTIPLE_READERS: _BUDGET,
    Reason.PREPARED_TOO_LARGE: "Allow more: hotdesk.Options(prepare=…).",
    Reason.FRAMES_RAISE_PEAK: "Allow more: hotdesk.Options(private_memory=…), see docs/control-flow.md.",
    Reason.KEPT_FOR_CHECKS: "Let a call that fails leave it half written: hotdesk.Options(roll_back=False), see docs/state.md.",
    Reason.NO_LOWERING: "Write it with ops that have a lowering, see docs/coverage.md.",
}
_NOTHING_TO_CHANGE = (Outcome.FREED, Outcome.IN_PLACE, Outcome.FUSED, Outcome.FOLDED, Outcome.SHARED, Outcome.LENT)


def remedy(decision: Decision) -> str:
    """What would make a copy or an allocation unnecessary, as a sentence; "" where nothing is known or nothing is lost."""
    if decision.hint:
        return decision.hint
    return "" if decision.outcome in _NOTHING_TO_CHANGE else _REMEDIES.get(decision.reason, "")
