"""Data flow: the least solution, against one found by trying everything again until nothing changes."""

from __future__ import annotations

import random

from hotdesk.program.dataflow import least_solution, united


def test_sets_are_united_along_edges() -> None:
    assert united([frozenset("a"), frozenset("b"), frozenset(), frozenset()], {0: [2], 1: [2], 2: [3]}) == [
        frozenset("a"),
        frozenset("b"),
        frozenset("ab"),
        frozenset("ab"),
    ]


def test_a_loop_comes_to_rest() -> None:
    assert united([frozenset("a"), frozenset(), frozenset("c")], {0: [1], 1: [2], 2: [1]}) == [
        frozenset("a"),
        frozenset("ac"),
        frozenset("ac"),
    ]


def test_edges_say_what_passes() -> None:
    def join(source: int, target: int, most: int) -> int | None:
        return min(source, most) if min(source, most) > target else None

    assert least_solution([9, 0, 0], {0: [(1, 5)], 1: [(2, 7), (0, 9)]}, join) == [9, 5, 5]


def test_the_solution_is_the_least() -> None:
    numbers = random.Random(3)
    for _ in range(50):
        count = numbers.randrange(1, 12)
        first = [frozenset({node}) if numbers.random() < 0.5 else frozenset[int]() for node in range(count)]
        targets = {node: [numbers.randrange(count) for _ in range(numbers.randrange(4))] for node in range(count)}
        assert united(first, targets) == _tried(first, targets)


def _tried(first: list[frozenset[int]], targets: dict[int, list[int]]) -> list[frozenset[int]]:
    found = list(first)
    for _ in range(len(first)):
        for node, many in targets.items():
            for target in many:
                found[target] = found[target] | found[node]
    return found
