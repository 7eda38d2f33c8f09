"""Structured loops: which tensors go round one in the same memory, and which are copied on the way (rules 3 and 4 of `inplace`).

What an iteration yields becomes the loop's arguments, all of them at once: a parallel copy. What lies where its argument lies is
not copied, nor is what can come to lie there. Of the rest:

1. *Rotation*: arguments that only change places among themselves change buffers instead.

2. *Coalesced*: arguments, and the results of the loop that they become, are in one buffer where an iteration yields one tensor
   for all of them and nobody writes over one while another is wanted. They may begin in memory of different tensors.

       scf.for iter_args(%x, %y) {           %z is new memory in each iteration, and in the next one both %x's and %y's:
         %z = f(%x, %y) outs(%e)       ->    nothing is copied
         scf.yield %z, %z }

3. *New memory*: what an iteration made for one argument alone is passed on, where loops may yield such; so it is in any case
   where what comes round may be larger or smaller than what went in.

4. *Moves of pointers*: an argument gets new memory, and what it had becomes another argument's, whose own may be passed on in
   turn. An argument whose memory is handed to nobody is dropped.

       scf.for iter_args(%x, %y) {           in the next iteration %x has the memory that %y has now, and %y has %z's
         %z = f(%x, %y) outs(%e)       ->
         scf.yield %y, %z }

5. *Cycles* of the copies left, each of which overwrites what another one still has to read, are broken by one argument that has
   new memory in each iteration: what is set aside for it is not copied again.

       scf.for iter_args(%y, %z) {                %n = copy of %k     set aside, since %y's memory is overwritten next
         %k = arith.select %c, %y, %x        ->   copy %z to %y's
         scf.yield %z, %k }                       copy %n to %z's     not if the next iteration takes %n for its %z

The place of an argument that gets other memory stands for one buffer now and another one later; all that is made there anew has
memory of its own.

Coalescing of phis and sequentialization of parallel copies after Boissinot et al., "Revisiting out-of-SSA translation for
correctness, code quality and efficiency" (CGO 2009); here a cycle costs a buffer, not a temporary for each run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.loop_phis import LoopPhis
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.explain import Reason
from hotdesk.graphs import strong_components
from hotdesk.program.parallel_copies import cycle_breakers, waited_for
from hotdesk.program.records import FlowEdge


class RegionLoop(LoopPhis):
    """One loop over regions: decides what they yield to one another, and what enters them.

    Args:
        needed: the values that somebody reads, if only after they were passed on.
        merged: values that have memory of their own, which one of several is copied to.
        anew: whether it may yield memory that an iteration made, where it would copy it back otherwise.

    Attributes:
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
        to_arguments = [edge for edge in edges if function.values[edge.target].producer < 0]
        entering = [edge for edge in to_arguments if edge.op == loop.number]
        super().__init__(function, places, entering, [edge for edge in to_arguments if edge.op != loop.number])
        self._needed = needed
        self._loop = loop
        self._merged = merged
        self._anew = anew
        self._blocks = tuple(function.blocks_in(loop))
        self._ends = [edge for edge in edges if function.values[edge.target].producer >= 0]
        self._skips = {edge.operand: edge.target for edge in self._ends if edge.op == loop.number}
        arguments = {(edge.op, edge.operand): edge.target for edge in self._back}
        # The result of the loop that each argument becomes.
        self._results = {arguments[edge.op, edge.operand]: edge.target for edge in self._ends if edge.op != loop.number}
        self._passed: set[int] = set()  # places of what is yielded and not copied
        self.unsettled: set[int] = set()

    def decide(self) -> None:
        swapped = [edge for edge in self._back if self._is_swapped_inside(edge)]
        rotating = self._rotation()
        for edge in self._back:
            if edge.target in rotating:
                self._pass_uncopied(edge)
        wanted = [e for e in self._back if e.target in self._needed or self._results.get(e.target) in self._needed]
        self._coalesce_arguments(wanted)
        for edge in dict.fromkeys([*wanted, *self._back]):
            if edge not in self.copies:
                self._decide_back_edge(edge)
        if self._anew:
            self._move_pointers()
            self._break_cycles()
        self._copy_back()
        for argument, result in self._results.items():
            self._places.choose([argument], result)
        self.copies.update(dict.fromkeys(self._ends))
        self._enter_all()
        self.unsettled = {edge.target for edge in swapped if self.copies[edge] is None}

    # The parallel copy at the end of an iteration

    def _is_swapped_inside(self, edge: FlowEdge) -> bool:
        """Whether what is yielded may be in any of several buffers, because of a loop inside that swaps them."""
        made = self._function.values[edge.source].producer >= 0
        return made and self._places.moves(edge.source) and not self._changes_size(edge)

    def _rotation(self) -> frozenset[int]:
        """Arguments that lie, when an iteration ends, each where another one of them lies.

        They change buffers, and each place goes with its argument: what a result of the loop comes from lies in its place. What
        is not to be written stays where it is.
        """
        home = {self._places.place_of(edge.target): edge.target for edge in self._back}
        if None in home:
            return frozenset()
        givers = {edge.target: home.get(self._places.place_of(edge.source)) for edge in self._back}
        found: set[int] = set()
        for turning in strong_components({to: [] if giver is None else [giver] for to, giver in givers.items()}):
            if len(turning) > 1 and not self._must_keep(turning):
                found.update(turning)
        for target in found:
            giver = givers[target]
            if giver is not None:
                self._places.swaps.add(giver, target)
        self._places.move(found)
        return frozenset(found)

    def _must_keep(self, arguments: Sequence[int]) -> bool:
        """Whether one of several arguments must stay in its buffer."""
        if any(self._places.why_read_only(one) or self._places.must_stay(one) for one in arguments):
            return True
        return not self._anew and any(e.source in self._merged and e.target in arguments for e in self._back)

    def _coalesce_arguments(self, yielded: Sequence[FlowEdge]) -> None:
        """Coalesces several arguments that get what an iteration made, if they may have one buffer."""
        alike: dict[tuple[int, int], list[FlowEdge]] = {}
        for edge in yielded:
            place = self._places.place_of(edge.source)
            free = edge not in self.copies and (self._anew or self._changes_size(edge))
            if free and place is not None and self._is_apart(edge):
                alike.setdefault((edge.op, place), []).append(edge)
        for edges in alike.values():
            if len(edges) > 1:
                self._coalesce(edges)

    def _coalesce(self, edges: Sequence[FlowEdge]) -> None:
        """Coalesces the arguments that edges lead to, which pass on one tensor."""
        targets = {edge.target for edge in edges}
        free = [edge for edge in edges if self._why_not_moved(edge, targets) is None]
        if len(free) < 2:
            return
        first, *others = sorted(free, key=lambda e: (not self._stays(e), self._places.is_written(e.target)))
        found = [first, *(other for other in others if self._put_together(first, other))]
        if len(found) < 2:
            return
        self._places.move(edge.target for edge in found)
        for edge in found:
            if self._stays(edge):
                self._pass_uncopied(edge)
            else:
                self._pass_own_memory(edge)

    def _put_together(self, first: FlowEdge, other: FlowEdge) -> bool:
        """Whether the target of an edge, and the result that it becomes, lie with those of another one from now on."""
        here, there = self._targets(first), self._targets(other)
        if not all(self._places.may_meet(a, b) for a in here for b in there):
            return False
        for a, b in zip(here, there, strict=False):
            self._places.join(a, b)
        return True

    def _is_apart(self, edge: FlowEdge) -> bool:
        """Whether the target of an edge, and the result that it becomes, each have a place that may be written and gives no
        memory away: of its own, in one buffer, or the one in which that lies which is yielded."""
        places = self._places
        return all(
            (place := places.place_of(value)) is not None
            and (places.stay(place) or self._stays(edge))
            and not places.swaps.gives(value)
            and place not in places.read_only
            and not places.is_given(place)
            for value in self._targets(edge)
        )

    def _targets(self, edge: FlowEdge) -> list[int]:
        """The target of an edge, and the result that it becomes."""
        result = self._results.get(edge.target)
        return [edge.target] if result is None else [edge.target, result]

    def _stays(self, edge: FlowEdge) -> bool:
        """Whether what is passed on lies with the argument that it becomes."""
        return self._places.locations(edge.source) == self._places.locations(edge.target)

    def _decide_back_edge(self, edge: FlowEdge) -> None:
        """An edge to the next iteration: in place, in memory of its own, or copied."""
        places, target = self._places, edge.target
        brought = self._brought(edge)
        if self._stays(edge):
            self._pass_uncopied(edge) if brought is None else self._settle(edge, brought)
            return
        taken = self._why_not_moved(edge) or self._already_passed(edge)
        if self._changes_size(edge):
            places.move((target,))
            if taken is None:
                self._pass_own_memory(edge)
            else:
                self.copies[edge] = taken
            return
        conflict = taken or brought or places.may_join(edge.source, target)
        if conflict is not None and taken is None and self._anew:
            places.move((target,))
            self._pass_own_memory(edge)
            return
        self._settle(edge, conflict)

    def _brought(self, edge: FlowEdge) -> Conflict | None:
        """Whether what is yielded is in memory that an op of the iteration brings along, which only `anew` loops may yield."""
        begin = 2 * self._loop.number
        brought = any(self._places.is_brought(place, begin) for place, _ in self._places.locations(edge.source))
        return Conflict(Reason.LIES_ELSEWHERE, edge.op) if brought and not self._anew else None

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

    def _already_passed(self, edge: FlowEdge) -> Conflict | None:
        """Whether the memory of what is yielded is passed on already, to another argument."""
        if any(place in self._passed for place, _ in self._places.locations(edge.source)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, self._loop.number)
        return None

    def _pass_uncopied(self, edge: FlowEdge) -> None:
        """What is yielded is not copied."""
        self._passed.update(place for place, _ in self._places.locations(edge.source))
        self.copies[edge] = None

    def _pass_own_memory(self, edge: FlowEdge) -> None:
        """What was made for an argument alone is its memory in the next iteration."""
        self._places.pass_on(edge.source, edge.target, self._loop)
        self._pass_uncopied(edge)

    def _settle(self, edge: FlowEdge, conflict: Conflict | None) -> None:
        """What an edge passes on comes to lie where the argument does, unless there is a conflict."""
        if conflict is None:
            self._places.join(edge.source, edge.target)
            self._pass_uncopied(edge)
            return
        self.copies[edge] = conflict
        if edge.op == self._loop.number:
            self._places.know(edge.target, self._loop)

    def _move_pointers(self) -> None:
        """Moves pointers: memory of arguments that get new memory themselves goes to others that would be copied."""
        kept = [edge for edge in self._back if self.copies[edge] is None]
        used = {place for edge in kept for place, _ in self._places.locations(edge.source)}
        giving = {edge.target for edge in kept}
        waiting: dict[int, list[FlowEdge]] = {}
        for edge in self._copied(self._back):
            place = self._places.place_of(edge.source)
            if place is not None:
                waiting.setdefault(place, []).append(edge)
        free = [place for place in waiting if place not in used]
        while free:
            place = free.pop()
            block = self._function.values[waiting[place][0].target].block
            givers = list(self._places.arguments_in(place, block))
            edge = next((each for each in waiting[place] if self._why_not_moved(each, givers) is None), None)
            if edge is None or not givers or not giving.issuperset(givers):
                continue
            used.add(place)
            giving.add(edge.target)
            left = self._places.place_of(edge.target)
            if left in waiting and left not in used:
                free.append(left)
            self._places.move((edge.target,))
            for argument in givers:
                self._places.swaps.add(argument, edge.target)
            self._pass_uncopied(edge)

    def _break_cycles(self) -> None:
        """Gives new memory in each iteration to one argument of each cycle of copies.

        Better to one of which nobody reads what it ends with, and with which what enters can lie, since that may be written.
        """
        fixed = {edge.target for edge in self._entering if self._places.why_read_only(edge.source) is not None}
        by_op: dict[int, list[FlowEdge]] = {}
        for edge in self._copied(self._back):
            if edge.target in self._needed and not self._places.moves(edge.target):
                by_op.setdefault(edge.op, []).append(edge)
        for edges in by_op.values():
            read, overwritten = (
                [[place for place, _ in self._places.locations(value)] for value in values]
                for values in ([edge.source for edge in edges], [edge.target for edge in edges])
            )
            ranks = [(self._results.get(edge.target) in self._needed, edge.target in fixed) for edge in edges]
            breakers = cycle_breakers(waited_for(read, overwritten), ranks.__getitem__)
            self._places.move(edges[copy].target for copy in breakers)

    def _copy_back(self) -> None:
        """Copies the rest to where their arguments lie."""
        entered = {edge.target for edge in self._entering}
        for edge in self._copied(self._back):
            if not self._places.moves(edge.target):
                self._places.copy_into(edge.target, self._function.ops[edge.op])
                if edge.target not in entered:
                    self._places.know(edge.target, self._function.ops[edge.op])

    # What enters the loop

    def _enter_all(self) -> None:
        self._find_givers()
        together: dict[int, list[FlowEdge]] = {}
        # What nobody reads comes last: it need not be copied for what is read.
        for edge in sorted(self._entering, key=lambda edge: edge.target not in self._needed):
            together.setdefault(self._places.find(edge.target), []).append(edge)
        for edges in together.values():
            self._enter(edges)
        self._lend()

    def _enter(self, edges: list[FlowEdge]) -> None:
        """Edges into the first iteration, to one place: in place, or copied in front of the loop."""
        places = self._places
        begins: list[int] = []
        for edge in edges:
            if self._is_idle(edge):
                self.copies[edge] = None
                continue
            conflict = self._in_parts(edge) or self._why_not_entered(edge)
            if conflict is None and len(edges) > 1 and not places.is_written(edge.target):
                begins.append(edge.source)
                self.copies[edge] = None
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
