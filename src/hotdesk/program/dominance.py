"""Which blocks every path to a block passes, and which blocks of a region run in turns.

A block also dominates the blocks inside of its ops and of the ops in blocks that it dominates. What no path reaches is dominated
by what is around its region alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hotdesk.graphs import immediate_dominators, postorder, reached, spans, strong_components
from hotdesk.program.records import FUNCTION, Block, FunctionIR, Op, Value


class Dominance:
    """Answers for the blocks of a function, by number."""

    def __init__(self, program: FunctionIR[Op, Value]) -> None:
        self._program = program
        self._above: list[int] = [-1] * len(program.blocks)
        self._depth: list[int] = [0] * len(program.blocks)
        self._cycles: dict[int, int] = {}
        self._ends: dict[tuple[int, int], _Postdominators | None] = {}
        for block in program.blocks:
            region = program.region_of(block.number)
            if block.number == region[0]:
                self._region(region, -1 if block.parent == FUNCTION else program.ops[block.parent].block)
        self._first, self._last = spans(self._above)

    def cycle(self, block: int) -> int:
        """A number that a block has in common with those of its region that lead to it and come after it; -1 for none."""
        return self._cycles.get(block, -1)

    def returns_without(self, block: int, avoided: int) -> bool:
        """Whether a path leads from a block to itself within its region that does not pass another one."""
        blocks = self._program.blocks
        ways = reached([block], lambda each: [to for to in blocks[each].successors if to != avoided])
        return any(block in blocks[each].successors for each in ways)

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
        """The lowest block that dominates all of these; the function's first one if none does, since no path reaches one."""
        rest = iter(blocks)
        found = next(rest)
        for other in rest:
            while found != other:
                if found < 0 or other < 0:
                    return 0
                lower, upper = self._depth[found], self._depth[other]
                if lower >= upper:
                    found = self._above[found]
                if upper >= lower:
                    other = self._above[other]
        return found

    def is_defined(self, block: int, order: int, other: int, later: int) -> bool:
        """Whether what is defined in a block at a time `order` is there at time `later` in another one.

        Op `n` runs at time `2n`, and what it makes is there at `2n + 1`; what is in its regions runs in between.
        """
        if block == other:
            return order <= later
        if not self.dominates(block, other):
            return False
        around = self._program.within_block(other, block)
        return around is None or order <= 2 * around

    def find_certain(self, block: int, wanted: Iterable[int]) -> int:
        """The last block in which control certainly arrives, once, after it has come to `block`, and that dominates one of these.

        It is `block` itself if that does not dominate all of these, or control may never come to the end of the region.
        """
        below = self._after_all(block)
        found = block
        if below is None or block in self._cycles:
            return found
        for each in wanted:
            if not self.dominates(block, each):
                return block
            while each != block and not (each not in self._cycles and below.is_certain(block, each)):
                each = self._above[each]
            if self._depth[each] > self._depth[found]:
                found = each
        return found

    def comes_once(self, block: int, other: int) -> bool:
        """Whether control comes to a block, and after it to another one of its region, once each, and to that by no other way."""
        below = self._after_all(block)
        once = block not in self._cycles and other not in self._cycles and self.dominates(block, other)
        return once and below is not None and below.is_certain(block, other)

    def top(self, block: int) -> int:
        """The block of the function that a block is, or is inside of."""
        for op in self._program.around(block):
            block = op.block
        return block

    def _after_all(self, block: int) -> _Postdominators | None:
        record = self._program.blocks[block]
        region = record.parent, record.region
        if region not in self._ends:
            self._ends[region] = _Postdominators.of([self._program.blocks[b] for b in self._program.region_of(block)])
        return self._ends[region]

    def _region(self, blocks: Sequence[int], around: int) -> None:
        """Orders the blocks of a region, whose parents are ordered before."""
        if len(blocks) == 1 and not self._program.blocks[blocks[0]].branches:
            self._above[blocks[0]] = around
            self._depth[blocks[0]] = 0 if around < 0 else self._depth[around] + 1
            return
        places = {block: i for i, block in enumerate(blocks)}
        after = [[places[successor] for successor in self._program.blocks[block].successors] for block in blocks]
        finished = list(postorder([0], after.__getitem__))
        dominators = immediate_dominators(after, finished)
        for cycle in strong_components({i: after[i] for i in finished}):
            if len(cycle) > 1 or cycle[0] in after[cycle[0]]:
                self._cycles.update((blocks[i], blocks[cycle[0]]) for i in cycle)
        for i in [*reversed(finished), *(i for i in range(len(blocks)) if i not in dominators)]:
            above = dominators.get(i, i)
            self._above[blocks[i]] = around if above == i else blocks[above]
            upper = self._above[blocks[i]]
            self._depth[blocks[i]] = 0 if upper < 0 else self._depth[upper] + 1


class _Postdominators:
    """Which blocks of a region every path from a block to the region's end passes, by the dominators of the reversed graph."""

    def __init__(self, first: dict[int, int], last: dict[int, int]) -> None:
        self._first, self._last = first, last

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _Postdominators | None:
        """None if not every block leads to the end of the region."""
        places = {block.number: i for i, block in enumerate(blocks, 1)}  # 0 is the end
        before: list[list[int]] = [[] for _ in range(len(blocks) + 1)]
        for block in blocks:
            for successor in set(block.successors):
                before[places[successor]].append(places[block.number])
            if not block.branches:
                before[0].append(places[block.number])
        finished = list(postorder([0], before.__getitem__))
        if len(finished) <= len(blocks):
            return None
        above = immediate_dominators(before, finished)
        first, last = spans([-1 if i == 0 else above[i] for i in range(len(before))])
        return cls({b: first[i] for b, i in places.items()}, {b: last[i] for b, i in places.items()})

    def is_certain(self, block: int, other: int) -> bool:
        """Whether every path from a block passes another one, or that is the same."""
        return self._first[other] <= self._first[block] <= self._last[other]
