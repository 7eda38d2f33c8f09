"""The ownership problem of a function: what solving it rests on and does not change, read once."""

from __future__ import annotations

from hotdesk.analysis.memrefs.asynchronous import started
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.allocators import Allocators
from hotdesk.analysis.ownership.candidates import OwnerCandidates
from hotdesk.analysis.ownership.releases import LateEnds, Releases
from hotdesk.analysis.ownership.scopes import OwnerScopes
from hotdesk.analysis.ownership.slots import OwnershipSlots
from hotdesk.models.memref import QUIET, view_source
from hotdesk.models.new_memory import freed, never_frees
from hotdesk.program.dominance import Dominance

_NOTHING: frozenset[int] = frozenset()


class OwnershipProblem:
    """A function, and what of it does not change while its ownership is solved; `lent` are results that come with a flag."""

    def __init__(self, program: BufferProgram, slots: OwnershipSlots, lent: frozenset[int] = frozenset()) -> None:
        self.program, self.slots, self.lent = program, slots, lent
        dominance = Dominance(program)
        self.scopes, self.releases = OwnerScopes(program, self.slots, dominance), Releases(program, dominance)
        self.candidates, self.allocators = OwnerCandidates(program, self.slots, lent), Allocators(program, self.slots)
        self.started, self.late_ends = started(program), LateEnds(program)
        self._never_frees: dict[str, bool] = {}  # by name
        self._freed: dict[int, frozenset[int]] = {}
        self._touching: dict[int, bool] = {}

    def freed(self, op: BufferOp) -> frozenset[int]:
        """The numbers of the operands whose memory an op frees."""
        never = self._never_frees.get(op.name)
        if never is None:
            never = self._never_frees[op.name] = never_frees(op.name)
        if never:
            return _NOTHING
        found = self._freed.get(op.number)
        if found is None:
            found = self._freed[op.number] = freed(op.operation)
        return found

    def touches(self, number: int, buffer: int) -> bool:
        """Whether an op uses the memory of a memref, and does more than free it or show it differently."""
        op = self.program.ops[number]
        found = self._touching.get(number)
        if found is None:
            found = self._touching[number] = not (op.name in QUIET or self.freed(op))
        return found and not self._only_shows(op, buffer)

    def _only_shows(self, op: BufferOp, buffer: int) -> bool:
        """Whether an op makes views of a memref and does nothing else with it: not what it asks for the sizes of a view."""
        shown = [
            view_source(op.name, i)
            for i, value in enumerate(op.results)
            if value != NOT_A_BUFFER and self.program.buffers[value].kind is Kind.VIEW
        ]
        return (
            bool(shown) and buffer in op.operands and all(i in shown for i, v in enumerate(op.operands) if v == buffer)
        )
