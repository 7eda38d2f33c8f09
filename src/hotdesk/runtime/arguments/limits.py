"""The ranges of sizes that somebody asks about: by the names of dimensions or symbols, within what was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from operator import index
from typing import Any, cast

from hotdesk.errors import OptionError
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.size import Bounds, symbols_of


def is_bounds(given: object) -> bool:
    """Whether an argument is a mapping to bounds, right or wrong, and not a tensor or a mapping that has tensors in it."""
    if not isinstance(given, Mapping):
        return False
    return all(_states(ends) for ends in cast("Mapping[object, object]", given).values())


def limits(
    bounds: Bounds,
    declared: Bounds,
    inputs: Sequence[TensorSpec],
    names: Mapping[str, str],
) -> dict[str, tuple[int, int]]:
    """The least and greatest value of each symbol of the inputs.

    Args:
        bounds: what was asked for, by name; other symbols range as declared.
        declared: what calls may be of, by symbol.
        inputs: the inputs of the program.
        names: symbols by other names.

    Raises:
        OptionError: an unknown name, what is no pair of integers, a range that is empty or not within what was declared, or
            a symbol without a greatest value.
    """
    symbols = sorted({name for spec in inputs for dim in spec.shape for name in symbols_of(dim)})
    shown = {symbol: next((n for n, other in names.items() if other == symbol), symbol) for symbol in symbols}
    asked: dict[str, tuple[int, int | None]] = {}
    for name, ends in bounds.items():
        symbol = names.get(name, name)
        if symbol not in shown:
            known = ", ".join(shown.values()) or "none: all sizes are fixed"
            raise OptionError(f"bounds of '{name}'", expected=f"a size that varies ({known})", got="no such size")
        asked[symbol] = _pair(name, ends)
    found: dict[str, tuple[int, int]] = {}
    for symbol, name in shown.items():
        low, high = declared.get(symbol, (0, None))
        first, last = asked.get(symbol, (low, high))
        if last is None:
            raise OptionError(
                f"bounds of '{name}'",
                expected="a greatest value",
                got="none: it may be any number",
                hint=f'Give one, as in `program.memory({{"{name}": ({first}, 64)}})`, or declare it when compiling.',
            )
        if not (low <= first <= last and (high is None or last <= high)):
            expected = f"a range within {low} to {'any number' if high is None else high}, as declared"
            raise OptionError(f"bounds of '{name}'", expected=expected, got=f"{first} to {last}")
        found[symbol] = first, last
    return found


def _states(ends: object) -> bool:
    """Whether somebody may mean this by the ends of a range: numbers or words, alone or several."""
    several = cast("Sequence[object]", ends) if isinstance(ends, tuple | list) else (ends,)
    return all(each is None or isinstance(each, Number | str) for each in several)


def _pair(name: object, ends: object) -> tuple[int, int | None]:
    try:
        first, last = cast("Any", ends)
        return index(first), None if last is None else index(last)
    except (TypeError, ValueError):
        raise OptionError(
            f"bounds of '{name}'",
            expected="a pair of integers, the least and the greatest value",
            got=repr(ends),
            hint=f'Write them as in `program.memory({{"{name}": (1, 64)}})`.',
        ) from None
