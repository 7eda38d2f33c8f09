"""Memory of the caller's that a function on memrefs may use for its own buffers, and when.

A result's memory is free until it is written first, that of a donated input from the last op on that touches any alias of it. A
result may lie in a donated input's memory (`hotdesk.holds`): that is never free. Nor is state, which the caller keeps
(`hotdesk.state`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hotdesk._bindings import ir
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import entry_block

Windows = tuple[tuple[int, int], ...]


class HasLiveRange(Protocol):
    """A buffer in use from op number `lower` up to op number `upper`."""

    @property
    def lower(self) -> int: ...

    @property
    def upper(self) -> int: ...


@dataclass(frozen=True, slots=True)
class CallersMemory:
    """The arguments of a function that are memory of the caller's which it may write.

    Attributes:
        results: the argument in whose memory each result lies, by the number of the result.
        donated: the donated inputs, those that hold a result too.
        state: the arguments whose new contents are results on tensors, in the order of those; `results` is without them.
    """

    results: tuple[ir.Value, ...]
    donated: tuple[ir.Value, ...]
    state: tuple[ir.Value, ...] = ()


def callers_memory(function: ir.Operation) -> CallersMemory:
    """What the attributes of a function on memrefs say of its arguments."""
    arguments = list(entry_block(function).arguments)
    results: dict[int, ir.Value] = {}
    donated: list[ir.Value] = []
    state: dict[int, ir.Value] = {}
    for argument, told in zip(arguments, signature(function).arguments, strict=True):
        if told.state is not None:
            state[told.state] = argument
            continue
        if told.result is not None:
            results[told.result] = argument
        results.update((number, argument) for number in told.holds)
        if told.donated and is_memref(argument.type):
            donated.append(argument)
    return CallersMemory(
        tuple(results[number] for number in sorted(results)),
        tuple(donated),
        tuple(state[number] for number in sorted(state)),
    )


def windows(
    uses: Sequence[HasLiveRange], results: Sequence[int], donated: Sequence[int], end: int
) -> Mapping[int, Windows]:
    """The op numbers, half-open, at which memory of the caller's is free, by place; places that are never free are left out.

    Args:
        uses: the live range of each buffer, by place.
        results, donated: the places of `CallersMemory`.
        end: how many ops there are.
    """
    found: dict[int, Windows] = {}
    for place in dict.fromkeys(results):
        if place not in donated and uses[place].lower > 0:
            found[place] = ((0, uses[place].lower),)
    for place in donated:
        if place not in results and uses[place].upper < end:
            found[place] = ((uses[place].upper, end),)
    return found
