"""Parallel copies: done one after the other they leave what they would leave at once, and no cycle is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from hotdesk.graphs import strong_components
from hotdesk.program.parallel_copies import CopyStep, cycle_breakers, sequentialized, waited_for
from tests.work import calls_made

Moves = Sequence[tuple[str, str]]
"""From where to where."""


def _steps(moves: Moves) -> list[CopyStep]:
    return list(sequentialized([source for source, _ in moves], [target for _, target in moves]))


def _told(moves: Moves) -> str:
    return ", ".join(("keep " if aside else "") + "".join(moves[copy]) for copy, aside in _steps(moves))


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ([("a", "b"), ("c", "d")], "ab, cd"),
        ([("a", "b"), ("b", "c")], "bc, ab"),
        ([("a", "b"), ("b", "c"), ("c", "d")], "cd, bc, ab"),
        ([("a", "b"), ("b", "a")], "keep ba, ab, ba"),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")], "de, keep bc, ab, ca, bc"),
        ([("a", "b"), ("a", "c"), ("d", "a")], "ab, ac, da"),
        ([("a", "a"), ("a", "b"), ("c", "a")], "ab, aa, ca"),
        ([], ""),
    ],
)
def test_order(moves: Moves, told: str) -> None:
    assert _told(moves) == told


@pytest.mark.parametrize("seed", range(50))
def test_they_leave_what_they_would_leave_at_once(seed: int) -> None:
    random = Random(seed)
    places = "abcdefg"
    targets = random.sample(places, random.randrange(1, 7))
    moves = [(random.choice(places), target) for target in targets]
    before = dict(zip(places, range(len(places)), strict=True))
    wanted = before | {target: before[source] for source, target in moves}
    memory, aside = dict(before), dict[int, int]()
    for copy, set_aside in _steps(moves):
        source, target = moves[copy]
        content = aside.get(copy, memory[source])
        if set_aside:
            aside[copy] = content
        else:
            memory[target] = content
    assert memory == wanted
    cycles = strong_components(dict(enumerate(waited_for([s for s, _ in moves], [t for _, t in moves]))))
    assert len(aside) == sum(len(cycle) > 1 for cycle in cycles)


def test_the_lowest_of_each_cycle_breaks_it() -> None:
    waits = [[1], [2], [0], [4], [3], [0]]
    assert list(cycle_breakers(waits, lambda copy: (copy != 1, copy != 4))) == [1, 4]


@pytest.mark.parametrize("seed", range(50))
def test_no_cycle_is_left(seed: int) -> None:
    random = Random(seed)
    waits = [[other for other in range(8) if other != copy and not random.randrange(4)] for copy in range(8)]
    broken = set(cycle_breakers(waits, lambda copy: (copy % 2 == 0,)))
    left = {copy: [other for other in waits[copy] if other not in broken] for copy in range(8) if copy not in broken}
    assert all(len(cycle) == 1 for cycle in strong_components(left))


def _ring(count: int) -> list[list[int]]:
    return [[(copy + 1) % count] for copy in range(count)]


def _order(count: int) -> int:
    return len(list(sequentialized(_ring(count), [[copy] for copy in range(count)])))


def _breakers(count: int) -> int:
    return len(list(cycle_breakers(_ring(count), lambda copy: (copy > 0,))))


@pytest.mark.parametrize(("run", "steps"), [(_order, 401), (_breakers, 1)], ids=["order", "cycles"])
def test_work_grows_with_the_copies(run: Callable[[int], int], steps: int) -> None:
    assert run(400) == steps
    few, many = (calls_made(lambda count=count: run(count)) for count in (100, 400))
    assert many < 4.5 * few
