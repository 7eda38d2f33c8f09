"""The ranges of sizes that somebody asks about: by the names of dimensions or symbols, within what was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hotdesk.errors import OptionError
from hotdesk.explain import symbols_of
from hotdesk.runtime.interface import TensorSpec

Declared = Mapping[str, tuple[int, "int | None"]]


def is_bounds(given: object) -> bool:
    """Whether an argument is a mapping from names to pairs of ends, and not a tensor or a mapping of tensors."""
    if not isinstance(given, Mapping):
        return False
    entries = cast("Mapping[object, object]", given)
    return all(isinstance(name, str) and _is_pair(ends) for name, ends in entries.items())


def limits(
    bounds: Mapping[str, tuple[int, int | None]],
    declared: Declared,
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
        OptionError: an unknown name, a range that is empty or not within what was declared, or a symbol without a greatest value.
    """
    symbols = sorted({name for spec in inputs for dim in spec.shape for name in symbols_of(dim)})
    shown = {symbol: next((n for n, other in names.items() if other == symbol), symbol) for symbol in symbols}
    asked: dict[str, tuple[int, int | None]] = {}
    for name, ends in bounds.items():
        symbol = names.get(name, name)
        if symbol not in shown:
            known = ", ".join(shown.values()) or "none: all sizes are fixed"
            raise OptionError(f"bounds of '{name}'", expected=f"a size that varies ({known})", got="no such size")
        asked[symbol] = ends
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


def _is_pair(ends: Any) -> bool:
    if not isinstance(ends, tuple | list):
        return False
    pair = cast("Sequence[object]", ends)
    return len(pair) == 2 and isinstance(pair[0], int) and (pair[1] is None or isinstance(pair[1], int))
