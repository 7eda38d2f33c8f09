"""Merges that need a buffer of their own (`merges`): phis and selects that cannot be coalesced with all their operands.

1. A function is analysed with nothing merged. Such a value may lie in several places; a copy that is due to that is one of a
   result of the function, which must have memory of its own, or one of what a loop yields, which must lie in one place.
2. It is merged, with those that it is one of, if that copy follows each time the value is made: at the end of the function and
   not in a loop, or at the end of the block that makes it. So a copy on some paths takes the place of a copy on all of them. What
   it is one of only at times, though it is made each time, is not merged with it.
3. The function is analysed again (`premise_trials`). A copy is not spared if it is still there, if all that becomes the merged
   values is copied too, or if copies to these would destroy something. If in any block more bytes are copied that were not before
   than are not any more, besides the copies of rule 1, nothing is merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hotdesk.analysis.in_place.copied_bytes import copied_results
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis, Premises
from hotdesk.analysis.in_place.merges import Apart
from hotdesk.analysis.tensors.known_sizes import KnownSizes
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.graphs import reached
from hotdesk.models.control_flow import has_ways
from hotdesk.program.records import FlowEdge
from hotdesk.sizes.size import Size

Copied = tuple[str, int, int]
"""What is copied: a tied `operand` (its op, its number), a `flow` (the same) or a `result` of the function (its number, 0)."""


class MergeTrial:
    """The merges that are tried on top of an analysis without any (rules in the module docstring).

    Attributes:
        proposed: copies that are due to values which may be merged, each with these.
    """

    attempts = 4

    def __init__(self, first: InPlaceAnalysis) -> None:
        self._first = first
        self.proposed = _Behind(first).causes()
        self._before = _copies(first) if self.proposed else frozenset[Copied]()

    def premises(self, proposed: Mapping[Copied, frozenset[int]]) -> Premises:
        return replace(self._first.premises, merged=_apart(self._first.function, proposed))

    def worth_it(
        self, proposed: Mapping[Copied, frozenset[int]], found: InPlaceAnalysis
    ) -> Mapping[Copied, frozenset[int]]:
        after, there = _copies(found), _lying_there(found)
        return {
            copied: targets
            for copied, targets in proposed.items()
            if copied not in after and targets <= found.merged and _saves(targets, there)
        }

    def is_better(self, proposed: Mapping[Copied, frozenset[int]], found: InPlaceAnalysis) -> bool:
        after = _copies(found)
        return _costs_no_more(self._first.function, after - self._before, self._before - after - proposed.keys())


def _apart(function: TensorProgram, causes: Mapping[Copied, frozenset[int]]) -> dict[int, Apart]:
    """What memory values stay out of, because of the copies that these cause: of a result, or of what a loop yields."""
    apart: dict[int, Apart] = {}
    for (kind, number, _), targets in causes.items():
        loop = function.blocks[function.ops[number].block].parent if kind == "flow" else -1
        for target in targets:
            known = apart.get(target, Apart())
            apart[target] = Apart(known.given or kind == "result", max(known.loop, loop))
    return apart


def _lying_there(analysis: InPlaceAnalysis) -> dict[int, list[int]]:
    """For each value, those that become it and lie where it does already."""
    found: dict[int, list[int]] = {}
    for edge, conflict in analysis.copies.items():
        if conflict is None:
            found.setdefault(edge.target, []).append(edge.source)
    return found


def _saves(targets: frozenset[int], there: Mapping[int, Sequence[int]]) -> bool:
    """Whether anything that becomes one of these values lies where it does already, as `there` says."""
    return any(source not in targets for target in targets for source in there.get(target, ()))


def _copies(analysis: InPlaceAnalysis) -> frozenset[Copied]:
    """All that is copied, but for what becomes a merged value."""
    found: set[Copied] = {("operand", d.op, d.operand) for d in analysis.decisions if not (d.in_place or d.fresh)}
    for edge, conflict in analysis.copies.items():
        if conflict is not None and edge.target not in analysis.merged:
            found.add(("flow", edge.op, edge.operand))
    return frozenset(found) | {("result", number, 0) for number in copied_results(analysis)}


def _costs_no_more(function: TensorProgram, more: frozenset[Copied], less: frozenset[Copied]) -> bool:
    """Whether in no block more bytes are copied, where some copies come in the place of others."""
    copied: Counter[tuple[int, Size]] = Counter()
    for each in more | less:
        block, value = _copied_in(function, each)
        size = function.values[value].bytes
        number, unit = (size, 1) if isinstance(size, int) else (1, size)
        copied[block, unit] += number if each in more else -number
    return all(number <= 0 for number in copied.values())


def _copied_in(function: TensorProgram, copied: Copied) -> tuple[int, int]:
    """The block in which something is copied, and what."""
    kind, number, operand = copied
    op = function.end if kind == "result" else function.ops[number]
    return op.block, op.operands[number if kind == "result" else operand]


class _Behind:
    """The values, each one of several, because of which others lie in several places."""

    def __init__(self, analysis: InPlaceAnalysis) -> None:
        self._function = analysis.function
        self._analysis = analysis
        self._dominance = analysis.readers.dominance
        self._edges = analysis.edges
        self._sizes = KnownSizes(analysis.function)
        self._passed: dict[int, list[FlowEdge]] = {}
        for edges in (*self._edges.around.values(), *self._edges.heads.values()):
            for edge in edges:
                self._passed.setdefault(edge.target, []).append(edge)

    def causes(self) -> Mapping[Copied, frozenset[int]]:
        """Copies that are due to values which may be merged, each with these."""
        found: dict[Copied, frozenset[int]] = {}
        if not (self._edges.forward or self._edges.choices):
            return found
        for number in copied_results(self._analysis):
            self._add(found, ("result", number, 0), self._function.end.operands[number], 0)
        for edges in self._edges.around.values():
            for edge in edges:
                if self._analysis.copies[edge] is not None and self._edges.is_argument(edge.target):
                    self._add(found, ("flow", edge.op, edge.operand), edge.source, self._function.ops[edge.op].block)
        return found

    def _add(self, found: dict[Copied, frozenset[int]], copied: Copied, value: int, block: int) -> None:
        targets = self._targets(value)
        if targets and all(self._may_be_merged(target) and self._follows(target, block) for target in targets):
            found[copied] = frozenset(targets)

    def _targets(self, value: int) -> set[int]:
        """The values, each one of several, that a value in several places goes back to; none if it is not in several."""
        places, root = self._analysis.places, self._analysis.readers.root

        def sources(each: int) -> Iterator[int]:
            passed = [(edge.source, edge.op) for edge in (*self._edges.to(each), *self._passed.get(each, ()))]
            taken = (root[v] for v, op in (*passed, *self._overwritten(each)) if self._is_taken(root[v], op))
            return (source for source in taken if places.place_of(source) is None)

        starts = [root[value]] if places.place_of(root[value]) is None else []
        return {each for each in reached(starts, sources) if self._edges.to(each)}

    def _is_taken(self, value: int, number: int) -> bool:
        """Whether an op passes a value on each time it is made: else what becomes it would be copied for nothing at times."""
        block = self._function.ops[number].block
        return self._follows(value, block) and len(self._function.blocks[block].successors) < 2

    def _overwritten(self, value: int) -> list[tuple[int, int]]:
        """The operand that a result is written over, and the op."""
        made = self._function.tie_to(value)
        return [] if made is None else [(made[0].operands[made[1]], made[0].number)]

    def _may_be_merged(self, target: int) -> bool:
        """Whether a value is of one size that is known everywhere, and what becomes it can be copied on its way alone."""
        function = self._function
        ops = [function.ops[edge.op] for edge in self._edges.forward.get(target, ())]
        apart = all(has_ways(op.operation) or len(function.blocks[op.block].successors) < 2 for op in ops)
        shapes = {function.values[edge.source].shape for edge in self._edges.to(target)}
        return apart and shapes == {function.values[target].shape} and self._sizes.are_known(target)

    def _follows(self, target: int, block: int) -> bool:
        """Whether the end of `block` is reached once, or the end of the function, each time that a value is made."""
        blocks, ops = self._function.blocks, self._function.ops
        home = self._function.values[target].block
        while home != block:
            if self._dominance.cycle(home) >= 0:
                return False
            parent = blocks[home].parent
            if parent < 0:
                return block == 0
            flow = ops[parent].flow
            if flow is None or flow.follows or flow.parallel:
                return False
            home = ops[parent].block
        return True
