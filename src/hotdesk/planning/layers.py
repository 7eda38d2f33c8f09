"""Layers between which something is carried, such as the residual stream of a network: equal ones are planned once.

A *seam* is a step at which as few live ranges cross as anywhere. What crosses one seam alone, one buffer at most, is the
*stream*; what crosses several lies on the ground, below all else, all the time. Streams lie in turn at the bottom and at the
top of what is left of the arena. So every layer knows where what it is given and what it hands on lie, and shares nothing else
with the others: it is an instance of its own, with these two as obstacles.

A layer that is given its stream at the top is planned upside down, as one that is given it at the bottom. Layers that read
alike then have one answer. Where each layer stays within the load of the whole, that is an optimal layout; where one does not,
there is no answer here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hotdesk.planning.instance import Instance, Layout, Obstacle, assemble
from hotdesk.planning.skyline import reach

_FEWEST = 3
"""Layers that are worth looking for."""

_ASIDE = 4
"""Buffers with the longest live ranges that are put on the ground before seams are looked for: none, one, and so on."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Buffers `members` between the compressed steps `lower` and `upper`, what is `given` to them and `handed_on`."""

    lower: int
    upper: int
    members: tuple[int, ...]
    given: int | None
    handed_on: int | None
    flipped: bool


def plan_layers(instance: Instance, solve: Callable[[Instance], Layout]) -> Layout | None:
    """The layout that equal layers share, each kind placed once by `solve`; None where that is above the floor.

    Instances with obstacles, and those in which a size is no multiple of the strictest alignment, have no answer.
    """
    strictest = max(instance.alignment, default=1)
    if instance.obstacles or any(size % strictest for size in instance.size) or instance.floor % strictest:
        return None
    by_span = sorted(range(len(instance)), key=lambda i: instance.lower[i] - instance.upper[i])
    for aside in range(min(_ASIDE, len(instance))):
        found = find_layers(instance, by_span[:aside])
        if found is not None and (layout := _stack(instance, *found, solve)) is not None:
            return layout
    return None


def _stack(
    instance: Instance, layers: Sequence[Layer], spanning: Sequence[int], solve: Callable[[Instance], Layout]
) -> Layout | None:
    """`spanning` on the ground, and the layers above; None where there are few of a kind, or one reaches too high."""
    offsets = [0] * len(instance)
    ground = 0
    for i in spanning:
        offsets[i] = ground
        ground += instance.size[i]
    room = instance.floor - ground
    parts = [_part(instance, layer, room) for layer in layers]
    if None in parts or len({*parts}) > len(layers) // 2:
        return None
    known: dict[Instance, Layout] = {}
    for layer, part in zip(layers, parts, strict=True):
        assert part is not None
        if part not in known:
            known[part] = solve(part)
        if known[part].arena > room:
            return None
        placed = [*zip(layer.members, known[part].offsets, strict=True)]
        if layer.handed_on is not None:
            placed.append((layer.handed_on, room - instance.size[layer.handed_on]))
        for i, offset in placed:
            offsets[i] = ground + (room - offset - instance.size[i] if layer.flipped else offset)
    return Layout(tuple(offsets), reach(instance, offsets), "layers")


def find_layers(instance: Instance, aside: Sequence[int] = ()) -> tuple[list[Layer], list[int]] | None:
    """The layers in order of time, and what lies on the ground: the buffers `aside`, and those that cross several seams.

    None where there are no such layers.
    """
    steps = max(instance.upper, default=0)
    change = np.zeros(steps + 2, dtype=np.int64)
    counted = np.ones(len(instance), dtype=np.int64)
    counted[list(aside)] = 0
    np.add.at(change, np.array(instance.lower, dtype=np.int64) + 1, counted)
    np.add.at(change, np.array(instance.upper, dtype=np.int64), -counted)
    crossing = np.cumsum(change)[1:steps]
    if not crossing.size or (crossing.min() == 0 and not aside):
        return None  # a cut, which is for `decompose`
    seams, carried = _distinct(instance, (np.flatnonzero(crossing == crossing.min()) + 1).tolist(), {*aside})
    often = Counter(i for some in carried for i in some)
    spanning = [*aside, *sorted(i for i, times in often.items() if times > 1)]
    streams = [[i for i in some if often[i] == 1] for some in carried]
    if len(seams) + 1 < _FEWEST or any(len(some) > 1 for some in streams):
        return None
    outside = {*often, *spanning}
    return _layers(instance, [0, *seams, steps], [some[0] if some else None for some in streams], outside), spanning


def _distinct(instance: Instance, seams: Sequence[int], aside: set[int]) -> tuple[list[int], list[list[int]]]:
    """Seams at which not the same buffers cross as at the one before, and these buffers, without those `aside`."""
    carried: list[list[int]] = [[] for _ in range(len(seams))]
    first = np.searchsorted(seams, instance.lower, side="right").tolist()
    last = np.searchsorted(seams, instance.upper, side="left").tolist()
    for i, (start, end) in enumerate(zip(first, last, strict=True)):
        if i not in aside:
            for k in range(start, end):
                carried[k].append(i)
    kept = [k for k in range(len(seams)) if k == 0 or not carried[k] or carried[k] != carried[k - 1]]
    return [seams[k] for k in kept], [carried[k] for k in kept]


def _layers(instance: Instance, bounds: Sequence[int], streams: Sequence[int | None], outside: set[int]) -> list[Layer]:
    members: list[list[int]] = [[] for _ in range(len(bounds) - 1)]
    place: list[int] = (np.searchsorted(bounds, instance.lower, side="right") - 1).tolist()
    for i, k in enumerate(place):
        if i not in outside:
            members[k].append(i)
    layers: list[Layer] = []
    for k, some in enumerate(members):
        given = streams[k - 1] if k else None
        handed_on = streams[k] if k < len(streams) else None
        layers.append(Layer(bounds[k], bounds[k + 1], tuple(some), given, handed_on, flipped=k % 2 == 0))
    return layers


def _part(instance: Instance, layer: Layer, room: int) -> Instance | None:
    """The members of a layer, over their own steps, what it is given at the bottom of `room` bytes and the rest at the top.

    None where these two would meet.
    """
    taken: list[tuple[int, int, int, int]] = []
    if (i := layer.given) is not None:
        taken.append((layer.lower, instance.upper[i], 0, instance.size[i]))
    if (i := layer.handed_on) is not None:
        taken.append((instance.lower[i], layer.upper, room - instance.size[i], room))
    if any(bottom < 0 or top > room for _, _, bottom, top in taken):
        return None
    if len(taken) == 2 and taken[0][1] > taken[1][0] and taken[0][3] > taken[1][2]:
        return None
    lower = np.array([instance.lower[i] for i in layer.members], dtype=np.int64)
    starts = np.unique([*lower.tolist(), *(piece[0] for piece in taken)])
    return assemble(
        origin=tuple(range(len(layer.members))),
        lower=starts.searchsorted(lower),
        upper=starts.searchsorted([instance.upper[i] for i in layer.members]),
        lifetime=tuple(instance.lifetime[i] for i in layer.members),
        size=tuple(instance.size[i] for i in layer.members),
        alignment=tuple(instance.alignment[i] for i in layer.members),
        obstacles=tuple(
            Obstacle(int(starts.searchsorted(since)), int(starts.searchsorted(until)), bottom, top)
            for since, until, bottom, top in taken
        ),
        steps=len(starts),
        floor=room,
    )
