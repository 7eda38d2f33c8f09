"""What proves a lower bound, in figures that add up: the buffers, what they take together, and what pools can lend of it."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.planning.bodies import bodies_of
from hotdesk.planning.bounds import Bound
from hotdesk.planning.buffers import Buffer
from hotdesk.planning.problem import Problem


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no plan has an arena below `bound.bytes`.

    Attributes:
        bound: the bytes, the kind of proof, and the step.
        buffers: those of the bound, the largest first.
        together: of a bound of the kind "live" the bytes that they take at the step, those of ties once; else of all of them.
        lent: what pools can lend of that, at most. `together` less `lent` is the bound, if it is of the kind "live"; else 0.
    """

    bound: Bound
    buffers: tuple[Buffer, ...]
    together: int
    lent: int


def certificate(problem: Problem, bound: Bound) -> Certificate:
    """The certificate of a bound of a problem."""
    ids = frozenset(bound.buffer_ids)
    named = sorted((buffer for buffer in problem.buffers if buffer.id in ids), key=lambda b: (-b.footprint, b.lower))
    together = sum(buffer.footprint for buffer in named)
    if bound.kind != "live":
        return Certificate(bound, tuple(named), together, 0)
    if problem.ties:
        rectangles = (r for body in bodies_of(problem.buffers, problem.ties) for r in body.rectangles)
        together = sum(r.top - r.bottom for r in rectangles if r.lower <= bound.step < r.upper)
    return Certificate(bound, tuple(named), together, together - bound.bytes)


def spelled(found: Certificate, most: int = 6) -> str:
    """The buffers with their footprints in bytes, all but `most` of them in one figure, and what is taken off."""
    parts = [f"{buffer.id} {buffer.footprint:,}" for buffer in found.buffers[:most]]
    rest = found.buffers[most:]
    if rest:
        parts.append(f"{len(rest):,} more {sum(buffer.footprint for buffer in rest):,}")
    shared = sum(buffer.footprint for buffer in found.buffers) - found.together
    if shared:
        parts.append(f"less {shared:,} that ties share")
    if found.lent:
        parts.append(f"less {found.lent:,} that pools lend")
    return ", ".join(parts)
