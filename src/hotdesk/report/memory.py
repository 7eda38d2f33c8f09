"""What calls of a program take, in bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hotdesk.report.certificates import Certificate


@dataclass(frozen=True, slots=True)
class Memory:
    """What one call of a program takes.

    `peak` is `arena` + `outputs`. `lower_bound` is the least any arena could be, to compare with `arena`; `no_reuse` is
    what the call would take if every tensor had a buffer of its own, to compare with `peak`. `weights`, `prepared` and
    `inputs` are there whether the program runs or not. `outputs` leaves out the results that lie in donated inputs.
    `allocations` counts the buffers in the arena and in memory that is lent; `copies` is what contiguous copies of non-contiguous
    arguments, and of donated ones that cannot be written, take on top of all this. `donated` are the bytes of those `inputs` that
    are donated, and `lent` the bytes of all buffers that lie in their memory once nothing reads them any more. `state` are the
    bytes of the model's tensors that calls change, which are not among the `weights`. `grown` are the most bytes that a call has
    taken so far from the second region, for what is known only when it runs: they are in no other figure. `certificate` is what
    proves `lower_bound`; None where that is no bound of one plan, as in a worst case that no call reaches.
    """

    arena: int
    peak: int
    lower_bound: int
    no_reuse: int
    weights: int
    prepared: int
    inputs: int
    outputs: int
    allocations: int
    copies: int = 0
    donated: int = 0
    lent: int = 0
    state: int = 0
    grown: int = 0
    certificate: Certificate | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The most that calls of a program take, for all sizes in a range; every figure of `memory` by itself.

    Attributes:
        memory: no call takes more, of any kind. `copies` is left out: it depends on how arguments lie in memory.
        ranges: the symbols with their least and greatest value.
        exact: the names of those figures that some call reaches; the others are bounds that may lie above every call.
    """

    memory: Memory
    ranges: tuple[tuple[str, tuple[int, int]], ...]
    exact: frozenset[str]
