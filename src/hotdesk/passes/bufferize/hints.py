"""What would make a copy or an allocation unnecessary, in a sentence; nothing where we know of nothing.

Who follows a hint has the same program, and not the copy or allocation that it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.explain import Decision, Reason, Source
from hotdesk.models.tensor import COLLAPSE

DESTINATIONS = "hotdesk-choose-destinations"
EMPTY_TENSORS = "hotdesk-eliminate-empty-tensors"
_PLAIN = {
    Reason.NOT_WRITABLE_CONSTANT: "Pass it as an argument with `hotdesk.donated`.",
    Reason.SIZE_NOT_PROVEN_EQUAL: "Take both sizes from one value: that proves them equal.",
    Reason.RETURNED_INPUT: "Leave the result out: the caller has the argument.",
    Reason.RETURNED_WEIGHT: "Leave the result out: the caller has the weight.",
    Reason.RETURNED_TWICE: "Return it once: the caller can use it twice.",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a decision does not say of itself.

    Attributes:
        argument: number of the function's argument whose memory would be written.
        moves: the ops that read too late and could run before the write.
        cheap: the definition costs less to compute again than to copy.
        reads_on: something reads the argument later, whoever owns it.
        shown: the memory that would be written is shown by a `to_tensor` of the program, which may say that it is writable.
        returned: what is written there is a result of the function, which has memory of its own unless told otherwise.
        dying: what made an operand that dies at the op.
        fresh: the op has an undefined destination, so that another pass has to choose the operand to overwrite.
    """

    argument: int | None = None
    moves: tuple[Source, ...] = ()
    cheap: bool = False
    reads_on: bool = False
    shown: bool = False
    returned: bool = False
    fresh: bool = False
    dying: Source | None = None


def hint(decision: Decision, situation: Situation) -> str:
    """The hint for a decision, or ""."""
    found = _hint(decision, situation)
    if decision.reason is Reason.OVERWRITTEN_UNREAD:
        return f"Run `{DESTINATIONS}` before: it lets the op overwrite {_named(situation.dying)}, which dies here."
    if decision.reason is Reason.LIES_ELSEWHERE and situation.fresh:
        return (
            f"Run `{EMPTY_TENSORS}` before: it lets {_named(decision.definition)} write there, or says what forbids it."
        )
    if found and situation.fresh:
        return f"{found} Then `{DESTINATIONS}` lets the op write there."
    return found


def _hint(decision: Decision, situation: Situation) -> str:
    match decision.reason:
        case Reason.NOT_WRITABLE_INPUT if situation.argument is not None:
            return _donate(decision, situation)
        case Reason.NOT_WRITABLE_CONSTANT if situation.fresh:
            return ""  # what holds the constant's elements instead takes as much memory as is saved
        case Reason.NOT_WRITABLE_CONSTANT if situation.cheap:
            return "Start from `linalg.fill` instead of a constant."
        case Reason.NOT_WRITABLE_MEMORY if situation.shown and not (situation.reads_on or situation.returned):
            return f"Say at {_named(decision.definition)} that the memory is `writable`."
        case Reason.READ_LATER | Reason.ALREADY_OVERWRITTEN | Reason.SLICE_INSTEAD:
            return _order(decision, situation)
        case Reason.DIFFERENT_LAYOUT if decision.because and decision.because[0].op == COLLAPSE:
            return "Reshape the whole first and take the part afterwards."
        case _:
            return _PLAIN.get(decision.reason, "")


def _donate(decision: Decision, situation: Situation) -> str:
    donate = f"Donate argument {situation.argument} with `hotdesk.donated`"
    if situation.returned:
        donate += " and let the result lie there (`results-in-donated`)"
    if situation.moves:
        return f"{donate}, and {_move(decision, situation)}."
    return "" if situation.reads_on else f"{donate}."


def _order(decision: Decision, situation: Situation) -> str:
    if situation.cheap and decision.definition is not None:
        return f"Compute {_named(decision.definition)} again for each use, as `hotdesk-rematerialize-cheap-ops` does."
    if situation.moves:
        return f"M{_move(decision, situation)[1:]}."
    return ""


def _move(decision: Decision, situation: Situation) -> str:
    return f"move {' and '.join(map(_named, situation.moves))} before {_named(decision.write)}"


def _named(source: Source | None) -> str:
    if source is None:
        return "an operand"
    name = source.op if source.op.startswith("argument ") else f"`{source.op}`"
    return f"{name} ({source.location})" if source.location else name
