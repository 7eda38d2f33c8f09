"""A problem of the arena planner: buffers, what ties them, and the pools they may borrow; see `buffers.py`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hotdesk.planning.problem.bodies import bodies_of
from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, Tie, pinned_top
from hotdesk.planning.problem.numbers import LARGEST_TOTAL, shown


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers to place, pools to borrow from, and ties between buffers.

    Raises ValueError for an id used twice, for pinned buffers that collide, for sizes whose sum leaves 60 bits, and for
    ties that no plan can keep.
    """

    buffers: tuple[Buffer, ...]
    pools: tuple[Pool, ...] = ()
    ties: tuple[Tie, ...] = ()

    def __post_init__(self) -> None:
        _reject_repeats("buffer", [buffer.id for buffer in self.buffers])
        _reject_repeats("pool", [pool.id for pool in self.pools])
        highest = max((pinned_top(b) for b in self.buffers if b.fixed_offset is not None and b.size), default=0)
        total = highest + sum([buffer.footprint for buffer in self.buffers]) + sum(abs(tie.offset) for tie in self.ties)
        if total >= LARGEST_TOTAL:
            raise ValueError(f"expected sizes that sum to less than {LARGEST_TOTAL} bytes, got {shown(total)}")
        _reject_collisions(self._pinned_rectangles())

    @property
    def is_plain(self) -> bool:
        """Whether every buffer is on its own, and needed without a gap."""
        return not self.ties and not any(buffer.gaps for buffer in self.buffers)

    def _pinned_rectangles(self) -> Iterator[tuple[int, int, int, int, BufferId]]:
        """Steps and bytes that pinned buffers take, with what is tied to them, and the id of one of them."""
        pinned = [b for b in self.buffers if b.fixed_offset is not None]
        if not self.ties and not pinned:
            return
        for body in bodies_of(self.buffers, self.ties) if self.ties else bodies_of(pinned, ()):
            if body.pinned is None:
                continue
            name = (self.buffers if self.ties else pinned)[body.members[0][0]].id
            for r in body.rectangles:
                yield r.lower, r.upper, body.pinned + r.bottom, body.pinned + r.top, name


def _reject_repeats(kind: str, ids: Sequence[int | str]) -> None:
    try:
        if len(set(ids)) == len(ids):
            return
    except TypeError as error:
        raise ValueError(
            f"expected {kind} ids that are integers or strings, got one that is neither: {error}"
        ) from error
    seen: set[int | str] = set()
    for name in ids:
        if name in seen:
            raise ValueError(f"expected every {kind} id once, got {shown(name)} twice")
        seen.add(name)


def _reject_collisions(taken: Iterable[tuple[int, int, int, int, BufferId]]) -> None:
    """Raises ValueError where two meet. What is live lies apart, so a newcomer can only meet those beside its place."""
    pieces = sorted(taken, key=lambda piece: piece[0])
    ending = sorted(range(len(pieces)), key=lambda k: pieces[k][1])
    live: list[tuple[int, int, int]] = []  # bytes and number, in order
    ended = 0
    for k, (lower, _, bottom, top, name) in enumerate(pieces):
        while pieces[ending[ended]][1] <= lower:
            _, _, other_bottom, other_top, _ = pieces[ending[ended]]
            del live[bisect_left(live, (other_bottom, other_top, ending[ended]))]
            ended += 1
        at = bisect_left(live, (bottom, top, k))
        for other_bottom, other_top, other in live[max(at - 1, 0) : at + 1]:
            if other_bottom < top and bottom < other_top:
                raise ValueError(
                    f"expected pinned buffers that are live together to lie apart, "
                    f"got {shown(pieces[other][-1])} and {shown(name)} at {other_bottom} and {bottom}"
                )
        live.insert(at, (bottom, top, k))
