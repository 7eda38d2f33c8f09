"""What a report says, as records: no tensor, no IR, only numbers and names. All sizes are in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.report.memory import Memory
from hotdesk.sizes.size import evaluate

LARGEST = 3
_MISSED = (Outcome.ALLOCATED, Outcome.COPIED)
_OF_ARGUMENTS = (Reason.NON_CONTIGUOUS_ARGUMENT, Reason.DONATED_NOT_USABLE)
_ALWAYS_SHOWN = (Outcome.IN_PLACE, Outcome.COPIED, Outcome.SHARED)


@dataclass(frozen=True, slots=True)
class BufferLine:
    """One buffer: live from step `lower` up to step `upper`; `where` is `arena`, `result 0` and the like.

    `offset` counts bytes from the start of the arena, or of the result that lends its memory. `module` is the submodule of the
    model, `shape` and `element` are of the memref.
    """

    name: str
    bytes: int
    location: str
    lower: int
    upper: int
    where: str
    offset: int = 0
    module: str = ""
    shape: tuple[int, ...] = ()
    element: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A program's use of memory for one set of sizes.

    `outcomes` counts decisions, in the order of `Outcome` (in place, copied and shared even when none); `largest` are the
    largest buffers live at the peak; `missed` is the largest tensor that did not take over memory in use before; `copies`
    are the arguments copied once a call, by name and bytes; `spent` is what was done to fit in a budget.
    """

    name: str
    symbols: tuple[tuple[str, int], ...]
    memory: Memory
    outcomes: tuple[tuple[Outcome, int], ...]
    largest: tuple[BufferLine, ...]
    missed: Decision | None
    copies: tuple[tuple[str, int], ...]
    spent: tuple[Decision, ...] = ()


def summarize(
    name: str,
    symbols: Sequence[tuple[str, int]],
    memory: Memory,
    at_peak: Sequence[BufferLine],
    decisions: Sequence[Decision],
) -> Report:
    """The report for `decisions` whose bytes are numbers. Of equals, what was decided first comes first."""
    copies = tuple(found for found in decisions if found.reason in _OF_ARGUMENTS)
    made = tuple(found for found in decisions if found.reason not in _OF_ARGUMENTS)
    counts = tuple((outcome, sum(found.outcome is outcome for found in made)) for outcome in Outcome)
    return Report(
        name=name,
        symbols=tuple(symbols),
        memory=memory,
        outcomes=tuple((outcome, count) for outcome, count in counts if count or outcome in _ALWAYS_SHOWN),
        largest=tuple(sorted(at_peak, key=lambda line: -line.bytes)[:LARGEST]),
        missed=max((found for found in made if found.outcome in _MISSED), key=_number, default=None),
        copies=tuple((found.subject, _number(found)) for found in copies),
        spent=tuple(found for found in made if found.reason is Reason.WITHIN_BUDGET),
    )


def _number(decision: Decision) -> int:
    return evaluate(decision.bytes, {})
