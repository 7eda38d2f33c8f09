"""Graphs: what is reached, components, dominators and sets that are joined, against their definitions."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from hotdesk.graphs import DisjointSets, immediate_dominators, postorder, reached, spans, strong_components

Graph = list[list[int]]


def graphs() -> Iterator[Graph]:
    numbers = random.Random(11)
    for _ in range(80):
        count = numbers.randrange(1, 10)
        yield [[numbers.randrange(count) for _ in range(numbers.randrange(3))] for _ in range(count)]


EACH = pytest.mark.parametrize("after", list(graphs()))


def _from(after: Graph, start: int, avoided: int = -1) -> set[int]:
    """What is reached from a node without one that is avoided, by repetition."""
    found = {start} - {avoided}
    for _ in after:
        found |= {other for node in found for other in after[node] if other != avoided}
    return found


@EACH
def test_all_is_reached_that_paths_lead_to(after: Graph) -> None:
    assert set(reached([0], after.__getitem__)) == _from(after, 0)


def test_starts_come_first_and_once() -> None:
    assert list(reached([2, 0, 2], {0: [1], 1: [2], 2: []}.__getitem__)) == [2, 0, 1]


@EACH
def test_components_reach_one_another_and_come_after_what_they_lead_to(after: Graph) -> None:
    found = strong_components(dict(enumerate(after)))
    assert sorted(node for component in found for node in component) == list(range(len(after)))
    earlier: set[int] = set()
    for component in found:
        reaching = {node for node in range(len(after)) if component[0] in _from(after, node)}
        assert set(component) == _from(after, component[0]) & reaching
        earlier |= set(component)
        assert all(other in earlier for node in component for other in after[node])


@EACH
def test_a_dominator_is_on_every_path(after: Graph) -> None:
    order = list(postorder([0], after.__getitem__))
    assert set(order) == _from(after, 0)
    above = immediate_dominators(after, order)
    for node in order:
        on_every_path = {each for each in order if each == node or node not in _from(after, 0, each)}
        assert _all_above(above, node) == on_every_path


@EACH
def test_postorder_asks_what_follows_when_it_comes_to_a_node(after: Graph) -> None:
    done: list[int] = []
    done.extend(postorder(range(len(after)), lambda each: [other for other in after[each] if other not in done]))
    assert sorted(done) == list(range(len(after)))
    for node in done:
        later = {other for other in after[node] if done.index(other) > done.index(node)}
        assert all(node in _from(after, other) for other in later)  # on a cycle


@EACH
def test_joined_sets_are_what_edges_connect(after: Graph) -> None:
    sets = DisjointSets(len(after))
    both = [[*after[node], *(other for other, to in enumerate(after) if node in to)] for node in range(len(after))]
    for node, others in enumerate(after):
        for other in others:
            standing = sets.find(other)
            sets.unite(node, other)
            assert sets.find(node) == sets.find(other) == standing
    for node in range(len(after)):
        assert {other for other in range(len(after)) if sets.find(other) == sets.find(node)} == _from(both, node)


def _all_above(above: dict[int, int], node: int) -> set[int]:
    found = {node}
    while above[node] != node:
        node = above[node]
        found.add(node)
    return found


def test_spans_hold_what_is_below() -> None:
    first, last = spans([-1, 0, 0, 1])
    assert [(first[i], last[i]) for i in range(4)] == [(0, 3), (1, 2), (3, 3), (2, 2)]
