"""Which inputs of a captured program are donated, as the caller of `hotdesk.compile` says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from hotdesk.errors import OptionError

if TYPE_CHECKING:
    from hotdesk.frontends.captured import Captured
    from hotdesk.runtime.interface import TensorSpec

Donate: TypeAlias = "bool | int | str | Iterable[int | str]"


def donating(captured: Captured, donate: Donate) -> Captured:
    """The program with these inputs donated, besides those that are already.

    Args:
        captured: as a front end found it.
        donate: positions of parameters, from the end if negative; names of parameters or of inputs; True for all, False for none.

    Raises:
        OptionError: there is no such parameter or input, or it has no tensor.
    """
    from hotdesk.frontends.captured import Weight

    inputs = {i: argument for i, argument in enumerate(captured.arguments) if not isinstance(argument, Weight)}
    places = tuple(inputs)
    chosen = {places[number] for number in _numbers(captured, tuple(inputs.values()), donate)}
    arguments = tuple(
        argument
        if i not in chosen or isinstance(argument, Weight) or argument.strided
        else replace(argument, donated=True)
        for i, argument in enumerate(captured.arguments)
    )
    return replace(captured, arguments=arguments)


def _numbers(captured: Captured, specs: Sequence[TensorSpec], donate: Donate) -> set[int]:
    """The donated inputs, by number."""
    if isinstance(donate, bool):
        return {number for number, spec in enumerate(specs) if not spec.number} if donate else set()
    parameters = captured.calling.parameters
    known: dict[str, tuple[int, ...]] = {spec.name: (number,) for number, spec in enumerate(specs)}
    known.update((name, inputs) for name, inputs in parameters if name)
    found: set[int] = set()
    for each in (donate,) if isinstance(donate, int | str) else listed(donate):
        inputs: tuple[int, ...] | None = known.get(each) if isinstance(each, str) else None
        if isinstance(each, int) and not isinstance(each, bool) and -len(parameters) <= each < len(parameters):
            inputs = parameters[each][1]
        if inputs is None:
            names = ", ".join(known)
            expected = f"positions of {len(parameters)} parameters, or names among {names}" if known else "none"
            raise OptionError("option 'donate'", expected=expected, got=repr(each))
        if all(specs[number].number for number in inputs):
            raise OptionError("option 'donate'", expected="a parameter with tensors in it", got=repr(each))
        if any(specs[number].strided for number in inputs):
            raise OptionError("option 'donate'", expected="a parameter that is contiguous", got=repr(each))
        found.update(inputs)
    return found


def listed(donate: Iterable[int | str]) -> tuple[int | str, ...]:
    """Several positions and names. Raises OptionError for what is none of them."""
    if not isinstance(cast(object, donate), Iterable):
        expected = "True, a position or a name of a parameter, or several of them"
        raise OptionError("option 'donate'", expected=expected, got=repr(donate))
    return tuple(donate)
