"""Which ops use the memory of each owner, and which of those that run on beside the program have it in use to an unknown end.

Memrefs with the same candidates are looked at together, and where these are several, only the last use in each block counts: no
other one tells where the buffer is still wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.analysis.memrefs.asynchronous import Started, using
from hotdesk.analysis.ownership.candidates import EXTERNAL, ONLY_EXTERNAL
from hotdesk.analysis.ownership.problem import OwnershipProblem

Uses = dict[int, list[int]]
"""By owner, the ops that use its buffer, in order."""
Late = dict[int, set[Started]]
"""By owner, the ops that may use its buffer on and on."""


def uses_of_owners(problem: OwnershipProblem, owners: Sequence[frozenset[int]]) -> tuple[Uses, Late]:
    """The uses; `owners` has for each memref those that its memory may belong to."""
    program = problem.program
    found: dict[int, set[int]] = {}
    together: dict[int, tuple[frozenset[int], set[int]]] = {}
    late: Late = {}
    for buffer, candidates in enumerate(owners):
        if not candidates or candidates is ONLY_EXTERNAL:
            continue
        touching = [user for user in program.users[buffer] if problem.touches(user, buffer)]
        if problem.started:
            beside = [problem.started[op] for op in using(program, buffer)]
            touching += (op.done for op in beside if op.done >= 0)
            for owner in candidates - ONLY_EXTERNAL if any(op.done < 0 for op in beside) else ():
                late.setdefault(owner, set()).update(op for op in beside if op.done < 0)
        together.setdefault(id(candidates), (candidates, set()))[1].update(touching)
    for candidates, touching in together.values():
        last = touching
        if len(candidates) > 1:
            last = {program.ops[user].block: user for user in sorted(touching)}.values()
        for owner in candidates:
            if owner != EXTERNAL:
                found.setdefault(owner, set()).update(last)
    return {owner: sorted(ops) for owner, ops in found.items()}, late
