"""The edges on which control flow passes tensors on: around loops and into them, around loops of blocks, forward."""

from __future__ import annotations

from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.models.facts import RESULTS
from hotdesk.program.records import FlowEdge


class FlowEdges:
    """The edges of a function.

    Attributes:
        around: edges to arguments of a loop's regions, and to the results that they become, by the loop's number.
        heads: branches to the first block of a loop of blocks, by its number.
        forward: other edges, by target.
        choices: those of ops that choose one of their operands' memory, by the result.
    """

    def __init__(self, function: TensorProgram) -> None:
        self._function = function
        heads = function.heads()
        self._by_op: dict[int, frozenset[tuple[int, int]]] = {}
        self.around: dict[int, list[FlowEdge]] = {}
        self.heads: dict[int, list[FlowEdge]] = {}
        self.forward: dict[int, list[FlowEdge]] = {}
        self.choices: dict[int, list[FlowEdge]] = {}
        for edge in function.flows:
            loop, head = self._loop(edge), function.values[edge.target].block
            if loop is not None:
                self.around.setdefault(loop, []).append(edge)
            elif self.is_argument(edge.target) and head in heads:
                self.heads.setdefault(head, []).append(edge)
            else:
                self.forward.setdefault(edge.target, []).append(edge)
        for op in function.ops:
            for operand, result in op.facts.choices:
                edge = FlowEdge(op.number, operand, op.operands[operand], op.results[result])
                self.choices.setdefault(edge.target, []).append(edge)

    def is_argument(self, value: int) -> bool:
        """Whether a value is an argument of a block."""
        return self._function.values[value].producer < 0

    def to(self, target: int) -> list[FlowEdge]:
        """The edges to a value that is one of several, for a condition."""
        return [*self.forward.get(target, ()), *self.choices.get(target, ())]

    def _loop(self, edge: FlowEdge) -> int | None:
        """The loop whose argument an edge leads to, or whose result the argument becomes."""
        target = self._function.values[edge.target]
        if target.producer >= 0:
            return target.producer if (RESULTS, target.position) in self._carried(target.producer) else None
        block = self._function.blocks[target.block]
        if block.parent < 0 or self._function.region_of(block.number)[0] != block.number:
            return None
        return block.parent if (block.region, target.position) in self._carried(block.parent) else None

    def _carried(self, number: int) -> frozenset[tuple[int, int]]:
        """What an op brings round: arguments of its regions that repeat, by region and number, and results that these become."""
        if number not in self._by_op:
            flow = self._function.ops[number].flow
            found: set[tuple[int, int]] = set()
            if flow is not None:
                repeated = {region for _, region in flow.follows}
                found.update((region, argument) for _, region, argument in flow.entries if region in repeated)
                found.update((RESULTS, result) for _, result in flow.carried)
            self._by_op[number] = frozenset(found)
        return self._by_op[number]
