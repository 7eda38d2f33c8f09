"""The record of a lowered function that planning and running take: buffers, constants, places; whoever has made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy.typing as npt

    from hotdesk.analysis.allocations.lending import Windows
    from hotdesk.explain import Source
    from hotdesk.sizes.size import Size


class Use(Protocol):
    """A buffer of a function: `alloc` is what there is to place. In use at the ops from `lower` up to `upper`."""

    @property
    def kind(self) -> str: ...
    @property
    def lower(self) -> int: ...
    @property
    def upper(self) -> int: ...
    @property
    def bytes(self) -> Size: ...


class ShapedUse(Use, Protocol):
    """A buffer of which is known what it holds: sizes, and the element type by its MLIR name."""

    @property
    def shape(self) -> tuple[Size, ...]: ...
    @property
    def element(self) -> str: ...


class Planned(Protocol):
    """What a planner has to know of a function: its buffers by place, and when memory of the caller's is free, by place."""

    @property
    def buffers(self) -> Sequence[Use]: ...
    @property
    def windows(self) -> Mapping[int, Windows]: ...


class EntryFunction(Planned, Protocol):
    """What running an entry function takes, beside its code: `passes.lower.function.LoweredFunction` says what each part is."""

    @property
    def buffers(self) -> Sequence[ShapedUse]: ...
    @property
    def entry(self) -> str: ...
    @property
    def constants(self) -> Mapping[int, npt.NDArray[Any]]: ...
    @property
    def numbers(self) -> Sequence[object]: ...
    @property
    def sources(self) -> Sequence[Source]: ...
    @property
    def result_places(self) -> tuple[int, ...]: ...
    @property
    def donated(self) -> tuple[int, ...]: ...
    @property
    def state(self) -> tuple[int, ...]: ...


def own_results(lowered: EntryFunction) -> tuple[int, ...]:
    """Places of the results that have memory of their own."""
    return tuple(place for place in lowered.result_places if place not in lowered.donated)


def held_results(lowered: EntryFunction) -> dict[int, int]:
    """The results that lie in donated inputs, by number, each with the place of the input."""
    return {number: place for number, place in enumerate(lowered.result_places) if place in lowered.donated}
