"""Where a function's buffers lie for one value of the symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hotdesk.python.record import Record

if TYPE_CHECKING:
    from hotdesk.planning import Plan


class Layout(Record):
    """Where everything lies for one value of the symbols.

    By place in the pointer table: `in_arena` with offsets in the arena, `lent` with the place of the result or donated input that
    lends its memory and the offset in that.
    """

    plan: Plan
    in_arena: tuple[tuple[int, int], ...]
    lent: tuple[tuple[int, int, int], ...]
    numbers: Any
    sizes: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """About what keeping it takes: Python's records and numbers, a little more rather than less."""
        return 2048 + 400 * len(self.plan.placements) + 40 * len(self.sizes) + 8 * len(self.numbers)
