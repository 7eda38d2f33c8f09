"""The certificate of a bound, with operations and lines of the program for steps and buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hotdesk.explain import Source
from hotdesk.planning.problem.bounds import Bound, certificate
from hotdesk.report.records import Certificate, CertifiedBuffer
from hotdesk.runtime.lowered import Planned
from hotdesk.runtime.plans.problems import problem_of


class Located(Planned, Protocol):
    """A function whose operations have names and lines, by op number."""

    @property
    def sources(self) -> Sequence[Source]: ...


def certified(function: Located, sizes: Sequence[int], bound: Bound) -> Certificate:
    """The certificate of a bound for a function whose buffers have these sizes, in bytes, by place.

    A buffer has the name and the line of the operation that uses it first.
    """
    found = certificate(problem_of(function, sizes), bound)
    point = function.sources[bound.step] if found.buffers else Source("", "")
    named = tuple(
        CertifiedBuffer(source.op, buffer.size, buffer.footprint, source.location)
        for buffer in found.buffers
        for source in [function.sources[buffer.lower]]
    )
    return Certificate(bound.bytes, bound.kind, bound.step, point.op, point.location, named, found.lent)
