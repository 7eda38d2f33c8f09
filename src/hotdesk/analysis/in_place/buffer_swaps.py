"""Buffer swaps: which arguments of loops give their memory to others when an iteration ends, so that nothing is copied.

What is in an argument's memory when the loop begins may be in any memory later to which that leads.
"""

from __future__ import annotations

from collections.abc import Callable


class BufferSwaps:
    """Pairs of values: the memory that one lies in becomes the other one's. `find` tells the place of a value by now."""

    def __init__(self, find: Callable[[int], int]) -> None:
        self._find = find
        self._receivers: dict[int, list[int]] = {}  # by the place of the giver

    def add(self, giver: int, receiver: int) -> None:
        self._receivers.setdefault(self._find(giver), []).append(receiver)

    def unite(self, a: int, b: int) -> None:
        """Says that place `a` is part of `b` now."""
        ours, theirs = self._receivers.pop(a, []), self._receivers.pop(b, [])
        if ours or theirs:
            few, many = sorted((ours, theirs), key=len)
            many.extend(few)
            self._receivers[b] = many

    def gives(self, value: int) -> bool:
        """Whether what lies with a value gives its memory to others."""
        return self._find(value) in self._receivers

    def led_to(self, value: int) -> tuple[int, ...]:
        """Values that may have the memory in which a value lies, later: one of each place."""
        found: dict[int, int] = {}
        waiting = [self._find(value)]
        for place in waiting:
            receivers = {self._find(receiver): receiver for receiver in self._receivers.get(place, ())}
            waiting.extend(receivers.keys() - found.keys())
            found.update(receivers)
            if receivers:
                self._receivers[place] = list(receivers.values())
        return tuple(found.values())
