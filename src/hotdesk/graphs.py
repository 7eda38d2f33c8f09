"""Graphs: what is reached, in which order, dominators, cycles; and sets that are joined.

Nodes are numbers, or anything with a hash. Immediate dominators are found by the iteration over reverse postorder of Cooper,
Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), cycles as strongly connected components, by Tarjan, "Depth-first
search and linear graph algorithms" (1972). Sets are joined as in Tarjan, "Efficiency of a good but not linear set union
algorithm" (1975), with paths halved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node")


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """All that is reached from some nodes, these included, in the order in which a depth-first search comes to them."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    while waiting:
        for node in following(waiting.pop()):
            if node not in found:
                found[node] = None
                waiting.append(node)
    return found


def strong_components(after: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components of a graph, each after those that it leads to; its nodes as a search comes to them."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for start in after:
        if start in index:
            continue
        path = [(start, iter(after[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while path:
            node, rest = path[-1]
            other = next(rest, None)
            if other is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                    on_stack.difference_update(component)
                    found.append(component[::-1])
            elif other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                on_stack.add(other)
                path.append((other, iter(after[other])))
            elif other in on_stack:
                low[node] = min(low[node], index[other])
    return found


def postorder(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """All that is reached from some nodes, each after those that it leads to, cycles apart.

    What follows a node is asked when the search comes to it, and what was given before may be used by then.
    """
    seen: set[Node] = set()
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(following(start)))]
        while path:
            node, rest = path[-1]
            for other in rest:
                if other not in seen:
                    seen.add(other)
                    path.append((other, iter(following(other))))
                    break
            else:
                path.pop()
                yield node


def spans(above: Sequence[int]) -> tuple[list[int], list[int]]:
    """Numbers of the nodes of a forest in preorder, given what is above each (-1 for none), and the last number below each."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(above):
        below.setdefault(parent, []).append(node)
    order: list[int] = []
    waiting = below.get(-1, [])[::-1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(below.get(node, ()))
    first = [0] * len(above)
    for number, node in enumerate(order):
        first[node] = number
    last = list(first)
    for node in reversed(order):
        if above[node] >= 0:
            last[above[node]] = max(last[above[node]], last[node])
    return first, last


def immediate_dominators(after: list[list[int]], finished: list[int]) -> dict[int, int]:
    """The immediate dominator of each block that is reached; the first one's is itself."""
    position = {block: i for i, block in enumerate(finished)}
    before: dict[int, list[int]] = {}
    for block in finished:
        for successor in after[block]:
            before.setdefault(successor, []).append(block)
    found = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in reversed(finished[:-1]):
            ways = [way for way in before[block] if way in found]
            new = ways[0]
            for way in ways[1:]:
                new = _meet(new, way, found, position)
            changed |= found.get(block) != new
            found[block] = new
    return found


def _meet(a: int, b: int, found: dict[int, int], position: dict[int, int]) -> int:
    while a != b:
        while position[a] < position[b]:
            a = found[a]
        while position[b] < position[a]:
            b = found[b]
    return a


class DisjointSets:
    """Sets of numbers that are joined; each number is by itself in the beginning."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, member: int) -> int:
        """The member that stands for all of its set."""
        parent = self._parent
        while parent[member] != member:
            parent[member] = member = parent[parent[member]]
        return member

    def unite(self, one: int, other: int) -> None:
        """Joins the sets of two members; what stands for that of `other` stands for both."""
        self._parent[self.find(one)] = self.find(other)
