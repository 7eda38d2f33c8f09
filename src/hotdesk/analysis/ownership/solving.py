"""Solves who owns what, and again with slots that own although they need not, where that leaves less to be asked at run time.

Where an owner is ambiguous, slots that it was borrowed through are made to own.
"""

from __future__ import annotations

from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferProgram
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.analysis.ownership.problem import OwnershipProblem
from hotdesk.analysis.ownership.slots import OwnershipSlots

_ATTEMPTS = 4


def solve(program: BufferProgram, slots: OwnershipSlots, lent: frozenset[int] = frozenset()) -> Ownership:
    """The ownership of a function's buffers, given its slots; `lent` are results of calls that come with a flag.

    Raises:
        BufferizationError: memory is passed on by an op of which nothing is known, or passed on as memory of another allocator.
    """
    problem = OwnershipProblem(program, slots, lent)
    best = Ownership(problem)
    for _ in range(_ATTEMPTS):
        behind = _borrowed_behind(problem, best) if best.asked else set[int]()
        if not behind:
            return best
        other = Ownership(problem, best.owning | behind)
        if other.asked >= best.asked:
            return best
        best = other
    return best


def _borrowed_behind(problem: OwnershipProblem, solution: Ownership) -> set[int]:
    """The borrowing slots through which an operand came whose owner is not certain."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [h.source for h in solution.transfers.values() if len(h.candidates) != 1]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        waiting += (source for source in problem.program.buffers[value].sources if source != NOT_A_BUFFER)
        slot = problem.slots.of_target.get(value)
        if slot is not None and slot.number not in solution.owning:
            found.add(slot.number)
            waiting += (problem.slots.source[key] for key in slot.keys)
    return found
