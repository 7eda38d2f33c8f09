"""Who has a place before and after whom: against a list with one entry a byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hotdesk.report.neighbours import Holders, neighbours

SIZE = 40
RANGES = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(sorted), max_size=25)


@given(RANGES)
def test_the_last_holders_of_every_byte(ranges: list[list[int]]) -> None:
    holders, bytes_ = Holders(), [None] * SIZE
    for number, (start, end) in enumerate(ranges):
        expected = tuple(dict.fromkeys(holder for holder in bytes_[start:end] if holder is not None))
        assert holders.replace(start, end, number) == expected
        bytes_[start:end] = [number] * (end - start)


@given(RANGES)
def test_after_is_before_turned_round(ranges: list[list[int]]) -> None:
    found = neighbours([("arena", start, end, number) for number, (start, end) in enumerate(ranges)])
    pairs = {(other, number) for number, (before, _) in enumerate(found) for other in before}
    assert pairs == {(number, other) for number, (_, after) in enumerate(found) for other in after}


def test_memories_have_nothing_to_do_with_one_another() -> None:
    placed = [("arena", 0, 8, 0), ("result 0", 0, 8, 1), ("arena", 4, 12, 2)]
    assert neighbours(placed) == [((), (2,)), ((), ()), ((0,), ())]


def test_order_is_that_of_first_use() -> None:
    assert neighbours([("arena", 0, 8, 5), ("arena", 0, 8, 1)]) == [((1,), ()), ((), (0,))]
