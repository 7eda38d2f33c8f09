"""Who had the bytes of the arena before: against a list with one entry a byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hotdesk.report.records import BufferLine
from hotdesk.runtime.plans.layout import _LastHolder, at_peak  # pyright: ignore[reportPrivateUsage]

SIZE = 40
RANGES = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(sorted), max_size=25)


@given(RANGES)
def test_the_last_holder_of_every_byte(ranges: list[list[int]]) -> None:
    holders, bytes_ = _LastHolder(), [None] * SIZE
    for number, (start, end) in enumerate(ranges):
        expected = next((holder for holder in bytes_[start:end] if holder is not None), None)
        assert holders.replace(start, end, number) == expected
        bytes_[start:end] = [number] * (end - start)


def _line(name: str, size: int, lower: int, upper: int) -> BufferLine:
    return BufferLine(name, size, "", lower, upper, "arena")


def test_at_peak_takes_the_earliest_of_equal_peaks_and_sorts_by_size() -> None:
    lines = (_line("a", 3, 0, 4), _line("b", 5, 1, 3), _line("c", 5, 4, 9), _line("d", 3, 5, 6))
    assert [line.name for line in at_peak(lines)] == ["b", "a"]


def test_at_peak_of_nothing_is_nothing() -> None:
    assert at_peak(()) == ()
    assert at_peak((_line("empty", 0, 0, 3),)) == ()
