"""Which buffers are in use at the peak."""

from __future__ import annotations

from hotdesk.report.records import BufferLine
from hotdesk.runtime.plans.describing import at_peak


def _line(name: str, size: int, lower: int, upper: int) -> BufferLine:
    return BufferLine(name, size, "", lower, upper, "arena")


def test_at_peak_takes_the_earliest_of_equal_peaks_and_sorts_by_size() -> None:
    lines = (_line("a", 3, 0, 4), _line("b", 5, 1, 3), _line("c", 5, 4, 9), _line("d", 3, 5, 6))
    assert [line.name for line in at_peak(lines)] == ["b", "a"]


def test_at_peak_of_nothing_is_nothing() -> None:
    assert at_peak(()) == ()
    assert at_peak((_line("empty", 0, 0, 3),)) == ()
