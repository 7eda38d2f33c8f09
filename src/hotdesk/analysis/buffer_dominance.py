"""Which blocks every path to a block passes, and which blocks of a region run in turns.

Blocks of one region are ordered by their immediate dominators, found by the iteration over reverse postorder of Cooper, Harvey
and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). A block also dominates the blocks inside of its ops and of the ops in
blocks that it dominates. What no path reaches is dominated by what is around its region alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hotdesk.analysis.buffer_program import FUNCTION, BufferBlock, BufferProgram


class Dominance:
    """Answers for the blocks of a function, by number."""

    def __init__(self, program: BufferProgram) -> None:
        self._program = program
        self._above: list[int] = [-1] * len(program.blocks)
        self._depth: list[int] = [0] * len(program.blocks)
        self._cycles: list[int] = [-1] * len(program.blocks)
        regions: dict[tuple[int, int], list[BufferBlock]] = {}
        for block in program.blocks:
            regions.setdefault((block.parent, block.region), []).append(block)
        for (parent, _), blocks in regions.items():
            around = -1 if parent == FUNCTION else program.ops[parent].block
            self._region([block.number for block in blocks], around)
        self._first, self._last = _spans(self._above)

    def cycle(self, block: int) -> int:
        """A number that a block has in common with those of its region that lead to it and come after it; -1 for none."""
        return self._cycles[block]

    def returns_without(self, block: int, avoided: int) -> bool:
        """Whether a path leads from a block to itself within its region that does not pass another one."""
        seen: set[int] = set()
        waiting = [block]
        while waiting:
            for successor, _ in self._program.blocks[waiting.pop()].branches:
                if successor == block:
                    return True
                if successor != avoided and successor not in seen:
                    seen.add(successor)
                    waiting.append(successor)
        return False

    def depth(self, block: int) -> int:
        """How many other blocks dominate a block."""
        return self._depth[block]

    def dominates(self, above: int, below: int) -> bool:
        """Whether whoever comes to a block has come through another one, or that is the same."""
        return self._first[above] <= self._first[below] <= self._last[above]

    def upwards(self, block: int) -> Iterator[int]:
        """A block and those that dominate it, from below: those of its region, then those around."""
        while block >= 0:
            yield block
            block = self._above[block]

    def common(self, blocks: Iterable[int]) -> int:
        """The lowest block that dominates all of these."""
        rest = iter(blocks)
        found = next(rest)
        for other in rest:
            while found != other:
                lower, upper = self._depth[found], self._depth[other]
                if lower >= upper:
                    found = self._above[found]
                if upper >= lower:
                    other = self._above[other]
        return found

    def within(self, op: int, block: int) -> int | None:
        """The op of a block that is, or has inside, another op; None if the block has none."""
        while (here := self._program.ops[op].block) != block:
            op = self._program.blocks[here].parent
            if op == FUNCTION:
                return None
        return op

    def _region(self, blocks: Sequence[int], around: int) -> None:
        """Orders the blocks of a region, whose parents are ordered before."""
        places = {block: i for i, block in enumerate(blocks)}
        after = [[places[successor] for successor, _ in self._program.blocks[block].branches] for block in blocks]
        finished, cycles = _components(after)
        dominators = _immediate_dominators(after, finished)
        for i in [*reversed(finished), *(i for i in range(len(blocks)) if i not in dominators)]:
            above = dominators.get(i, i)
            self._above[blocks[i]] = around if above == i else blocks[above]
            upper = self._above[blocks[i]]
            self._depth[blocks[i]] = 0 if upper < 0 else self._depth[upper] + 1
            self._cycles[blocks[i]] = blocks[cycles[i]] if cycles[i] >= 0 else -1


def _spans(above: Sequence[int]) -> tuple[list[int], list[int]]:
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


def _immediate_dominators(after: list[list[int]], finished: list[int]) -> dict[int, int]:
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


def _components(after: list[list[int]]) -> tuple[list[int], list[int]]:
    """The blocks that are reached from the first, in postorder, and of each block the first one of its cycle, or -1.

    Strongly connected components, by Tarjan (1972).
    """
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
