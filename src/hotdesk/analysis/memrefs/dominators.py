"""Dominators and cycles of a graph whose nodes are numbers, with the successors of each; paths begin at node 0.

Immediate dominators are found by the iteration over reverse postorder of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
Algorithm" (2001), cycles as strongly connected components, by Tarjan (1972).
"""

from __future__ import annotations

from collections.abc import Sequence


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


def components(after: list[list[int]]) -> tuple[list[int], list[int]]:
    """The blocks that are reached from the first, in postorder, and of each block the first one of its cycle, or -1."""
    finished: list[int] = []
    cycles = [block if block in following else -1 for block, following in enumerate(after)]
    entered, lowest = {0: 0}, {0: 0}
    unfinished, is_unfinished = [0], {0}
    waiting = [(0, iter(after[0]))]
    while waiting:
        block, rest = waiting[-1]
        successor = next(rest, None)
        if successor is None:
            waiting.pop()
            finished.append(block)
            if waiting:
                lowest[waiting[-1][0]] = min(lowest[waiting[-1][0]], lowest[block])
            if lowest[block] == entered[block]:
                members = [unfinished.pop()]
                while members[-1] != block:
                    members.append(unfinished.pop())
                is_unfinished.difference_update(members)
                for each in members if len(members) > 1 else ():
                    cycles[each] = block
        elif successor not in entered:
            entered[successor] = lowest[successor] = len(entered)
            unfinished.append(successor)
            is_unfinished.add(successor)
            waiting.append((successor, iter(after[successor])))
        elif successor in is_unfinished:
            lowest[block] = min(lowest[block], entered[successor])
    return finished, cycles
