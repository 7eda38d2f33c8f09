"""Inputs that a call writes: which are used where they lie, which are copied first, and what must not share their memory.

1. A donated tensor is used where it lies if it is contiguous, writable and aligned to `ALIGNED` bytes. Any other is copied, like
   an argument with gaps, and stays as it is.
2. One that is used where it lies shares no byte with another argument or a weight: a call that says so contradicts itself.
3. One that requires a gradient is refused: what autograd has kept of it would change.
4. A tensor that the program writes for its caller is used where it lies, and is refused where a donated one is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotdesk.errors import ArgumentTypeError, DonatedOverlapError, LayoutError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.runtime.admission import Admitted
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.outputs import Extents
from hotdesk.runtime.tensors import TensorView, copied, describe, overlap

ALIGNED = 16
"""The alignment of the largest element, in bytes: whatever is lent memory there is aligned to its elements."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The inputs of a call: where each lies, and of those that are written, by number, the memory that the program may write."""

    addresses: Sequence[int]
    donated: Mapping[int, TensorView]


class Donation:
    """The donated and written ones among a program's inputs.

    `held` are results that lie in donated ones, by number, with the number of the input.
    """

    def __init__(self, inputs: Sequence[TensorSpec], held: Mapping[int, int], weights: Extents) -> None:
        self._names = [spec.name for spec in inputs]
        self._donated = frozenset(number for number, spec in enumerate(inputs) if spec.donated)
        self._written = frozenset(number for number, spec in enumerate(inputs) if spec.written and not spec.donated)
        self._all = self._donated | self._written
        self._weights = weights
        self.held = dict(held)

    @property
    def exists(self) -> bool:
        """Whether any input is donated or written."""
        return bool(self._all)

    def take(self, leaves: Sequence[object], call: Admitted) -> Taken:
        """The memory of an admitted call. Raises ArgumentTypeError, LayoutError and DonatedOverlapError."""
        if not self._all:
            return Taken(call.addresses, {})
        views = {number: describe(leaves[number], self._what(number)) for number in sorted(self._all)}
        for number, view in views.items():
            if getattr(view.owner, "requires_grad", False):
                raise ArgumentTypeError(
                    self._told(number),
                    expected="a tensor without requires_grad",
                    got="one with it",
                    hint="Pass x.detach().",
                )
            if number in self._written and not (view.contiguous and view.writable):
                got = "read-only memory" if view.contiguous else f"strides {view.strides}, in elements"
                hint = "Pass a contiguous copy, which has the values after the call."
                raise LayoutError(
                    self._told(number), expected="contiguous memory that may be written", got=got, hint=hint
                )
        given = {number for number, view in views.items() if number in self._written or _is_usable(view)}
        self._check_apart(given, call.extents())
        addresses, memory = list(call.addresses), dict(views)
        for number in views.keys() - given:
            memory[number] = copied(views[number]) if views[number].contiguous else call.copies[number]
            addresses[number] = memory[number].pointer
        return Taken(addresses, memory)

    def is_copied(self, number: int, view: TensorView) -> bool:
        """Whether a call copies an argument before it runs, or would if it were not refused."""
        return not (_is_usable(view) if number in self._donated else view.contiguous)

    def copies(self, views: Sequence[TensorView]) -> list[Decision]:
        """The arguments that a call copies."""
        return [
            Decision(
                self._names[number],
                Outcome.COPIED,
                Reason.DONATED_NOT_USABLE if view.contiguous else Reason.NON_CONTIGUOUS_ARGUMENT,
                (),
                view.bytes,
            )
            for number, view in enumerate(views)
            if self.is_copied(number, view)
        ]

    def _what(self, number: int) -> str:
        return f"argument '{self._names[number]}'"

    def _told(self, number: int) -> str:
        return f"{'donated' if number in self._donated else 'written'} {self._what(number)}"

    def _check_apart(self, given: set[int], extents: Sequence[tuple[int, int]]) -> None:
        """Sweeps all arguments by address: of those so far, the ones that reach furthest are compared with the next."""
        furthest = furthest_given = -1
        for number in sorted(range(len(extents)), key=lambda i: extents[i]):
            other = furthest if number in given else furthest_given
            if other >= 0 and (shared := overlap(extents[number], extents[other])):
                this, that = (number, other) if number in given else (other, number)
                raise self._shared(this, shared, self._what(that))
            if furthest < 0 or extents[number][1] > extents[furthest][1]:
                furthest = number
            if number in given and (furthest_given < 0 or extents[number][1] > extents[furthest_given][1]):
                furthest_given = number
        for number in sorted(given):
            if met := self._weights.meeting(extents[number]):
                raise self._shared(number, met[1], f"weight '{met[0]}'")

    def _shared(self, number: int, shared: int, name: str) -> DonatedOverlapError:
        return DonatedOverlapError(
            self._told(number),
            expected="memory of its own",
            got=f"{shared:,} bytes shared with {name}",
            hint="Pass a copy of it.",
        )


def _is_usable(view: TensorView) -> bool:
    return view.contiguous and view.writable and (view.pointer % ALIGNED == 0 or not view.bytes)
