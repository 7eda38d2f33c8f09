"""Slots: the block arguments and results that get their memref from the same operands, joined like phis.

An operand of `scf.yield` in a loop becomes the argument of the next iteration, or the result. So do the initial values. Such
arguments and results form a *slot*: either all of them come with ownership or none does. What a function returns in one place is
a slot without targets.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferProgram
from hotdesk.graphs import DisjointSets
from hotdesk.program.records import FlowEdge

Key = tuple[int, int]
"""An op and the number of an operand that it passes on."""


@dataclass(frozen=True, slots=True)
class OwnershipSlot:
    """`targets` are memrefs by number, `keys` the operands that become them. `returned` is the number of a function's result."""

    number: int
    targets: tuple[int, ...]
    keys: tuple[Key, ...]
    returned: int = -1


class OwnershipSlots:
    """The slots of a function, by target and by key; for each key its source, its passings, and the edges it goes along."""

    def __init__(self, program: BufferProgram) -> None:
        self.passings: dict[Key, list[FlowEdge]] = {}
        self.source: dict[Key, int] = {}
        joined = DisjointSets(len(program.buffers))
        for passing in sorted(program.flows, key=lambda each: each.edge):
            key = passing.op, passing.operand
            if key in self.passings:
                joined.unite(self.passings[key][0].target, passing.target)
                self.passings[key].append(passing)
            else:
                self.passings[key], self.source[key] = [passing], passing.source
        groups: dict[int, tuple[list[Key], dict[int, None]]] = {}
        for key in sorted(self.passings):
            passings = self.passings[key]
            keys, targets = groups.setdefault(joined.find(passings[0].target), ([], {}))
            keys.append(key)
            for passing in passings:
                targets[passing.target] = None
        slots = [OwnershipSlot(i, tuple(targets), tuple(keys)) for i, (keys, targets) in enumerate(groups.values())]
        slots += self._returns(program, len(slots))
        self.slots = tuple(slots)
        self.of_target = {target: slot for slot in slots for target in slot.targets}
        self.of_key = {key: slot for slot in slots for key in slot.keys}
        self.keys_at: dict[int, list[Key]] = {}
        for key in sorted(self.of_key):
            self.keys_at.setdefault(key[0], []).append(key)

    def edges(self, key: Key) -> frozenset[int]:
        """The edges along which an operand is passed; of a returned one, a single edge."""
        return frozenset([passing.edge for passing in self.passings.get(key, ())]) or frozenset({-1})

    def _returns(self, program: BufferProgram, first: int) -> list[OwnershipSlot]:
        keys: dict[int, list[Key]] = {}
        for op in program.returns:
            for i, value in enumerate(op.operands):
                if value != NOT_A_BUFFER:
                    keys.setdefault(i, []).append((op.number, i))
                    self.source[op.number, i] = value
        return [OwnershipSlot(first + n, (), tuple(found), i) for n, (i, found) in enumerate(sorted(keys.items()))]
