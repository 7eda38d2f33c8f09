"""Where transfers are done: accesses that go on beside the program until another op has waited for them (`models.transfers`).

1. What groups or queues tell is done at the first op behind it, in its block, that certainly waits: with `left` groups that may
   run on, if that many and one more are committed between the two, in that block.
2. What a tag or barrier tells is done at the last op of its block that certainly waits for that place of it, since those in front
   of that may wait for what was told there earlier; but not if another op, in another block or of which less is known, may wait
   for that place behind it.
3. Any other op that waits for its kind, by the same value, may wait for it; and so may an op of which nothing is known that takes
   the barrier.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.ir.types import is_buffer
from hotdesk.models.registry import transfers_of
from hotdesk.models.transfers import Commit, Place, Start

_NEVER = -1


def starts_transfer(op: ir.Operation) -> bool:
    """Whether an op begins an access that goes on when control has left it."""
    steps = transfers_of(op.name)
    return steps is not None and any(isinstance(step, Start) for step in steps(op))


@dataclass(slots=True)
class _Waits:
    """The ops that may wait for a kind by one value: all, in order; the last for each place in numbers, and for any other."""

    ops: list[int] = field(default_factory=list[int])
    last: dict[Place | None, int] = field(default_factory=dict[Place | None, int])
    elsewhere: int = _NEVER

    def add(self, op: int, place: Place | None) -> None:
        self.ops.append(op)
        if _is_number(place):
            self.last[place] = op
        else:
            self.elsewhere = op

    def last_for(self, place: Place | None) -> int:
        """The last op that may wait for a place."""
        return max(self.last.get(place, _NEVER), self.elsewhere) if _is_number(place) else self.ops[-1]


class Transfers:
    """The ops of one function that wait for transfers: by what they wait for, in order."""

    def __init__(self, program: BufferProgram, numbers: Mapping[ir.Operation, int]) -> None:
        self._program, self._numbers = program, numbers
        self._told: dict[Hashable, list[int]] = {}  # by kind, value, place and block
        self._may: dict[tuple[str, ir.Value | None], _Waits] = {}
        self._grouped: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        self._read()

    def behind(self, op: BufferOp) -> tuple[int, tuple[int, ...]]:
        """The op of its block at which all that an op starts is done, or -1, and then all that may wait for it, in order."""
        steps = transfers_of(op.name)
        starts = [step for step in steps(op.operation) if isinstance(step, Start)] if steps else []
        done = [self._done(op, start) for start in starts]
        if _NEVER not in done:
            return max(done), ()
        waits = [self._may[key].ops for start in starts if (key := (start.kind, start.by)) in self._may]
        return _NEVER, tuple(waits[0]) if len(waits) == 1 else tuple(sorted({n for each in waits for n in each}))

    def _read(self) -> None:
        commits: dict[tuple[str, int], list[int]] = {}
        groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
        told: dict[tuple[str, ir.Value], None] = {}
        for op in self._program.ops:
            steps = transfers_of(op.name)
            for step in steps(op.operation) if steps else ():
                if isinstance(step, Commit):
                    commits.setdefault((step.kind, op.block), []).append(op.number)
                    continue
                if isinstance(step, Start):
                    told.update({} if step.by is None else {(step.kind, step.by): None})
                    continue
                self._may.setdefault((step.kind, step.by), _Waits()).add(op.number, step.place)
                if step.certain and step.left is None:
                    self._told.setdefault((step.kind, step.by, step.place, op.block), []).append(op.number)
                elif step.certain and step.left is not None:
                    before = commits.get((step.kind, op.block), [])
                    if len(before) > step.left:
                        groups.setdefault((step.kind, op.block), []).append((op.number, before[-1 - step.left]))
        for key, waits in groups.items():
            reached = accumulate((commit for _, commit in waits), max)
            self._grouped[key] = [number for number, _ in waits], list(reached)
        for kind, by in told:
            self._add_unknown(kind, by)

    def _done(self, op: BufferOp, start: Start) -> int:
        places = {None, start.place}
        told = [self._told.get((start.kind, start.by, place, op.block), []) for place in places]
        if start.by is not None:
            last = max((waits[-1] for waits in told if waits and waits[-1] > op.number), default=_NEVER)
            return last if last >= 0 and self._may[start.kind, start.by].last_for(start.place) == last else _NEVER
        found = [waits[at] for waits in told if (at := bisect_right(waits, op.number)) < len(waits)]
        numbers, committed = self._grouped.get((start.kind, op.block), ([], []))
        # The first wait up to which enough groups are committed behind the start; an op may commit what it starts itself.
        at = bisect_left(committed, op.number)
        return min([*found, *numbers[at : at + 1]], default=_NEVER)

    def _add_unknown(self, kind: str, by: ir.Value) -> None:
        """Adds the ops that take a barrier and of which nothing is known; memory is a tag for those that say so."""
        unknown = [] if is_buffer(by.type) else list(self._unknown(by))
        if unknown:
            waits = self._may.setdefault((kind, by), _Waits())
            waits.ops = sorted({*waits.ops, *unknown})
            waits.elsewhere = max(waits.elsewhere, *unknown)

    def _unknown(self, barrier: ir.Value) -> Iterable[int]:
        for use in barrier.uses:
            user = cast(Any, use.owner).operation
            if transfers_of(user.name) is None:
                yield self._numbers[user]


def _is_number(place: Place | None) -> bool:
    return place is not None and all(isinstance(each, (int, float)) for each in place)
