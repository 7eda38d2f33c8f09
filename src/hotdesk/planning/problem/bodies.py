"""Buffers that ties hold together, as one body: rectangles of bytes and steps that move up and down the arena as one.

A buffer that nothing is tied to is a body of its own, of one rectangle for each stretch between gaps. In a body of several
buffers the rectangles are the union of theirs, cut into stretches of time and bytes that do not meet. Bytes and steps that
no member takes are free to others, between parts as well as in gaps.

Alignments are powers of two, so the strictest of a body's members says where the body may lie, or ties and alignments
exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hotdesk.planning.problem.buffers import Buffer, BufferId, Tie
from hotdesk.planning.problem.numbers import shown


class Rectangle(NamedTuple):
    """Bytes `[bottom, top)`, counted from the first byte of a body, during the steps `[lower, upper)`."""

    lower: int
    upper: int
    bottom: int
    top: int


class Body(NamedTuple):
    """Members by position in the problem, each with its offset in the body; the lowest has 0.

    The body's first byte lies at a multiple of `alignment` plus `phase`, or at `pinned`. Its members need bytes up to `end`,
    and padding after the last of them makes it `top`; both are 0, and there are no rectangles, where all are empty.
    """

    members: tuple[tuple[int, int], ...]
    rectangles: tuple[Rectangle, ...]
    alignment: int
    phase: int
    end: int
    top: int
    pinned: int | None


def bodies_of(buffers: Sequence[Buffer], ties: Sequence[Tie]) -> tuple[Body, ...]:
    """The bodies, in the order of their first members. Near-linear, but for members of one body that are live together.

    Raises ValueError for a tie to an unknown buffer, for ties that contradict each other, and for alignments and fixed
    offsets that no place of a body meets.
    """
    return tuple(_body(buffers, members) for members in _tied(buffers, ties))


def _tied(buffers: Sequence[Buffer], ties: Sequence[Tie]) -> Iterator[list[tuple[int, int]]]:
    """Each group's positions, in order, with their distances in bytes from the first."""
    position = {buffer.id: i for i, buffer in enumerate(buffers)}
    around: dict[int, list[tuple[int, int]]] = {}
    for tie in ties:
        for name in (tie.buffer_id, tie.host_id):
            if name not in position:
                raise ValueError(f"expected ties between buffers of the problem, got one of {shown(name)}")
        tied, host = position[tie.buffer_id], position[tie.host_id]
        around.setdefault(host, []).append((tied, tie.offset))
        around.setdefault(tied, []).append((host, -tie.offset))
    seen: set[int] = set()
    for first in range(len(buffers)):
        if first in seen:
            continue
        distance = {first: 0}
        waiting = [first]
        while waiting:
            i = waiting.pop()
            for j, offset in around.get(i, ()):
                there = distance[i] + offset
                if distance.setdefault(j, there) != there:
                    raise ValueError(
                        f"expected ties that agree, got {shown(buffers[j].id)} both {distance[j]} and {there} bytes "
                        f"from {shown(buffers[first].id)}"
                    )
                if j not in seen:
                    seen.add(j)
                    waiting.append(j)
        seen.add(first)
        yield sorted(distance.items())


def _body(buffers: Sequence[Buffer], distances: list[tuple[int, int]]) -> Body:
    lowest = min(distance for _, distance in distances)
    members = tuple((i, distance - lowest) for i, distance in distances)
    anchor, at = max(members, key=lambda member: buffers[member[0]].alignment)
    alignment = buffers[anchor].alignment
    for i, offset in members:
        if (offset - at) % buffers[i].alignment:
            raise ValueError(
                f"expected ties that keep alignments, got {shown(buffers[i].id)}, aligned to {buffers[i].alignment}, "
                f"{abs(offset - at)} bytes from {shown(buffers[anchor].id)}, aligned to {alignment}"
            )
    taken = [(buffers[i], offset) for i, offset in members if buffers[i].size]
    phase, pinned = -at % alignment, _pinned(buffers, members)
    if pinned is not None and (pinned - phase) % alignment:
        raise ValueError(
            f"expected fixed offsets that keep alignments, got {shown(buffers[anchor].id)}, aligned to {alignment}, "
            f"at {pinned + at} by what it is tied to"
        )
    return Body(
        members=members,
        rectangles=_union(taken),
        alignment=alignment,
        phase=phase,
        end=max((offset + b.size for b, offset in taken), default=0),
        top=max((offset + b.footprint for b, offset in taken), default=0),
        pinned=pinned,
    )


def _pinned(buffers: Sequence[Buffer], members: Sequence[tuple[int, int]]) -> int | None:
    places: dict[int, BufferId] = {}
    for i, offset in members:
        fixed = buffers[i].fixed_offset
        if fixed is not None:
            places[fixed - offset] = buffers[i].id
    if len(places) > 1:
        raise ValueError(
            f"expected fixed offsets that agree with the ties, got {', '.join(map(shown, places.values()))}"
        )
    place = next(iter(places), None)
    if place is not None and place < 0:
        raise ValueError(f"expected what is tied to {shown(places[place])} at offset 0 or above, got {place}")
    return place


def _union(taken: Sequence[tuple[Buffer, int]]) -> tuple[Rectangle, ...]:
    """What buffers at these offsets occupy, each rectangle as long as its bytes stay the same."""
    if len(taken) == 1:
        buffer, offset = taken[0]
        return tuple(Rectangle(start, end, offset, offset + buffer.footprint) for start, end in buffer.live)
    changes: dict[int, list[tuple[bool, int]]] = {}
    for k, (buffer, _) in enumerate(taken):
        for start, end in buffer.live:
            changes.setdefault(start, []).append((True, k))
            changes.setdefault(end, []).append((False, k))
    live: set[int] = set()
    since: dict[tuple[int, int], int] = {}
    rectangles: list[Rectangle] = []
    for step in sorted(changes):
        live -= {k for starts, k in changes[step] if not starts}
        live |= {k for starts, k in changes[step] if starts}
        now = set(_joined((taken[k][1], taken[k][1] + taken[k][0].footprint) for k in live))
        rectangles += [Rectangle(since.pop(span), step, *span) for span in sorted(since.keys() - now)]
        since |= dict.fromkeys(now - since.keys(), step)
    return tuple(sorted(rectangles, key=lambda r: (r.lower, r.bottom)))


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of half-open spans, as spans that neither meet nor touch, in order."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
