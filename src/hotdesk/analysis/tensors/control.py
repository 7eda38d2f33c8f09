"""Which parts of a function may run after a point of it, and what must have run before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hotdesk.analysis.tensors.program import BlockRecord, FunctionRecord


@dataclass(frozen=True, slots=True)
class Loop:
    """Ops that may have run again: those numbered from `first` to before `end`; the number of the op, if all run at one time."""

    first: int
    end: int
    parallel: int | None = None


class Control:
    """Questions about the tree of regions and the blocks in them."""

    def __init__(self, function: FunctionRecord) -> None:
        self._function = function
        self._regions: dict[tuple[int, int], list[BlockRecord]] = {}
        for block in function.blocks:
            self._regions.setdefault((block.parent, block.region), []).append(block)
        self.branches = any(len(blocks) > 1 for blocks in self._regions.values())
        self._before: dict[int, list[int]] = {}
        for block in function.blocks:
            for successor in block.successors:
                self._before.setdefault(successor, []).append(block.number)
        self._reach: dict[tuple[int, int | None], tuple[int, ...]] = {}
        self._dominators: dict[int, frozenset[int]] = {}

    def reachable(self, block: int, after: int, home: int) -> Iterator[tuple[int, int, Loop | None]]:
        """Ranges of op numbers that may run after number `after` in `block`, without passing block `home`, which defines a value.

        Each comes with the ops that may have run again by then, or None. From the inside out.
        """
        function = self._function
        while True:
            record = function.blocks[block]
            yield after, record.end, None
            siblings = self._regions[(record.parent, record.region)]
            here = any(sibling.number == home for sibling in siblings)
            if len(siblings) > 1:
                loop = Loop(siblings[0].first, siblings[-1].end)
                for other in self._reached(block, home if here else None):
                    blocks = function.blocks[other]
                    yield blocks.first, blocks.end, loop
            if here or record.parent < 0:
                return
            flow = function.ops[record.parent].flow
            assert flow is not None
            for region in _following(flow.follows, record.region):
                blocks = self._regions.get((record.parent, region), [])
                if any(other.number == home for other in blocks):
                    continue
                parallel = record.parent if flow.parallel else None
                yield blocks[0].first, blocks[-1].end, Loop(record.parent, function.ops[record.parent].end, parallel)
            after = function.ops[record.parent].end
            block = function.ops[record.parent].block

    def _reached(self, block: int, avoided: int | None) -> tuple[int, ...]:
        """Blocks that control may reach from the end of a block, without entering `avoided`."""
        key = (block, avoided)
        if key not in self._reach:
            seen: dict[int, None] = {}
            waiting = list(self._function.blocks[block].successors)
            while waiting:
                each = waiting.pop()
                if each not in seen and each != avoided:
                    seen[each] = None
                    waiting.extend(self._function.blocks[each].successors)
            self._reach[key] = tuple(seen)
        return self._reach[key]

    def dominates(self, block: int, order: int, other: int, later: int) -> bool:
        """Whether what is defined at `order` in `block` is defined at `later` in the block `other`."""
        if block == other:
            return order <= later
        function = self._function
        here = function.blocks[block]
        record = function.blocks[other]
        while (record.parent, record.region) != (here.parent, here.region):
            if record.parent < 0:
                return False
            later = 2 * record.parent
            record = function.blocks[function.ops[record.parent].block]
        if record.number == block:
            return order <= later
        return block in self._dominating(record)

    def common(self, a: int, b: int) -> int:
        """The last block that control passes through on every way to either of two blocks, from inside any region."""
        blocks = self._function.blocks
        while (blocks[a].parent, blocks[a].region) != (blocks[b].parent, blocks[b].region):
            if blocks[a].parent > blocks[b].parent or blocks[b].parent < 0:
                a = self._function.ops[blocks[a].parent].block
            elif blocks[b].parent > blocks[a].parent or blocks[a].parent < 0:
                b = self._function.ops[blocks[b].parent].block
            else:
                a = b = self._function.ops[blocks[a].parent].block
        if a == b:
            return a
        both = self._dominating(blocks[a]) & self._dominating(blocks[b])
        return max(both, key=lambda block: len(self._dominating(blocks[block])))

    def is_entry(self, block: int) -> bool:
        """Whether a block is the first one of its region."""
        record = self._function.blocks[block]
        return self._regions[(record.parent, record.region)][0].number == block

    def end_of_region(self, block: int) -> int:
        """The number after the last op of the region that a block is in."""
        record = self._function.blocks[block]
        return self._regions[(record.parent, record.region)][-1].end

    def heads(self, block: int) -> bool:
        """Whether a block of a region with several is branched to from itself or a block behind it."""
        return any(block <= other for other in self._before.get(block, ()))

    def repeats(self, block: int) -> bool:
        """Whether a block of a region with several may run again after itself."""
        return block in self._reached(block, None)

    def _dominating(self, block: BlockRecord) -> frozenset[int]:
        """The blocks of its region that every path to a block passes."""
        if block.number not in self._dominators:
            siblings = self._regions[(block.parent, block.region)]
            everything = frozenset(b.number for b in siblings)
            found = {b.number: everything for b in siblings}
            entry = siblings[0].number
            found[entry] = frozenset({entry})
            changed = True
            while changed:
                changed = False
                for b in siblings[1:]:
                    ways = [found[p] for p in self._before.get(b.number, [])]
                    new = everything
                    for way in ways:
                        new &= way
                    new |= {b.number}
                    changed |= new != found[b.number]
                    found[b.number] = new
            self._dominators.update(found)
        return self._dominators[block.number]


def _following(follows: frozenset[tuple[int, int]], region: int) -> list[int]:
    """The regions that may run after a region, at once or later."""
    seen: dict[int, None] = {}
    waiting = [region]
    while waiting:
        each = waiting.pop()
        for first, second in sorted(follows):
            if first == each and second not in seen:
                seen[second] = None
                waiting.append(second)
    return list(seen)
