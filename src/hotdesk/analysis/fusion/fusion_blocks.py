"""The ops of one block by their places, while loops over memory in it become one another.

Places stay what they are: where two ops became one, the place of the first is empty, and the second's has the new op. So who
writes which memory is read once, and after each fusion only the new op is. Of the ops in front of a reader those come into
question as producers that write memory of one origin with what it reads, the nearest ones for each operand; where the operand may
be memory of somebody else, also the nearest op that writes such memory, if only to say that the two may overlap.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.aliasing import Aliases
from hotdesk.ir.types import is_memref
from hotdesk.models.generics import Generic, is_linalg, read_generic
from hotdesk.models.memory_effects import Effects, effects_of

_NEAREST = 4
"""Producers that are tried for an operand and origin."""
_WINDOW = 1024
"""How many ops in front of a reader its producers may stand: to look at those between takes time in proportion."""
_SHARED = -1
"""In the place of an origin: any memory that others may have as well."""


def is_on_memory(op: ir.Operation) -> bool:
    """Whether an op is a linalg op that works on memory alone."""
    return is_linalg(op) and len(op.results) == 0


class FusionBlock:
    """The ops of a block; nobody else changes them meanwhile."""

    def __init__(self, block: ir.Block, aliases: Aliases) -> None:
        self._aliases = aliases
        self._ops: list[ir.Operation | None] = [op.operation for op in block.operations]
        self._effects = [None if op is None else effects_of(op) for op in self._ops]
        self._writers: dict[int, list[int]] = {}  # places by origin, in order
        for place in self.places():
            self._note(place)

    def places(self) -> list[int]:
        """Where the ops are that may be fused."""
        return [place for place, op in enumerate(self._ops) if op is not None and is_on_memory(op)]

    def generic(self, place: int) -> Generic | None:
        """The op in a place, if it may be fused."""
        op = self._ops[place]
        return read_generic(op) if op is not None and is_on_memory(op) else None

    def producers(self, place: int, reader: Generic) -> list[int]:
        """The places of ops in front that may write what an op reads, the nearest first."""
        found: set[int] = set()
        for i, value in enumerate(reader.op.operands):
            if is_memref(value.type) and reader.reads(i):
                for origin in self._origins(value):
                    found.update(self._before(place, origin, 1 if origin == _SHARED else _NEAREST))
        return sorted((each for each in found if place - each <= _WINDOW), reverse=True)

    def effects(self, place: int) -> Effects | None:
        """What the op in a place does to memory; None if that is not known."""
        return self._effects[place]

    def between(self, first: int, second: int) -> Iterator[tuple[ir.Operation, Effects | None]]:
        """The ops between two places, with what they do to memory."""
        for place in range(first + 1, second):
            op = self._ops[place]
            if op is not None:
                yield op, self._effects[place]

    def became(self, producer: int, consumer: int, new: ir.Operation) -> None:
        """Notes that the ops of two places are one, in the second; before, `forget` both."""
        self._ops[producer], self._ops[consumer] = None, new
        self._effects[consumer] = effects_of(new)
        self._note(consumer)

    def forget(self, place: int) -> None:
        """Notes that the op in a place is about to go."""
        for origin in self._written(place):
            places = self._writers[origin]
            del places[bisect_left(places, place)]

    def _note(self, place: int) -> None:
        for origin in self._written(place):
            insort(self._writers.setdefault(origin, []), place)

    def _written(self, place: int) -> set[int]:
        """The origins of what the op in a place writes."""
        generic = self.generic(place)
        if generic is None:
            return set()
        written = [generic.op.operands[output] for output in generic.outputs]
        return {origin for value in written for origin in self._origins(value)}

    def _origins(self, value: ir.Value) -> set[int]:
        shared = {_SHARED} if self._aliases.may_be_shared(value) else set[int]()
        return shared | self._aliases.origin_numbers(value)

    def _before(self, place: int, origin: int, most: int) -> list[int]:
        places = self._writers.get(origin, [])
        at = bisect_left(places, place)
        return places[max(at - most, 0) : at]
