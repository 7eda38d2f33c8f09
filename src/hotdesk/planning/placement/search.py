"""Seeded local search over the orders of offset-first placement.

Which buffer goes first among equal floors decides how well a skyline packs. The search keeps an order, picks a buffer
whose top is the arena's, takes up to three buffers live together with it, and moves each to an earlier rank. The new
order is kept unless its arena is larger; a placement that passes the present arena ends its pass at once. After a while
without progress the search starts afresh, from the best order of each construction in turn, then from one of them with
its ranks shaken.

Where there are no lists of neighbours, `search_whole` places all buffers again and again, each time first what reached too high
the time before: squeaky wheel optimization (Joslin and Clements, 1999).

The same seed and effort give the same layout on every machine: effort counts placements, never seconds. A placement
that touches many neighbours counts one more for every 32 of them, so a unit of effort costs about the same on any
problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random

from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.greedy import GREEDY_ORDERS, greedy_below
from hotdesk.planning.placement.instance import ArenaLayout, Instance
from hotdesk.planning.placement.orders import by_breadth, by_size
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS, Neighbourhood, reach, skyline_in_arrays, stack_up

_PATIENCE = 50
"""Moves without progress before a fresh start."""

_MOST_MOVED = 3
_SHAKE = 0.2
"""How far ranks move at a fresh start, as a share of their number."""

_SHAKES = (0.02, 0.1, 0.3)
"""The same in turn where all buffers are placed anew."""

_AGAIN = ", again"


@dataclass(frozen=True, slots=True)
class _Ordered:
    order: list[int]
    offsets: tuple[int, ...]
    arena: int


def search(
    instance: Instance,
    around: Neighbourhood,
    seed: int,
    effort: int,
    known: Sequence[ArenaLayout] = (),
    deadline: Deadline = NO_DEADLINE,
) -> ArenaLayout:
    """The smallest layout met within `effort` placements, the first that meets the instance's floor, or
    the best at the deadline.

    Skylines among the layouts in `known` need not be built again.
    """
    climb = _Climb(instance, around, Random(seed), effort)
    starts = climb.starts({layout.strategy: layout for layout in known})
    best = state = next(starts)
    stale = 0
    while best.arena > instance.floor and climb.effort > 0 and not deadline.passed():
        if stale > _PATIENCE:
            rival, stale = next(starts), 0
        else:
            rival = climb.rival(state)
            stale = 0 if rival.arena < state.arena else stale + 1
        state = rival
        best = min(best, state, key=lambda s: s.arena)
    return ArenaLayout(best.offsets, best.arena, "search")


def search_whole(
    instance: Instance, known: ArenaLayout, passes: int, seed: int = 0, deadline: Deadline = NO_DEADLINE
) -> ArenaLayout:
    """The best of a layout and of so many more, placed as that one was: lowest floor first, or each into its best gap.

    What reached above the floor goes first the next time. Where nothing got better for two passes, the busiest steps are taken
    first, and then ranks are shaken. No list of overlapping pairs is made.
    """
    random, size = Random(seed), instance.size
    is_skyline = known.strategy.startswith("skyline/")
    name = known.strategy.removesuffix(_AGAIN)
    order = {**SKYLINE_ORDERS, **GREEDY_ORDERS}.get(name, by_size)(instance)
    place = skyline_in_arrays if is_skyline else greedy_below
    best, best_order, offsets, stale = known, order, known.offsets, 0
    turns: tuple[list[int] | None, ...] = (by_breadth(instance), None, None, None)
    others = cycle(turns)
    for turn in range(passes):
        if best.arena <= instance.floor or deadline.passed():
            break
        if stale > 1:
            order = next(others) or _shaken(best_order, random, _SHAKES[turn % len(_SHAKES)])
            offsets, stale = (0,) * len(order), 0
        high = {i for i in order if offsets[i] + size[i] > instance.floor}
        order = [*(i for i in order if i in high), *(i for i in order if i not in high)]
        layout = place(instance, order, name + _AGAIN, deadline=deadline)
        if layout is None:
            break
        offsets, stale = layout.offsets, stale + 1
        if layout.arena < best.arena:
            best, best_order, stale = layout, order, 0
    return best


def _shaken(order: Sequence[int], random: Random, share: float) -> list[int]:
    """Buffers in order, their ranks moved by up to this share of their number."""
    spread = share * len(order)
    keys = {i: rank + random.random() * spread for rank, i in enumerate(order)}
    return sorted(order, key=keys.__getitem__)


class _Climb:
    """The moves of the search, the random numbers they draw and the effort that is left."""

    __slots__ = ("_around", "_charge", "_instance", "_random", "effort")

    def __init__(self, instance: Instance, around: Neighbourhood, random: Random, effort: int) -> None:
        self._instance = instance
        self._around = around
        self._random = random
        self._charge = [1 + len(neighbours) // 32 for neighbours in around.neighbours]
        self.effort = effort

    def starts(self, known: Mapping[str, ArenaLayout]) -> Iterator[_Ordered]:
        """The skylines, smallest first, then without end what shaken orders lead to."""
        orders = {name: build(self._instance) for name, build in SKYLINE_ORDERS.items()}
        states = [
            _Ordered(order, known[name].offsets, known[name].arena) if name in known else self._place(order)
            for name, order in orders.items()
        ]
        yield from sorted(states, key=lambda state: state.arena)
        while True:
            yield self._place(_shaken(self._random.choice(tuple(orders.values())), self._random, _SHAKE))

    def rival(self, state: _Ordered) -> _Ordered:
        """A neighbour of `state` with no larger arena, or `state` itself where the one drawn has."""
        return self._place_below(self._moved(state), state.arena) or state

    def _place(self, order: list[int]) -> _Ordered:
        state = self._place_below(order, None)
        assert state is not None, "without a ceiling every order leads somewhere"
        return state

    def _place_below(self, order: list[int], ceiling: int | None) -> _Ordered | None:
        """The state `order` leads to, or None where its arena passes `ceiling`."""
        offsets, placed = stack_up(self._instance, self._around, order, ceiling)
        self.effort -= 1 + sum(self._charge[i] for i in placed)
        if len(placed) < len(order):
            return None
        return _Ordered(order, tuple(offsets), reach(self._instance, offsets))

    def _moved(self, state: _Ordered) -> list[int]:
        """`state.order` with up to three buffers, all live with one that sets the arena, moved to earlier ranks."""
        random, size = self._random, self._instance.size
        highest = [i for i, offset in enumerate(state.offsets) if offset + size[i] == state.arena]
        anchor = highest[random.randrange(len(highest))]
        movable = (anchor, *self._around.neighbours[anchor])
        order = state.order.copy()
        for _ in range(1 + random.randrange(_MOST_MOVED)):
            buffer = movable[random.randrange(len(movable))]
            rank = order.index(buffer)
            del order[rank]
            order.insert(random.randrange(rank + 1), buffer)
        return order
