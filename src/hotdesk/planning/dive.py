"""Depth-first search with restarts: many short walks, each preferring buffers in another order.

Walks are over the canonical placements of `frontier.py`, by the moves of the compiled beam. How long one takes is a matter of
luck: in one order a placement turns up with hardly a step back, in the next not in millions. So each gets a few thousand
moves. The first prefer buffers as the offset-first heuristics do, those after by the same orders with their ranks shaken. The
orders are the kind MiniMalloc takes turns at (Moffitt, ASPLOS 2024); restarts from randomised orders after Gomes, Selman and
Kautz, "Boosting Combinatorial Search Through Randomization" (AAAI 1998).

A walk that comes to an end without a placement has looked at all of them: there is none. With up to `REMEMBERED` buffers states
that lead nowhere are remembered, so that walks need not go there again, and walks become longer: to prove that there is none
takes a long one.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np

from hotdesk.planning.beam import Answer
from hotdesk.planning.compiled import CompiledFrontier, available
from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.instance import Instance
from hotdesk.planning.orders import by_size
from hotdesk.planning.skyline import SKYLINE_ORDERS

__all__ = ["LARGEST", "available", "dive"]

LARGEST = 1_000
"""Buffers up to which the states along a walk are kept: their bytes grow with the square."""

_MOVES = 4
"""Of one walk, for each buffer: as many and some more lead to a placement that hardly needs a step back."""

_FEWEST = 1_000
"""Moves of one walk at least: a few milliseconds."""

REMEMBERED = 96
"""Buffers up to which states that lead nowhere are remembered: they are compared number by number."""

_DEAD = 1 << 22
"""Numbers in the table of these: 16 or 32 MB, if all of it is used."""

_GROWTH = 1.2
"""How much longer each walk is than the one before where that is done."""

_SPREADS = (0.05, 0.1, 0.2)
"""How far ranks are shaken, as a share of their number, in turn."""


def dive(instance: Instance, capacity: int, moves: int, *, deadline: Deadline = NO_DEADLINE) -> Answer:
    """Look for offsets below `capacity` bytes in so many moves, or until the deadline.

    `numba` must be installed.
    """
    if not len(instance):
        return Answer((), exhausted=False, nodes=0)
    from hotdesk.planning import dive_kernels

    frontier = CompiledFrontier(instance, capacity)
    root = frontier.root()
    if not len(root):
        return Answer(None, exhausted=True, nodes=0)
    each = max(_MOVES * len(instance), _FEWEST)
    remembers = len(instance) <= REMEMBERED
    rows = (2 * _FEWEST if remembers else each) + 2
    stack = tuple(np.empty((rows, *column.shape[1:]), dtype=column.dtype) for column in root.arrays)
    for column, first in zip(stack, root.arrays, strict=True):
        column[0] = first[0]
    offsets = np.zeros(len(instance), dtype=np.int64)
    dead = np.zeros((_DEAD // len(instance) if remembers else 0, len(instance)), dtype=root.arrays[0].dtype)
    spent = 0
    for preferred in _orders(instance):
        if spent >= moves or deadline.passed():
            break
        outcome, taken = dive_kernels.dive(
            stack,
            frontier.numbers(preferred),
            frontier.facts,
            frontier.twins,
            offsets,
            dead,
            min(int(each), moves - spent),
        )
        spent += int(taken)
        each *= _GROWTH if remembers else 1
        if outcome:
            found = tuple(frontier.in_bytes(offsets)) if outcome > 0 else None
            return Answer(found, exhausted=outcome < 0, nodes=spent)
    return Answer(None, exhausted=False, nodes=spent)


def _orders(instance: Instance) -> Iterator[list[int]]:
    """Orders of preference without end, the same every time."""
    bases = [order(instance) for order in (*SKYLINE_ORDERS.values(), by_size)]
    yield from bases
    random = Random(1)
    while True:
        for spread in _SPREADS:
            for base in bases:
                keys = [rank + random.random() * spread * len(base) for rank in range(len(base))]
                yield [base[rank] for rank in sorted(range(len(base)), key=keys.__getitem__)]
