"""Parallel copies: several that happen at once, done one after the other, and the cycles among them.

Copies are numbered, and known by the places that they read and write; places are whatever has a hash. One *waits for* another
that reads what it overwrites. After Boissinot, Darte, Rastello, Dupont de Dinechin and Guillon, "Revisiting out-of-SSA
translation for correctness, code quality and efficiency" (CGO 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple


class CopyStep(NamedTuple):
    """A copy is done, or, with `aside`, what it reads is set aside in new memory, from which it is done later."""

    copy: int
    aside: bool


def waited_for(reads: Sequence[Collection[Hashable]], writes: Sequence[Collection[Hashable]]) -> list[list[int]]:
    """For each copy the other ones that read what it overwrites, in order."""
    readers: dict[Hashable, list[int]] = {}
    for copy, places in enumerate(reads):
        for place in places:
            readers.setdefault(place, []).append(copy)
    return [
        sorted({reader for place in places for reader in readers.get(place, ())} - {copy})
        for copy, places in enumerate(writes)
    ]


def sequentialized(reads: Sequence[Collection[Hashable]], writes: Sequence[Collection[Hashable]]) -> Iterator[CopyStep]:
    """The steps that do all copies as if at once: the first one that waits for none, each time.

    Where all wait, the first of those that the first one waits for is set aside.
    """
    waits = waited_for(reads, writes)
    waiting: list[list[int]] = [[] for _ in waits]  # for each copy
    for copy, others in enumerate(waits):
        for other in others:
            waiting[other].append(copy)
    left = [len(others) for others in waits]
    free = [copy for copy, count in enumerate(left) if not count]
    read = [False] * len(waits)
    done = [False] * len(waits)

    def let_go(copy: int) -> None:
        for other in () if read[copy] else waiting[copy]:
            left[other] -= 1
            if not left[other]:
                heappush(free, other)
        read[copy] = True

    for first in range(len(waits)):
        while not done[first]:
            if free:
                copy = heappop(free)
                done[copy] = True
            else:
                copy = next(other for other in waits[first] if not read[other])
            yield CopyStep(copy, not done[copy])
            let_go(copy)


def cycle_breakers(waits: Sequence[Sequence[int]], rank: Callable[[int], tuple[bool, ...]]) -> Iterator[int]:
    """Copies without which none waits for itself: of each cycle that a search comes upon, the one that ranks lowest."""
    done = [False] * len(waits)
    for start in range(len(waits)):
        path = [] if done[start] else [start]
        places = {start: 0}
        rest = [iter(waits[start])]
        while path:
            following = next((other for other in rest[-1] if not done[other]), None)
            if following is None:
                done[path.pop()] = True
                rest.pop()
            elif places.get(following, len(path)) >= len(path) or path[places[following]] != following:
                places[following] = len(path)
                path.append(following)
                rest.append(iter(waits[following]))
            else:
                least = min(path[places[following] :], key=rank)
                yield least
                done[least] = True
                del path[places[least] :], rest[places[least] :]
