"""Decomposition: an instance in parts that are solved one by one, and parts that read alike once.

*Ground.* A buffer that is live at every step of an instance cuts the arena in two, and what lies below and above it
can change places with it: some smallest placement has all such buffers stacked on the ground.

*Cuts.* Where no live range crosses a step, what is before and what is after are separate questions. The arena is the
larger of the two.

Both are applied in turn until neither finds anything. Parts that read alike, such as the layers of a network between
whose ends nothing is carried, have one answer, made once. A pinned buffer crosses cuts: its place is known, so it stands in
each part that it meets. Nothing goes to the ground of such a part, nor where a size is no multiple of the strictest
alignment: what is moved would need padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hotdesk.planning.placement.instance import ArenaLayout, Instance, assemble


@dataclass(frozen=True, slots=True)
class Component:
    """Buffers `members` of an instance as an instance of their own, to be placed from byte `ground` on."""

    instance: Instance
    members: tuple[int, ...]
    ground: int


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Offsets that are settled, by buffer, and the parts that are open."""

    settled: dict[int, int]
    parts: tuple[Component, ...]


def decompose(instance: Instance) -> Decomposition:
    """The parts of `instance`, in order of time. O(n log n) for each level of grounds within grounds."""
    everything = tuple(range(len(instance)))
    strictest = max(instance.alignment, default=1)
    plain = not any(size % strictest for size in instance.size)
    settled: dict[int, int] = {}
    parts: list[Component] = []
    waiting = [(group, 0) for group in reversed(_cut(instance, everything))]
    while waiting:
        group, ground = waiting.pop()
        start, end = min(instance.lower[i] for i in group), max(instance.upper[i] for i in group)
        level = plain and not any(o.lower < end and start < o.upper for o in instance.obstacles)
        whole = [i for i in group if level and instance.lower[i] == start and instance.upper[i] == end]
        for i in whole:
            settled[i] = ground
            ground += instance.size[i]
        rest = tuple(i for i in group if i not in settled) if whole else group
        if whole and rest:
            waiting += [(part, ground) for part in reversed(_cut(instance, rest))]
        elif rest:
            members = tuple(sorted(rest))
            parts.append(Component(_restrict(instance, members), members, ground))
    return Decomposition(settled, tuple(parts))


def solve_parts(instance: Instance, solve: Callable[[Instance], ArenaLayout]) -> ArenaLayout:
    """Place each part by `solve`, equal parts once. The layout bears the strategy of the part that reaches highest.

    No part is asked to stay below what another one needs.
    """
    found = decompose(instance)
    offsets = [0] * len(instance)
    arena, strategy = max((o.top for o in instance.obstacles), default=0), "ground"
    for i, offset in found.settled.items():
        offsets[i] = offset
        arena = max(arena, offset + instance.size[i])
    needed = max([arena, instance.floor, *(part.ground + part.instance.floor for part in found.parts)])
    known: dict[Instance, ArenaLayout] = {}
    proof = ArenaLayout((), 0, "")
    for part in found.parts:
        relaxed = replace(part.instance, origin=(), floor=needed - part.ground)
        if relaxed not in known:
            known[relaxed] = solve(replace(relaxed, origin=tuple(range(len(part.members)))))
        layout = known[relaxed]
        for i, offset in zip(part.members, layout.offsets, strict=True):
            offsets[i] = part.ground + offset
        if part.ground + layout.arena > arena or strategy == "ground":
            strategy = layout.strategy
        if layout.prover is not None and part.ground + layout.proven > proof.proven:
            below = tuple(i for i in found.settled if _covers(instance, i, part))
            witness = (*below, *(part.members[i] for i in layout.witness))
            proof = replace(layout, proven=part.ground + layout.proven, witness=witness)
        arena = max(arena, part.ground + layout.arena)
    return ArenaLayout(tuple(offsets), arena, strategy, proof.proven, proof.prover, proof.witness)


def _covers(instance: Instance, i: int, part: Component) -> bool:
    return instance.lower[i] <= instance.lower[part.members[0]] < instance.upper[i]


def _cut(instance: Instance, group: Sequence[int]) -> list[tuple[int, ...]]:
    """`group` cut at the steps that none of its live ranges crosses, in order of time."""
    parts: list[tuple[int, ...]] = []
    current: list[int] = []
    end = 0
    for i in sorted(group, key=instance.lower.__getitem__):
        if current and instance.lower[i] >= end:
            parts.append(tuple(current))
            current = []
        current.append(i)
        end = max(end, instance.upper[i])
    return [*parts, tuple(current)] if current else parts


def _restrict(instance: Instance, members: tuple[int, ...]) -> Instance:
    """The instance of `members` alone, and what is pinned meanwhile, over their own compressed steps."""
    if len(members) == len(instance):
        return instance
    lower = np.array([instance.lower[i] for i in members], dtype=np.int64)
    start, end = int(lower.min()), max(instance.upper[i] for i in members)
    pinned = [
        replace(o, lower=max(o.lower, start), upper=min(o.upper, end))
        for o in instance.obstacles
        if o.lower < end and start < o.upper
    ]
    starts = np.unique([*lower.tolist(), *(o.lower for o in pinned)])
    return assemble(
        origin=tuple(instance.origin[i] for i in members),
        lower=starts.searchsorted(lower),
        upper=starts.searchsorted([instance.upper[i] for i in members]),
        lifetime=tuple(instance.lifetime[i] for i in members),
        size=tuple(instance.size[i] for i in members),
        alignment=tuple(instance.alignment[i] for i in members),
        obstacles=tuple(
            replace(o, lower=int(starts.searchsorted(o.lower)), upper=int(starts.searchsorted(o.upper))) for o in pinned
        ),
        steps=len(starts),
    )
