"""Donated inputs of a call: which are used where they lie, which are copied first, and what must not share their memory.

1. A donated tensor is used where it lies if it is contiguous, writable and aligned to `ALIGNED` bytes. Any other is copied, like
   an argument with gaps, and stays as it is.
2. One that is used where it lies shares no byte with another argument or a weight: a call that says so contradicts itself.
3. One that requires a gradient is refused: what autograd has kept of it would change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotdesk.errors import ArgumentTypeError, DonatedOverlapError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.runtime.admission import Admitted
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.outputs import Extents
from hotdesk.runtime.tensors import TensorView, copied, describe, overlap

ALIGNED = 16
"""The alignment of the largest element, in bytes: whatever is lent memory there is aligned to its elements."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The inputs of a call: where each lies, and of the donated ones, by number, the memory that the program may write."""

    addresses: Sequence[int]
    donated: Mapping[int, TensorView]


class Donation:
    """The donated ones among a program's inputs. `held` are results that lie in them, by number, with the number of the input."""

    def __init__(self, inputs: Sequence[TensorSpec], held: Mapping[int, int], weights: Extents) -> None:
        self._names = [spec.name for spec in inputs]
        self._donated = frozenset(number for number, spec in enumerate(inputs) if spec.donated)
        self._weights = weights
        self.held = dict(held)

    @property
    def exists(self) -> bool:
        """Whether any input is donated."""
        return bool(self._donated)

    def take(self, leaves: Sequence[object], call: Admitted) -> Taken:
        """The memory of an admitted call. Raises ArgumentTypeError and DonatedOverlapError."""
        if not self._donated:
            return Taken(call.addresses, {})
        views = {number: describe(leaves[number], self._what(number)) for number in sorted(self._donated)}
        for number, view in views.items():
            if getattr(view.owner, "requires_grad", False):
                raise ArgumentTypeError(
                    f"donated {self._what(number)}",
                    expected="a tensor without requires_grad",
                    got="one with it",
                    hint="Pass x.detach().",
                )
        given = {number for number, view in views.items() if _is_usable(view)}
        self._check_apart(given, call.extents())
        addresses, memory = list(call.addresses), dict(views)
        for number in views.keys() - given:
            memory[number] = copied(views[number]) if views[number].contiguous else call.copies[number]
            addresses[number] = memory[number].pointer
        return Taken(addresses, memory)

    def is_copied(self, number: int, view: TensorView) -> bool:
        """Whether a call copies an argument before it runs."""
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
            f"donated {self._what(number)}",
            expected="memory of its own",
            got=f"{shared:,} bytes shared with {name}",
            hint="Pass a copy of it.",
        )


def _is_usable(view: TensorView) -> bool:
    return view.contiguous and view.writable and (view.pointer % ALIGNED == 0 or not view.bytes)
