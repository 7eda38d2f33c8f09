"""Calls checked before anything runs: tensors of the right types and sizes, and what follows from them.

What a check finds out depends on element types and sizes alone, so it is remembered for each signature.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from hotdesk.errors import ArgumentCountError, DtypeError
from hotdesk.runtime.arguments.guards import TensorGuard
from hotdesk.runtime.arguments.remembered import Remembered, Signature
from hotdesk.runtime.arguments.sizes import InputSizes
from hotdesk.runtime.arguments.tensors import TensorView, contiguous, describe, glance
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.size import Bounds

if TYPE_CHECKING:
    from hotdesk.runtime.arguments.tensors import Kind


class Admitted(NamedTuple):  # made at every call: a frozen dataclass takes three times as long
    """A checked call: contiguous inputs at `addresses`.

    If any is a copy, `views` are the caller's tensors and `copies` keeps the memory while the program runs.
    """

    signature: Signature
    addresses: list[int]
    views: Sequence[TensorView] = ()
    copies: Sequence[TensorView] = ()

    def extents(self) -> list[tuple[int, int]]:
        """Where the caller's tensors lie."""
        if self.views:
            return [view.extent for view in self.views]
        ends = zip(self.addresses, self.signature.bytes, strict=True)
        return [(start, start + count) for start, count in ends]


class Admission:
    """Checks calls of a program with these inputs. `kind` is that of the results if there are no inputs."""

    __slots__ = ("_guard", "_inputs", "_kind", "_remembered", "_sizes", "lock")

    def __init__(
        self,
        inputs: Sequence[TensorSpec],
        constraints: Bounds,
        kind: Kind,
        remembered: Remembered,
        lock: Lock,
    ) -> None:
        """`lock` is that of whoever shares `remembered`."""
        self._inputs = tuple(inputs)
        self._sizes = InputSizes(inputs, constraints)
        self._kind: Kind = kind
        self._remembered = remembered
        self.lock = lock
        self._guard: TensorGuard[Signature] = TensorGuard()

    def admit(self, leaves: Sequence[object]) -> Admitted:
        """The fast path: every tensor is usable as it lies and the signature has been seen."""
        known = self._guard.seen(leaves)
        if known is not None:
            return Admitted(*known)
        kinds: list[Hashable] = []
        addresses: list[int] = []
        for leaf in leaves:
            found = glance(leaf)
            if found is None:
                return self._admit_new(leaves, None)
            kinds.append(found[0])
            addresses.append(found[1])
        key = tuple(kinds)
        signature = self._remembered.signature(key)
        if signature is None:
            return self._admit_new(leaves, key)
        self._guard.learn(leaves, kinds, signature)
        return Admitted(signature, addresses)

    def _admit_new(self, leaves: Sequence[object], key: Hashable | None) -> Admitted:
        signature, views = self.check(leaves)
        if key is not None:
            self._sign_as(key, signature)
        copies = [contiguous(view) for view in views]
        return Admitted(signature, [copy.pointer for copy in copies], views, copies)

    def check(self, leaves: Sequence[object]) -> tuple[Signature, tuple[TensorView, ...]]:
        if len(leaves) != len(self._inputs):
            names = ", ".join(spec.name for spec in self._inputs)
            raise ArgumentCountError("arguments", expected=f"{len(self._inputs)} ({names})", got=str(len(leaves)))
        pairs = zip(leaves, self._inputs, strict=True)
        views = tuple(describe(leaf, f"argument '{spec.name}'") for leaf, spec in pairs)
        for view, spec in zip(views, self._inputs, strict=True):
            if view.dtype != spec.dtype:
                hint = f"Convert it, or compile the program for {view.dtype}."
                where = spec.location
                what = f"argument '{spec.name}'"
                raise DtypeError(what, expected=spec.dtype, got=view.dtype, where=where, hint=hint)
        key = tuple((view.kind, view.shape) for view in views)
        signature = self._remembered.signature(key)
        if signature is None:
            signature = self._sign(views)
            self._sign_as(key, signature)
        return signature, views

    def _sign(self, views: Sequence[TensorView]) -> Signature:
        symbols = self._sizes.solve([view.shape for view in views])
        kinds = {view.kind for view in views}
        kind: Kind = self._kind if not kinds else "torch" if "torch" in kinds else "numpy"
        return Signature(symbols, tuple(symbols.values()), kind, tuple(view.bytes for view in views))

    def _sign_as(self, key: Hashable, signature: Signature) -> None:
        with self.lock:
            self._remembered.sign(key, signature)
