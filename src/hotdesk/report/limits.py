"""Limits to the peak: a number of bytes, or growth beside an older report, with the buffers that broke them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hotdesk.errors import PeakError
from hotdesk.report.document import BufferEntry, Document
from hotdesk.report.text import size

_SHOWN = 3


def require_peak(made: Document, most: int) -> None:
    """Raises PeakError, with the largest buffers at the peak, if a call takes more than `most` bytes."""
    if made.memory.peak > most:
        raise _exceeded(made, f"at most {size(most)}", f"Largest there: {_told(made.at_peak)}.")


def require_growth(made: Document, before: Document, percent: float) -> None:
    """Raises PeakError, with the buffers that are new at the peak, if it is more than `percent` above that of an older report."""
    most = before.memory.peak * (1 + percent / 100)
    if made.memory.peak <= most:
        return
    new = grown(made, before)
    hint = f"New at the peak: {_told(new)}." if new else f"Largest there: {_told(made.at_peak)}."
    raise _exceeded(made, f"at most {percent:g} % more than {size(before.memory.peak)}", hint)


def grown(made: Document, before: Document) -> tuple[BufferEntry, ...]:
    """The buffers at the peak that an older report does not have there, the largest first.

    Points and lines move when a program changes, so a buffer is known by its submodule, operation and type.
    """
    known = Counter(each.identity for each in before.at_peak)
    new: list[BufferEntry] = []
    for each in made.at_peak:
        if known[each.identity]:
            known[each.identity] -= 1
        else:
            new.append(each)
    return tuple(new)


def _exceeded(made: Document, expected: str, hint: str) -> PeakError:
    return PeakError(f"the peak of {made.name}", expected=expected, got=size(made.memory.peak), hint=hint)


def _told(buffers: Sequence[BufferEntry]) -> str:
    told = "; ".join(_one(each) for each in buffers[:_SHOWN]) or "nothing"
    more = len(buffers) - _SHOWN
    return f"{told}; and {more:,} more" if more > 0 else told


def _one(buffer: BufferEntry) -> str:
    inside = f" in {buffer.module}" if buffer.module else ""
    at = f" at {buffer.line}" if buffer.line else ""
    return f"{size(buffer.bytes)} {buffer.title} by {buffer.op}{inside}{at}"
