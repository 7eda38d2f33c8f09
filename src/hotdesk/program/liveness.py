"""What may run after a point of a function before a value is defined again: where the value may still be wanted.

Liveness is asked, not solved for: of each value that is live at a point, some use may run after it. Blocks and regions that may
run are found by what reaches what, once for each block, as in Boissinot, Hack, Grund, Dupont de Dinechin and Rastello, "Fast
Liveness Checking for SSA-Form Programs" (2008); uses are looked up among the ops of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hotdesk.graphs import reached
from hotdesk.program.records import FUNCTION, FunctionIR, Op, Value


@dataclass(frozen=True, slots=True)
class Loop:
    """Ops that may have run again: those numbered from `first` to before `end`; the number of the op, if all run at one time."""

    first: int
    end: int
    parallel: int | None = None


class Liveness:
    """Answers for one function."""

    def __init__(self, program: FunctionIR[Op, Value]) -> None:
        self._program = program
        self._reached: dict[tuple[int, int | None], tuple[int, ...]] = {}

    def after(self, block: int, op: int, home: int) -> Iterator[tuple[int, int, Loop | None]]:
        """Ranges of op numbers that may run after number `op` in `block`, without passing block `home`, which defines a value.

        Each comes with the ops that may have run again by then, or None. From the inside out.
        """
        program = self._program
        while True:
            record, region = program.blocks[block], program.region_of(block)
            yield op, record.end, None
            here = home in region
            if len(region) > 1:
                loop = Loop(program.blocks[region[0]].first, program.blocks[region[-1]].end)
                for other in self.reached(block, home if here else None):
                    yield program.blocks[other].first, program.blocks[other].end, loop
            if here or record.parent == FUNCTION:
                return
            around = program.ops[record.parent]
            flow = around.flow
            assert flow is not None
            for other in program.following(around, record.region):
                blocks = around.regions[other]
                if home not in blocks:
                    loop = Loop(around.number, around.end, around.number if flow.parallel else None)
                    yield program.blocks[blocks[0]].first, program.blocks[blocks[-1]].end, loop
            op, block = around.end, around.block

    def reached(self, block: int, avoided: int | None = None) -> tuple[int, ...]:
        """Blocks that control may reach from the end of a block, without entering `avoided`."""
        key = (block, avoided)
        if key not in self._reached:
            self._reached[key] = self._search(block, avoided)
        return self._reached[key]

    def _search(self, block: int, avoided: int | None) -> tuple[int, ...]:
        def following(each: int) -> Iterator[int]:
            return (successor for successor in self._program.blocks[each].successors if successor != avoided)

        return tuple(reached(following(block), following))
