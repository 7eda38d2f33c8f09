"""Allocations of an unregistered dialect share with their like and go with copies, if their model says that they may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hotdesk.explain import Outcome, Reason
from tests.unit.passes.buffers.pool import ALL, COPIES, FILL, SHARE, SIZED, TWICE, after, count, registered, say


@pytest.fixture(autouse=True)
def pool() -> Iterator[None]:
    with registered():
        yield


@pytest.mark.parametrize(("body", "sizes"), [(TWICE, ()), (SIZED, (0,))])
def test_shares_with_its_like(body: str, sizes: tuple[int, ...]) -> None:
    say(replace(ALL, sizes=sizes))
    text, decisions = after(body, SHARE)
    assert decisions[1] == (Outcome.SHARED, Reason.LIVE_RANGE_ENDED)
    assert count(text) == {"pool.release": 1, "pool.reserve": 1}


SMALLER = (
    TWICE.replace("%b = reserve() : memref<8xf32>", "%t = reserve() : memref<4x4xf32>")
    .replace(FILL.format("%out", "%b"), "linalg.fill ins(%one : f32) outs(%t : memref<4x4xf32>)\n")
    .replace(FILL.format("%b", "%out"), "")
    .replace("release(%b) : memref<8xf32>", "release(%t) : memref<4x4xf32>")
)


def test_a_smaller_one_is_a_part_of_a_larger_one() -> None:
    say(ALL)
    parts = TWICE.strip().split("%b = ")
    larger = "%z = reserve() : memref<4x4xf32>\nlinalg.fill ins(%one : f32) outs(%z : memref<4x4xf32>)\n"
    body = f"{larger}release(%z) : memref<4x4xf32>\n{parts[0]}"
    text, decisions = after(body, SHARE)
    assert decisions[1] == (Outcome.SHARED, Reason.LIVE_RANGE_ENDED)
    assert count(text) == {"pool.release": 1, "pool.reserve": 1}
    assert "memref.reinterpret_cast" in text
    assert after(SMALLER, SHARE)[1][1][0] is Outcome.ALLOCATED


# Copies

INTO = (
    f"%t = reserve() : memref<8xf32>\nmemref.copy %a, %t : memref<8xf32> to memref<8xf32>\n{FILL.format('%t', '%out')}"
)
FROM = (
    f"%a = reserve() : memref<8xf32>\n{FILL.format('%x', '%a')}memref.copy %a, %out : memref<8xf32> to memref<8xf32>\n"
)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (FROM + "release(%a) : memref<8xf32>", Reason.TARGET_REUSED),
        (INTO.replace("%a", "%x") + "release(%t) : memref<8xf32>", Reason.SOURCE_REUSED),
    ],
)
def test_goes_with_its_copy(body: str, reason: Reason) -> None:
    assert [outcome for outcome, _ in after(body, COPIES)[1]] == [Outcome.COPIED]
    say(ALL)
    text, decisions = after(body, COPIES)
    assert decisions == [(Outcome.REMOVED, reason)]
    assert not count(text)


@pytest.mark.parametrize("freed", [False, True])
def test_is_freed_by_its_own_op_in_the_place_of_another(freed: bool) -> None:
    """The copy is `memref.alloc`'s, what was copied the pool's."""
    say(ALL)
    body = f"%a = reserve() : memref<8xf32>\n{FILL.format('%x', '%a')}" + INTO.replace("reserve()", "memref.alloc()")
    body += "release(%a) : memref<8xf32>\n" + ("memref.dealloc %t : memref<8xf32>" if freed else "")
    text, decisions = after(body, COPIES)
    assert [outcome for outcome, _ in decisions] == [Outcome.REMOVED]
    assert count(text) == {"pool.release": 1, "pool.reserve": 1}
