"""What a report says, as records: no tensor, no IR, only numbers and names. All sizes are in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.sizes.size import evaluate

LARGEST = 3
_MISSED = (Outcome.ALLOCATED, Outcome.COPIED)
_OF_ARGUMENTS = (Reason.NON_CONTIGUOUS_ARGUMENT, Reason.DONATED_NOT_USABLE)
_ALWAYS_SHOWN = (Outcome.IN_PLACE, Outcome.COPIED, Outcome.SHARED)


@dataclass(frozen=True, slots=True)
class CertifiedBuffer:
    """A buffer that a bound is about: `footprint` is its size in bytes, rounded up to its alignment.

    `name` and `location` are of the operation that uses it first.
    """

    name: str
    bytes: int
    footprint: int
    location: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no plan has an arena of fewer than `bytes` bytes.

    Attributes:
        bytes: the bound.
        proof: "live": `buffers` are all in use at one operation, and the caller's memory can hold no more than `lent` bytes of
            them. Else the search that looked at every placement of `buffers` and found none smaller: "dive" or "cp-sat".
        step: the number of that operation; of a search, of the first one that uses a buffer.
        op, location: its name, and its line in Python.
        buffers: the largest first.
        lent: of a proof of the kind "live", the footprints of `buffers` less `lent` are the bound; else 0.
    """

    bytes: int
    proof: str
    step: int
    op: str
    location: str
    buffers: tuple[CertifiedBuffer, ...]
    lent: int = 0

    @property
    def together(self) -> int:
        """The footprints of all buffers."""
        return sum(buffer.footprint for buffer in self.buffers)


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

    @property
    def is_exact(self) -> bool:
        """Whether some call takes exactly `memory.peak` bytes."""
        return "peak" in self.exact


@dataclass(frozen=True, slots=True)
class BufferLine:
    """One buffer: live from step `lower` up to step `upper`; `where` is `arena`, `result 0` and the like.

    `offset` counts bytes from the start of the arena, or of the result that lends its memory. `module` is the submodule of the
    model, `shape` and `element` are of the memref.
    """

    name: str
    bytes: int
    location: str
    lower: int
    upper: int
    where: str
    offset: int = 0
    module: str = ""
    shape: tuple[int, ...] = ()
    element: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A program's use of memory for one set of sizes.

    `outcomes` counts decisions, in the order of `Outcome` (in place, copied and shared even when none); `largest` are the
    largest buffers live at the peak; `missed` is the largest tensor that did not take over memory in use before; `copies`
    are the arguments copied once a call, by name and bytes; `spent` is what was done to fit in a budget.
    """

    name: str
    symbols: tuple[tuple[str, int], ...]
    memory: Memory
    outcomes: tuple[tuple[Outcome, int], ...]
    largest: tuple[BufferLine, ...]
    missed: Decision | None
    copies: tuple[tuple[str, int], ...]
    spent: tuple[Decision, ...] = ()


def summarize(
    name: str,
    symbols: Sequence[tuple[str, int]],
    memory: Memory,
    at_peak: Sequence[BufferLine],
    decisions: Sequence[Decision],
) -> Report:
    """The report for `decisions` whose bytes are numbers. Of equals, what was decided first comes first."""
    copies = tuple(found for found in decisions if found.reason in _OF_ARGUMENTS)
    made = tuple(found for found in decisions if found.reason not in _OF_ARGUMENTS)
    counts = tuple((outcome, sum(found.outcome is outcome for found in made)) for outcome in Outcome)
    return Report(
        name=name,
        symbols=tuple(symbols),
        memory=memory,
        outcomes=tuple((outcome, count) for outcome, count in counts if count or outcome in _ALWAYS_SHOWN),
        largest=tuple(sorted(at_peak, key=lambda line: -line.bytes)[:LARGEST]),
        missed=max((found for found in made if found.outcome in _MISSED), key=_number, default=None),
        copies=tuple((found.subject, _number(found)) for found in copies),
        spent=tuple(found for found in made if found.reason is Reason.WITHIN_BUDGET),
    )


def _number(decision: Decision) -> int:
    return evaluate(decision.bytes, {})
