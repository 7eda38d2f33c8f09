"""The least solution of a data-flow problem: facts that grow along edges until nothing changes.

A work list of nodes, the lowest number first: nodes are numbered in program order, so that what comes earlier is settled before
what follows from it, and only loops are gone round again. After Kildall, "A Unified Approach to Global Program Optimization"
(1973), and Kam and Ullman, "Global Data Flow Analysis and Iterative Algorithms" (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

Fact = TypeVar("Fact")
Edge = TypeVar("Edge")
Element = TypeVar("Element")


def least_solution(
    first: Sequence[Fact],
    edges: Mapping[int, Sequence[tuple[int, Edge]]],
    join: Callable[[Fact, Fact, Edge], Fact | None],
) -> list[Fact]:
    """The least facts, by node, that are at least `first` and agree with all edges.

    Args:
        first: what holds of each node by itself.
        edges: for each node the nodes that its fact goes to, each with what `join` is told of the edge.
        join: the fact of the second node with what comes to it from the first; None if that is no more than it is.
    """
    found = list(first)
    waiting = list(edges)
    heapify(waiting)
    is_waiting = set(waiting)
    while waiting:
        node = heappop(waiting)
        is_waiting.discard(node)
        for target, edge in edges[node]:
            fact = join(found[node], found[target], edge)
            if fact is None:
                continue
            found[target] = fact
            if target in edges and target not in is_waiting:
                is_waiting.add(target)
                heappush(waiting, target)
    return found


def united(first: Sequence[frozenset[Element]], targets: Mapping[int, Sequence[int]]) -> list[frozenset[Element]]:
    """The least sets, by node, each of which has those of `first` and of all nodes of which it is a target."""

    def join(source: frozenset[Element], target: frozenset[Element], edge: None) -> frozenset[Element] | None:
        return None if source <= target else source | target

    return least_solution(first, {node: [(each, None) for each in many] for node, many in targets.items()}, join)
