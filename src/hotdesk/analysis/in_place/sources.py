"""Where the memory of a place comes from: an argument, an allocation or a call; and so whether all in it is in one buffer.

1. What is *known* from somewhere on, an argument of the function or what enters a loop as a copy, is the memory of all that is
   made later in its place.
2. What is *made* in a place where none is known gets memory that all of it can see.
3. What is *brought*, by a call that returns new memory, or is lent, is in that memory whatever is known in its place.

So a place has one source iff nothing is known twice, what is known is known before all that is made, and nothing else lies with
what is brought. What comes to lie in a part of another place, or in several, is there only if it has no source of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.program.dominance import Dominance


class _Where(NamedTuple):
    block: int
    order: int


@dataclass(frozen=True, slots=True)
class _MemorySource:
    """What is known of a place's memory.

    Attributes:
        known: from where on it has memory.
        made: the last place in the program that is in front of all that is made there.
        brought: whether an op brings memory along for what lies there.
        several: whether not all that lies there is in one buffer.
    """

    known: _Where | None = None
    made: _Where | None = None
    brought: bool = False
    several: bool = False


class Sources:
    """The sources of places, which are numbered like the values that begin in them."""

    def __init__(self, function: TensorProgram, readers: Readers) -> None:
        self._dominance: Dominance = readers.dominance
        self._found: dict[int, _MemorySource] = {}
        passed = {readers.root[edge.source] for edge in function.flows}
        # What has no contents has memory only where somebody asks for it.
        unasked = {value for value in readers.undefined if value not in passed and not readers.reads.get(value)}
        for number in function.arguments:
            if number != NOT_A_TENSOR:
                self._found[number] = _MemorySource(known=_Where(0, 0))
        for op in function.ops:
            for result in (*op.facts.brought, *op.facts.lent, *op.facts.constants):
                self._found[op.results[result]] = _MemorySource(brought=True)
            if op.flow is not None:
                continue
            led = {result for _, result in (*op.facts.ties, *op.facts.views, *op.facts.choices)}
            for result, value in enumerate(op.results):
                if value == NOT_A_TENSOR or result in led or value in unasked:
                    continue
                if value not in self._found:
                    self._found[value] = _MemorySource(made=_Where(op.block, function.values[value].order))

    def are_one(self, place: int) -> bool:
        """Whether all that lies in a place is in one buffer."""
        return place not in self._found or not self._found[place].several

    def is_brought(self, place: int, begin: int) -> bool:
        """Whether an op brings memory along for what lies in a place, or makes some for a copy there behind `begin`, in order."""
        found = self._found.get(place, _MemorySource())
        return found.brought or (found.known is not None and found.known.order > begin)

    def is_made(self, place: int) -> bool:
        """Whether anything is made in a place."""
        return place in self._found and self._found[place].made is not None

    def make(self, place: int, block: int, order: int) -> None:
        """Says that something is made in a place."""
        self._add(place, _MemorySource(made=_Where(block, order)))

    def know(self, place: int, block: int, order: int) -> None:
        """Says that memory is made for a place, from where on it is known."""
        self._add(place, _MemorySource(known=_Where(block, order)))

    def part(self, place: int) -> None:
        """Says that a place is not in one buffer."""
        self._found[place] = replace(self._found.get(place, _MemorySource()), several=True)

    def unite(self, a: int, b: int) -> None:
        """Says that place `a` is part of `b` now."""
        if a in self._found:
            self._add(b, self._found.pop(a))

    def spread(self, place: int, others: Iterable[int]) -> None:
        """Says that what lies in a place lies in parts of others, or in one of several."""
        if place in self._found:
            for other in others:
                self.part(other)

    def _add(self, place: int, more: _MemorySource) -> None:
        found = self._found.get(place, _MemorySource())
        both = _MemorySource(
            known=found.known or more.known,
            made=self._before(found.made, more.made),
            brought=found.brought or more.brought,
        )
        apart = any(a.brought and (b.brought or b.known or b.made) for a, b in ((found, more), (more, found)))
        twice = found.known is not None and more.known is not None
        late = (
            both.known is not None and both.made is not None and not self._dominance.is_defined(*both.known, *both.made)
        )
        self._found[place] = replace(both, several=found.several or more.several or apart or twice or late)

    def _before(self, a: _Where | None, b: _Where | None) -> _Where | None:
        if a is None or b is None:
            return a or b
        return _Where(self._dominance.common((a.block, b.block)), min(a.order, b.order))
