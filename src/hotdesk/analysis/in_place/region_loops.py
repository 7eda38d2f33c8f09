"""Structured loops: which tensors go round one in the same memory, and which are copied on the way (rules 3 and 4 of `inplace`).

A tensor that may come round larger or smaller than it went in has memory of its own each time. So has one that would be copied,
where loops may yield new memory and an iteration makes some for it alone, or keeps for a condition what it has, or makes some for
several arguments that may share it. Then it gives away the memory that it had (`parallel_copies` has all of these). Its
place stands for one buffer now and another one later, as do the places of arguments that change places among themselves; all that
is made there anew has memory of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hotdesk.analysis.in_place.flow_edges import FlowDecision
from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.loop_entry import givers, lend, why_not_swapped
from hotdesk.analysis.in_place.parallel_copies import coalesced_arguments, cycle_breakers, pointer_moves, stays
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge


class RegionLoop:
    """One loop over regions: decides what they yield to one another, and what enters them.

    Args:
        needed: the values that somebody reads, if only after they were passed on.
        merged: values that have memory of their own, which one of several is copied to.
        anew: whether it may yield memory that an iteration made, where it would copy it back otherwise.

    Attributes:
        decisions: about each edge.
        unsettled: arguments that are passed on memory which loops inside have swapped.
    """

    def __init__(
        self,
        function: TensorProgram,
        places: Places,
        needed: Collection[int],
        loop: OpRecord,
        edges: Sequence[FlowEdge],
        *,
        merged: Collection[int],
        anew: bool,
    ) -> None:
        self._function = function
        self._places = places
        self._needed = needed
        self._loop = loop
        self._merged = merged
        self._anew = anew
        to_arguments = [edge for edge in edges if function.values[edge.target].producer < 0]
        self._blocks = tuple(function.blocks_in(loop))
        self._entering = [edge for edge in to_arguments if edge.op == loop.number]
        self._yielded = [edge for edge in to_arguments if edge.op != loop.number]
        self._ends = [edge for edge in edges if function.values[edge.target].producer >= 0]
        self._skips = {edge.operand: edge.target for edge in self._ends if edge.op == loop.number}
        self._passed: set[int] = set()  # places of what is yielded and not copied
        self.decisions: dict[FlowEdge, FlowDecision] = {}
        self.unsettled: set[int] = set()

    def decide(self) -> None:
        results = self._results()
        swapped = [edge for edge in self._yielded if self._is_swapped_inside(edge)]
        rotating = self._rotation()
        for edge in self._yielded:
            if edge.target in rotating:
                self._pass_uncopied(edge, Reason.ARGUMENT_AS_IS)
        wanted = [e for e in self._yielded if e.target in self._needed or results.get(e.target) in self._needed]
        self._coalesce_arguments(wanted, results)
        for edge in dict.fromkeys([*wanted, *self._yielded]):
            if edge not in self.decisions:
                self._decide_back_edge(edge)
        if self._anew:
            self._move_pointers()
            copied = [edge for edge in self._yielded if self.decisions[edge].copied]
            fresh = cycle_breakers(self._places, self._needed, copied, self._entering, results)
            self._places.move(edge.target for edge in fresh)
        entered = {edge.target for edge in self._entering}
        for edge in self._yielded:
            if self.decisions[edge].copied and not self._places.moves(edge.target):
                self._places.copy_into(edge.target, self._function.ops[edge.op])
                if edge.target not in entered:
                    self._places.know(edge.target, self._function.ops[edge.op])
        for argument, result in results.items():
            self._places.choose([argument], result)
        for edge in self._ends:
            self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
        self._enter_all()
        self.unsettled = {edge.target for edge in swapped if not self.decisions[edge].copied}

    def _is_swapped_inside(self, edge: FlowEdge) -> bool:
        """Whether what is yielded may be in any of several buffers, because of a loop inside that swaps them."""
        made = self._function.values[edge.source].producer >= 0
        return made and self._places.moves(edge.source) and not self._changes_size(edge)

    def _results(self) -> dict[int, int]:
        """The result of the loop that each of its arguments becomes."""
        arguments = {(edge.op, edge.operand): edge.target for edge in self._yielded}
        ends = [edge for edge in self._ends if edge.op != self._loop.number]
        return {arguments[edge.op, edge.operand]: edge.target for edge in ends}

    def _rotation(self) -> frozenset[int]:
        """Arguments that lie, when an iteration ends, each where another one of them lies.

        They change buffers, and each place goes with its argument: what a result of the loop comes from lies in its place. What
        is not to be written stays where it is.
        """
        home = {self._places.place_of(edge.target): edge.target for edge in self._yielded}
        if None in home:
            return frozenset()
        leads = {edge.target: home.get(self._places.place_of(edge.source)) for edge in self._yielded}
        found: set[int] = set()
        seen: set[int] = set()
        for target in leads:
            path: list[int] = []
            step: int | None = target
            while step is not None and step not in seen:
                seen.add(step)
                path.append(step)
                step = leads.get(step)
            if step in path and step != path[-1]:
                turning = path[path.index(step) :]
                kept = any(self._places.why_read_only(one) or self._places.must_stay(one) for one in turning)
                kept = kept or (
                    not self._anew and any(e.source in self._merged and e.target in turning for e in self._yielded)
                )
                found.update(() if kept else turning)
        for target in found:
            giver = leads[target]
            if giver is not None:
                self._places.swaps.add(giver, target)
        self._places.move(found)
        return frozenset(found)

    def _decide_back_edge(self, edge: FlowEdge) -> None:
        """An edge to the next iteration: in place, or copied."""
        places, target = self._places, edge.target
        brought = self._brought(edge)
        if places.locations(edge.source) == places.locations(target):
            self._pass_uncopied(edge, Reason.DIES_HERE) if brought is None else self._settle(edge, brought)
            return
        taken = self._why_not_moved(edge) or self._already_passed(edge)
        if self._changes_size(edge):
            places.move((target,))
            self._pass_own_memory(edge, taken)
            return
        conflict = taken or brought or places.may_join(edge.source, target)
        if conflict is not None and taken is None and self._anew:
            places.move((target,))
            self._pass_own_memory(edge, None)
            return
        self._settle(edge, conflict)

    def _brought(self, edge: FlowEdge) -> Conflict | None:
        """Whether what is yielded is in memory that an op of the iteration brings along, which only `anew` loops may yield."""
        begin = 2 * self._loop.number
        brought = any(self._places.is_brought(place, begin) for place, _ in self._places.locations(edge.source))
        return Conflict(Reason.LIES_ELSEWHERE, edge.op) if brought and not self._anew else None

    def _changes_size(self, edge: FlowEdge) -> bool:
        return self._function.values[edge.source].shape != self._function.values[edge.target].shape

    def _coalesce_arguments(self, yielded: list[FlowEdge], results: dict[int, int]) -> None:
        """Coalesces several arguments that get what an iteration made, if they may have one buffer."""
        free = [edge for edge in yielded if edge not in self.decisions and (self._anew or self._changes_size(edge))]
        for edges in coalesced_arguments(self._places, free, results, self._why_not_moved):
            self._places.move(edge.target for edge in edges)
            for edge in edges:
                if stays(self._places, edge):
                    self._pass_uncopied(edge, Reason.DIES_HERE)
                else:
                    self._pass_own_memory(edge, None)

    def _move_pointers(self) -> None:
        """Moves pointers: memory of arguments that get new memory themselves goes to others that would be copied."""
        copied = [edge for edge in self._yielded if self.decisions[edge].copied]
        kept = [edge for edge in self._yielded if not self.decisions[edge].copied]
        for edge, arguments in pointer_moves(self._function, self._places, copied, kept, self._why_not_moved):
            self._places.move((edge.target,))
            for argument in arguments:
                self._places.swaps.add(argument, edge.target)
            self._pass_uncopied(edge, Reason.ARGUMENT_AS_IS)

    def _already_passed(self, edge: FlowEdge) -> Conflict | None:
        """Whether the memory of what is yielded is passed on already, to another argument."""
        if any(place in self._passed for place, _ in self._places.locations(edge.source)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, self._loop.number)
        return None

    def _pass_uncopied(self, edge: FlowEdge, reason: Reason) -> None:
        """What is yielded is not copied."""
        self._passed.update(place for place, _ in self._places.locations(edge.source))
        self.decisions[edge] = FlowDecision(edge, False, reason)

    def _pass_own_memory(self, edge: FlowEdge, conflict: Conflict | None) -> None:
        """An edge to the next iteration in memory of the tensor's own: what was made for it alone, or a copy."""
        if conflict is None:
            self._places.pass_on(edge.source, edge.target, self._loop)
            self._pass_uncopied(edge, Reason.ARGUMENT_AS_IS)
        else:
            self.decisions[edge] = FlowDecision(edge, True, conflict.reason, conflict.op)

    def _settle(self, edge: FlowEdge, conflict: Conflict | None) -> None:
        if conflict is None:
            self._places.join(edge.source, edge.target)
            self._pass_uncopied(edge, Reason.DIES_HERE)
        else:
            self.decisions[edge] = FlowDecision.of(edge, conflict)
            if edge.op == self._loop.number:
                self._places.know(edge.target, self._loop)

    def _why_not_moved(self, edge: FlowEdge, beside: Collection[int] = ()) -> Conflict | None:
        """Whether what is yielded is only a part, may not be written, was there before the loop, or is another argument's.

        That may be one of those `beside`, which have the same memory passed on.
        """
        if any(extent is not WHOLE for _, extent in self._places.locations(edge.source)):
            return Conflict(Reason.PARTIAL_VIEW)
        reason = self._places.why_read_only(edge.source)
        if reason is not None:
            return Conflict(reason)
        for place, _ in self._places.locations(edge.source):
            if self._places.first_in(place) <= 2 * self._loop.number:
                return Conflict(Reason.READ_LATER, self._loop.number)
            arguments = (a for block in self._blocks for a in self._places.arguments_in(place, block))
            if any(argument != edge.target and argument not in beside for argument in arguments):
                return Conflict(Reason.ALREADY_OVERWRITTEN, self._loop.number)
        return None

    def _enter_all(self) -> None:
        giving = givers(self._places, self._entering)
        together: dict[int, list[FlowEdge]] = {}
        # What nobody reads comes last: it need not be copied for what is read.
        for edge in sorted(self._entering, key=lambda edge: edge.target not in self._needed):
            together.setdefault(self._places.find(edge.target), []).append(edge)
        for edges in together.values():
            self._enter(edges, giving)
        for edge in lend(self._places, [edge for edge in self._entering if self.decisions[edge].copied]):
            self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)

    def _enter(self, edges: list[FlowEdge], giving: frozenset[int]) -> None:
        """Edges into the first iteration, to one place: in place, or copied in front of the loop."""
        places = self._places
        begins: list[int] = []
        for edge in edges:
            if self._is_idle(edge):
                self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
                continue
            conflict = (
                self._in_parts(edge)
                or places.may_join(edge.source, edge.target)
                or why_not_swapped(self._function, places, edge, giving)
            )
            if conflict is None and len(edges) > 1 and not places.is_written(edge.target):
                begins.append(edge.source)
                self.decisions[edge] = FlowDecision.of(edge, None)
            else:
                self._settle(edge, conflict)
        if begins:
            places.begin_in(begins, edges[0].target)

    def _in_parts(self, edge: FlowEdge) -> Conflict | None:
        """Whether what enters is a part or one of several, in which nothing can be made: iterations would yield new memory."""
        made = not self._anew and self._places.is_made_in(edge.target) and not self._places.moves(edge.target)
        return Conflict(Reason.PARTIAL_VIEW) if made and self._places.place_of(edge.source) is None else None

    def _is_idle(self, edge: FlowEdge) -> bool:
        """Whether what enters is no result, and its memory neither read nor written: what is passed on takes its place."""
        if any(value in self._needed for value in (edge.target, self._skips.get(edge.operand))):
            return False
        if any(extent is not WHOLE for _, extent in self._places.locations(edge.source)):  # of another layout
            return False
        return self._places.moves(edge.target) and not self._places.is_written_later(edge.target)
