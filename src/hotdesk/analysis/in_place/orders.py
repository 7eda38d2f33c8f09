"""In which order tied operands are decided: what is decided first has the choice."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hotdesk.analysis.in_place.cost_of_copy import cost_of_copy
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram

Tie = tuple[OpRecord, int, int]
"""An op, the operand that it may overwrite, and the result that it would write there."""


def top_down(ties: Sequence[Tie]) -> list[Tie]:
    """In the order of the text."""
    return list(ties)


def bottom_up(ties: Sequence[Tie]) -> list[Tie]:
    """Later ops first, the operands of each from the left."""
    return sorted(ties, key=lambda tie: (-tie[0].number, tie[1]))


def largest_first(ties: Sequence[Tie], function: TensorProgram) -> list[Tie]:
    """What would cost most to copy first, so that of two that exclude each other the cheaper one is copied.

    What is overwritten unread costs nothing, however large it is: it gets new memory without contents. So it comes behind all
    that is read; of those alike, what has more bytes, and then what stands first in the text.
    """

    def rank(tie: Tie) -> tuple[int, int]:
        op, operand, _ = tie
        cost = cost_of_copy(function, op.operands[operand], op.block)
        return (-cost if op.facts.needs(operand) else 0), -cost

    return sorted(ties, key=rank)


def shuffled(seed: int) -> Callable[[Sequence[Tie]], list[Tie]]:
    """In an order drawn from a seed, to find what depends on the order."""

    def order(ties: Sequence[Tie]) -> list[Tie]:
        drawn = list(ties)
        random.Random(seed).shuffle(drawn)
        return drawn

    return order


HEURISTICS = ("top-down", "bottom-up", "bottom-up-from-terminators", "largest-first", "fuzzer")


def from_terminators(ties: Sequence[Tie], function: TensorProgram) -> list[Tie]:
    """What a region hands out first, with what it was made from in the region; then the rest bottom up."""
    makers = {tie[0].results[tie[2]]: tie for tie in ties}
    chosen: dict[tuple[int, int], Tie] = {}
    for op in function.ops:
        if op.number + 1 != function.blocks[op.block].end or op.flow is not None:
            continue
        waiting = [value for value in op.operands if value in makers]
        while waiting:
            tie = makers[waiting.pop()]
            key = (tie[0].number, tie[1])
            if key not in chosen and tie[0].block == op.block:
                chosen[key] = tie
                waiting.extend(value for value in tie[0].operands if value in makers)
    return [*chosen.values(), *(tie for tie in bottom_up(ties) if (tie[0].number, tie[1]) not in chosen)]


def heuristic(name: str, function: TensorProgram, seed: int = 0) -> Callable[[Sequence[Tie]], list[Tie]]:
    """The order of that name, one of `HEURISTICS`."""
    orders: dict[str, Callable[[Sequence[Tie]], list[Tie]]] = {
        "top-down": top_down,
        "bottom-up": bottom_up,
        "bottom-up-from-terminators": lambda ties: from_terminators(ties, function),
        "largest-first": lambda ties: largest_first(ties, function),
        "fuzzer": shuffled(seed),
    }
    return orders[name]
