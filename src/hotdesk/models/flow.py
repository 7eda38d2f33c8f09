"""How values pass through an operation's regions and between blocks, for operations with control flow."""

from __future__ import annotations

from dataclasses import dataclass

RESULTS = -1
"""In the place of a region's number: the results of the operation."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How an operation hands its operands to its regions, and what they yield to each other and to its results.

    Attributes:
        entries: (operand, region, argument): what a region gets when the operation begins.
        exits: (region, operand of its terminator, target region or `RESULTS`, argument or result there).
        skips: (operand, result): what a result is when no region runs.
        runs: a region certainly runs, even if nothing is said of what a result would be otherwise.
        follows: (region, region): the second may run after the first, in one execution of the operation; (r, r) is a loop.
        shows: (operand, region, argument): what shows a region, all the time, what a tied operand held before the operation.
        parallel: the executions of its regions may run at one time; what they write is memory of their own, or parts of a
            result that do not meet.
    """

    entries: tuple[tuple[int, int, int], ...] = ()
    exits: tuple[tuple[int, int, int, int], ...] = ()
    skips: tuple[tuple[int, int], ...] = ()
    runs: bool = False
    follows: frozenset[tuple[int, int]] = frozenset()
    shows: tuple[tuple[int, int, int], ...] = ()
    parallel: bool = False

    @property
    def carried(self) -> tuple[tuple[int, int], ...]:
        """(operand, result): what enters a loop as an argument and comes out of it as a result."""
        out = {(region, operand): result for region, operand, target, result in self.exits if target == RESULTS}
        back = {
            (target, argument): out[region, operand]
            for region, operand, target, argument in self.exits
            if (region, target) in self.follows and (region, operand) in out
        }
        return tuple((o, back[region, argument]) for o, region, argument in self.entries if (region, argument) in back)
