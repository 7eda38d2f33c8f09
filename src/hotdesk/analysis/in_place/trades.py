"""Which arguments of loops give their memory to others when an iteration ends.

What is in an argument's memory when the loop begins may be in any memory later to which that leads.
"""

from __future__ import annotations

from collections.abc import Callable


class Trades:
    """Pairs of values: the memory that one lies in becomes the other one's. `find` tells the place of a value by now."""

    def __init__(self, find: Callable[[int], int]) -> None:
        self._find = find
        self._pairs: list[tuple[int, int]] = []

    def add(self, giver: int, receiver: int) -> None:
        self._pairs.append((giver, receiver))

    def gives(self, value: int) -> bool:
        """Whether what lies with a value gives its memory to others."""
        place = self._find(value)
        return any(self._find(giver) == place for giver, _ in self._pairs)

    def led_to(self, value: int) -> tuple[int, ...]:
        """The values that may have the memory in which a value lies, later."""
        found: dict[int, None] = {}
        waiting = [self._find(value)]
        for place in waiting:
            for giver, receiver in self._pairs:
                if self._find(giver) == place and receiver not in found:
                    found[receiver] = None
                    waiting.append(self._find(receiver))
        return tuple(found)
