"""The memory a caller gives for results, `out=`, and the proof that nothing else is in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DtypeError,
    LayoutError,
    OutputOverlapError,
    RankError,
    ShapeError,
)
from hotdesk.runtime.arguments.guards import TensorGuard
from hotdesk.runtime.arguments.tensors import TensorView, describe, glance, is_writable, overlap
from hotdesk.runtime.interface import TensorSpec, WeightRange, spell

if TYPE_CHECKING:
    from typing import TypeAlias


class Extents:
    """Named ranges of addresses, searched for one that meets a given range in logarithmic time."""

    __slots__ = ("_held", "_lower", "_reach")

    def __init__(self, weights: Iterable[WeightRange]) -> None:
        held = sorted(
            (weight.address, weight.address + weight.bytes, weight.name) for weight in weights if weight.bytes
        )
        self._held = tuple(held)
        self._lower = tuple(lower for lower, _, _ in held)
        self._reach = tuple(accumulate((upper for _, upper, _ in held), max))

    def __bool__(self) -> bool:
        return bool(self._held)

    def meeting(self, extent: tuple[int, int]) -> tuple[str, int] | None:
        """The name of a range that shares bytes with `extent`, and how many."""
        if not self._held:
            return None
        before = bisect_left(self._lower, extent[1])  # only these begin before `extent` ends
        if extent[0] == extent[1] or not before or self._reach[before - 1] <= extent[0]:
            return None
        found = ((name, overlap((lower, upper), extent)) for lower, upper, name in self._held[:before])
        return next((name, shared) for name, shared in found if shared)


NO_EXTENTS = Extents(())

Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"
"""The sizes of each result."""


def admit(
    out: object,
    results: Sequence[TensorSpec],
    shapes: Sequence[tuple[int, ...]],
    inputs: Iterable[tuple[str, tuple[int, int]]],
    weights: Extents,
    held: Mapping[int, tuple[int, int]],
) -> tuple[TensorView, ...]:
    """The tensors of `out`, one for each result, if results may be computed in them. `inputs` are names and extents.

    `held` are results that lie in donated inputs, by number, with the extents of those: each may be given for its result.

    Raises ArgumentCountError, ArgumentTypeError, DeviceError, DtypeError, RankError, ShapeError, LayoutError and
    OutputOverlapError.
    """
    given = tuple(cast("Sequence[object]", out)) if isinstance(out, (tuple, list)) else (out,)
    if len(given) != len(results):
        raise ArgumentCountError("out=", expected=f"{len(results)} outputs", got=str(len(given)))
    taken = list(inputs)
    views: list[TensorView] = []
    for index, (value, spec, shape) in enumerate(zip(given, results, shapes, strict=True)):
        what = f"output {index}"
        view = describe(value, what)
        _check_type(view, what, spec, shape)
        _check_layout(view, what)
        _check_own(view, what, taken if view.extent != held.get(index) else (), weights)
        taken.append((what, view.extent))
        views.append(view)
    return tuple(views)


class PlainOutputs:
    """The fast path of `admit`: tensors of `out` that nothing is to be said against. Threads may share it."""

    __slots__ = ("_apart", "_dtypes", "_guard", "_weights")

    def __init__(self, dtypes: Sequence[str], weights: Extents) -> None:
        self._dtypes = tuple(dtypes)
        self._weights = weights
        self._guard: TensorGuard[Shapes] = TensorGuard()
        self._apart: tuple[object, ...] | None = None

    def admit(
        self, out: object, shapes: Shapes, addresses: list[int], sizes: Sequence[int]
    ) -> tuple[Sequence[object], list[int]] | None:
        """The tensors of `out` and their addresses; None if `admit` must say.

        `addresses` and `sizes`, in bytes, are those of the inputs. What is compared here the function `admit` compares too, which
        takes as long as the rest of a short call.
        """
        given: Sequence[Any] = out if type(out) in (tuple, list) else (out,)  # pyright: ignore[reportAssignmentType]
        known = self._guard.seen(given)
        if known is not None and known[0] is shapes:
            places = known[1]
            for value in given:
                if value.requires_grad:
                    return None
        else:
            found = _glances(given, self._dtypes, shapes)
            if found is None:
                return None
            keys, places = found
            self._guard.learn(given, keys, shapes)
        before, now = self._apart, (places, addresses, shapes, sizes)
        if before == now or self._are_apart(given, places, addresses, sizes):
            self._apart = now
            return given, places
        return None

    def _are_apart(
        self, given: Sequence[Any], places: Sequence[int], addresses: Sequence[int], sizes: Sequence[int]
    ) -> bool:
        """Whether the tensors share no byte with one another, inputs and weights."""
        taken: list[tuple[int, int]] = []
        for value, lower in zip(given, places, strict=True):
            upper = lower + value.nbytes
            for start, size in zip(addresses, sizes, strict=True):
                if start < upper and lower < start + size:
                    return False
            for start, end in taken:
                if start < upper and lower < end:
                    return False
            if self._weights.meeting((lower, upper)):
                return False
            taken.append((lower, upper))
        return True


def _glances(
    given: Sequence[object], dtypes: Sequence[str], shapes: Sequence[tuple[int, ...]]
) -> tuple[list[Hashable], list[int]] | None:
    """Keys and addresses of tensors that may be written as they lie, of these types and sizes; None if any may not."""
    if len(given) != len(dtypes):
        return None
    keys: list[Hashable] = []
    places: list[int] = []
    for value, dtype, shape in zip(given, dtypes, shapes, strict=True):
        found = glance(value)
        if found is None or not is_writable(value, found[0], dtype, shape):
            return None
        keys.append(found[0])
        places.append(found[1])
    return keys, places


def _check_type(view: TensorView, what: str, spec: TensorSpec, shape: tuple[int, ...]) -> None:
    where = spec.location
    if view.dtype != spec.dtype:
        raise DtypeError(what, expected=spec.dtype, got=view.dtype, where=where)
    if len(view.shape) != len(shape):
        expected, got = f"{len(shape)} dimensions, {spell(spec.dtype, shape)}", spell(view.dtype, view.shape)
        raise RankError(what, expected=expected, got=f"{len(view.shape)}, {got}", where=where)
    if view.shape != shape:
        expected, got = spell(spec.dtype, shape), spell(view.dtype, view.shape)
        raise ShapeError(what, expected=expected, got=got, where=where)


def _check_layout(view: TensorView, what: str) -> None:
    if getattr(view.owner, "requires_grad", False):
        raise ArgumentTypeError(
            what, expected="a tensor without requires_grad", got="one with it", hint="Pass out.detach()."
        )
    if not view.writable:
        raise LayoutError(what, expected="writable memory", got="read-only or repeated elements", hint="Pass a copy.")
    if not view.contiguous:
        got = f"strides {view.strides} for {spell(view.dtype, view.shape)}"
        if view.pointer % view.itemsize:
            got = f"{got} at address {view.pointer:#x}"
        hint = "Pass a fresh contiguous tensor, then copy."
        raise LayoutError(what, expected="contiguous, aligned memory", got=got, hint=hint)


def _check_own(view: TensorView, what: str, taken: Sequence[tuple[str, tuple[int, int]]], weights: Extents) -> None:
    for name, extent in taken:
        if shared := overlap(view.extent, extent):
            raise _shared(what, shared, name)
    if met := weights.meeting(view.extent):
        raise _shared(what, met[1], f"weight '{met[0]}'")


def _shared(what: str, shared: int, name: str) -> OutputOverlapError:
    got = f"{shared:,} bytes shared with {name}"
    return OutputOverlapError(what, expected="memory of its own", got=got, hint="Pass another tensor.")
