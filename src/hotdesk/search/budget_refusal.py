"""What is said where no way was found to fit in a budget: what is known to work, and what proves that less does not."""

from __future__ import annotations

from hotdesk.errors import PlanError
from hotdesk.report.records import Certificate
from hotdesk.search.trials import Trial

_NAMED = 4
"""Buffers that a message names, the largest first."""


def too_small(budget: int, found: Trial) -> PlanError:
    """The error for a budget, in bytes, and the last that was found."""
    return PlanError(
        "the budget",
        expected=f"at most {budget:,} bytes for arena and results",
        got=f"{found.peak:,} bytes, the least that is known to work",
        hint=(
            f"No plan for what was found needs less than {found.bound + found.outputs:,} bytes; "
            f"the results alone take {found.outputs:,} bytes, whatever is done.{_because(found.certificate)}"
        ),
    )


def _because(found: Certificate) -> str:
    """What proves the bound of the arena, as sentences; nothing if there is no buffer in it."""
    if not found.buffers:
        return ""
    shown = [f"{_placed(buffer.name, buffer.location)} {buffer.footprint:,}" for buffer in found.buffers[:_NAMED]]
    rest = found.buffers[_NAMED:]
    if rest:
        shown.append(f"{len(rest):,} more {sum(buffer.footprint for buffer in rest):,}")
    if found.lent:
        shown.append(f"less {found.lent:,} that the caller's memory can lend")
    named = ", ".join(shown)
    if found.proof == "live":
        return f" At {_placed(found.op, found.location)} the arena has to hold {found.bytes:,} bytes: {named}."
    return f" The arena has to hold {found.bytes:,} bytes, as {found.proof} found nothing smaller for {named}."


def _placed(name: str, location: str) -> str:
    return f"{name} ({location})" if location else name
