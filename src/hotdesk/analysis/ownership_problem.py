"""What of a function does not change while its ownership is solved: read once, asked as often as something comes to own."""

from __future__ import annotations

from hotdesk.analysis.allocators import Allocators
from hotdesk.analysis.buffer_dominance import Dominance
from hotdesk.analysis.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.handovers import Handovers
from hotdesk.analysis.new_memory import freed, never_frees
from hotdesk.analysis.owner_scopes import OwnerScopes
from hotdesk.analysis.ownership_candidates import Candidates
from hotdesk.analysis.releases import Releases

_QUIET = frozenset({"memref.alloc", "memref.dim", "memref.rank", "arith.select"})
_NOTHING: frozenset[int] = frozenset()


class Problem:
    """A function, and what of it does not change while its ownership is solved; `lent` are results that come with a flag."""

    def __init__(self, program: BufferProgram, slots: Handovers, lent: frozenset[int] = frozenset()) -> None:
        self.program, self.slots, self.lent = program, slots, lent
        dominance = Dominance(program)
        self.scopes, self.releases = OwnerScopes(program, self.slots, dominance), Releases(program, dominance)
        self.candidates, self.allocators = Candidates(program, self.slots, lent), Allocators(program, self.slots)
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

    def touches(self, number: int) -> bool:
        """Whether an op uses the memory of its memrefs, and does more than free it."""
        found = self._touching.get(number)
        if found is None:
            op = self.program.ops[number]
            found = self._touching[number] = not (op.name in _QUIET or self.freed(op) or self._shows(op))
        return found

    def _shows(self, op: BufferOp) -> bool:
        """Whether an op makes a view."""
        return any(value != NOT_A_BUFFER and self.program.buffers[value].kind is Kind.VIEW for value in op.results)
