"""Inputs that a call writes: which are used where they lie, which are copied first, and what must not share their memory.

1. A donated tensor is used where it lies if it is contiguous, writable and aligned to `ALIGNED` bytes. Any other is copied, like
   an argument with gaps, and stays as it is.
2. One that is used where it lies shares no byte with another argument or a weight: a call that says so contradicts itself. An
   argument may lie in the gaps of another one.
3. One that requires a gradient is refused: what autograd has kept of it would change.
4. A tensor that the program writes for its caller is used where it lies, and is refused where a donated one is copied.
5. One that the program changes is treated like a donated one, but that the new contents of a copy are copied back, and that one
   which cannot be written is refused.
6. No input of a program with state shares a byte with that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hotdesk.errors import ArgumentTypeError, DonatedOverlapError, LayoutError
from hotdesk.runtime.arguments.admission import Admitted
from hotdesk.runtime.arguments.outputs import NO_EXTENTS, Extents
from hotdesk.runtime.arguments.tensors import TensorView, copied, describe, overlap, overwrite, share_elements
from hotdesk.runtime.interface import TensorSpec

if TYPE_CHECKING:
    from hotdesk.explain import Decision

ALIGNED = 16
"""The alignment of the largest element, in bytes: whatever is lent memory there is aligned to its elements."""


class TakenInputs(NamedTuple):
    """The inputs of a call: where each lies, and of those that the program may write, by number, the memory where it does.

    `copied_back` are the caller's tensors, by number, that get the new contents of a copy.
    """

    addresses: Sequence[int]
    donated: Mapping[int, TensorView]
    copied_back: Mapping[int, TensorView] = MappingProxyType({})

    def copy_back(self) -> None:
        """Writes new contents to the caller's tensors that a copy stood for."""
        for number, view in self.copied_back.items():
            overwrite(view, self.donated[number])


class Donation:
    """The donated, written and changed ones among a program's inputs.

    `held` are results that lie in donated ones, by number, with the number of the input; `state` is the memory of the model's
    tensors that calls change.
    """

    __slots__ = ("_all", "_changed", "_donated", "_names", "_state", "_weights", "_written", "held")

    def __init__(
        self, inputs: Sequence[TensorSpec], held: Mapping[int, int], weights: Extents, state: Extents = NO_EXTENTS
    ) -> None:
        self._names = [spec.name for spec in inputs]
        self._donated = frozenset(number for number, spec in enumerate(inputs) if spec.donated)
        self._written = frozenset(number for number, spec in enumerate(inputs) if spec.written and not spec.donated)
        self._changed = frozenset(number for number, spec in enumerate(inputs) if spec.changed)
        self._all = self._donated | self._written | self._changed
        self._weights = weights
        self._state = state
        self.held = dict(held)

    @property
    def exists(self) -> bool:
        """Whether any input is donated, written or changed, or must stay out of state."""
        return bool(self._all or self._state)

    def take(self, leaves: Sequence[object], call: Admitted) -> TakenInputs:
        """The memory of an admitted call. Raises ArgumentTypeError, LayoutError and DonatedOverlapError."""
        extents = call.extents()
        for number, extent in enumerate(extents if self._state else ()):
            if met := self._state.meeting(extent):
                raise self._shared(number, met[1], f"'{met[0]}', which the program changes")
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
            if number in self._changed and not view.writable:
                got = "read-only or repeated elements"
                raise LayoutError(self._told(number), expected="writable memory", got=got, hint="Pass a copy.")
        given = {number for number, view in views.items() if number in self._written or _is_usable(view)}
        self._check_apart(given | self._changed, extents, call.views)
        addresses, memory = list(call.addresses), dict(views)
        for number in views.keys() - given:
            memory[number] = copied(views[number]) if views[number].contiguous else call.copies[number]
            addresses[number] = memory[number].pointer
        return TakenInputs(addresses, memory, {number: views[number] for number in self._changed - given})

    def is_copied(self, number: int, view: TensorView) -> bool:
        """Whether a call copies an argument before it runs, or would if it were not refused."""
        return not (_is_usable(view) if number in self._donated | self._changed else view.contiguous)

    def copies(self, views: Sequence[TensorView]) -> list[Decision]:
        """The arguments that a call copies."""
        from hotdesk.explain import Decision, Outcome, Reason

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
        kinds = {"changed": self._changed, "donated": self._donated, "written": self._written}
        kind = next((f"{kind} " for kind, numbers in kinds.items() if number in numbers), "")
        return f"{kind}{self._what(number)}"

    def _check_apart(self, given: set[int], extents: Sequence[tuple[int, int]], views: Sequence[TensorView]) -> None:
        """`views` are of all arguments where one of them has gaps."""
        met = _first_met(given, extents)
        if met is not None and views:
            met = _first_sharing(given, views)
        if met is not None:
            this, that = met
            raise self._shared(this, overlap(extents[this], extents[that]), self._what(that))
        for number in sorted(given):
            if found := self._weights.meeting(extents[number]):
                raise self._shared(number, found[1], f"weight '{found[0]}'")

    def _shared(self, number: int, shared: int, name: str) -> DonatedOverlapError:
        return DonatedOverlapError(
            self._told(number),
            expected="memory of its own",
            got=f"{shared:,} bytes shared with {name}",
            hint="Give it memory of its own where it is made, or pass a copy of it.",
        )


def _first_met(given: set[int], extents: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """One of `given` and another argument whose extents meet.

    Sweeps all by address: of those so far, the ones that reach furthest are compared with the next.
    """
    furthest = furthest_given = -1
    for number in sorted(range(len(extents)), key=lambda i: extents[i]):
        other = furthest if number in given else furthest_given
        if other >= 0 and overlap(extents[number], extents[other]):
            return (number, other) if number in given else (other, number)
        if furthest < 0 or extents[number][1] > extents[furthest][1]:
            furthest = number
        if number in given and (furthest_given < 0 or extents[number][1] > extents[furthest_given][1]):
            furthest_given = number
    return None


def _first_sharing(given: set[int], views: Sequence[TensorView]) -> tuple[int, int] | None:
    """One of `given` and another argument that have a byte in common: each is compared with all whose extents meet its own."""
    open_: list[int] = []
    for number in sorted(range(len(views)), key=lambda i: views[i].extent):
        open_ = [other for other in open_ if views[other].extent[1] > views[number].extent[0]]
        for other in open_:
            if (number in given or other in given) and share_elements(views[number], views[other]):
                return (number, other) if number in given else (other, number)
        open_.append(number)
    return None


def _is_usable(view: TensorView) -> bool:
    return view.contiguous and view.writable and (view.pointer % ALIGNED == 0 or not view.bytes)
