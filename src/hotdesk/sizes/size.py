"""What a size is, and what is asked of any: its text, its symbols, its value. SymPy is not imported for it.

A size is a number, an expression of SymPy's, or a formula of a saved program (`artifacts.formulas`). A symbol stands for a size
that the caller chooses; one named `opaque…` for a size that is not known before the program runs (`sizes.writing` makes them and
says what they are).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    import sympy

Size: TypeAlias = "int | sympy.Expr"

Bounds: TypeAlias = Mapping[str, "tuple[int, int | None]"]
"""The least and the greatest value of symbols, by name; None where there is no greatest one."""

OPAQUE = "opaque"


def spelled(size: int | sympy.Basic) -> str:
    """A size, or a relation of sizes, as users read it, with words for what nobody named."""
    text = size if isinstance(size, int) else getattr(size, "text", None)
    if text is not None:
        return str(text)
    from hotdesk.sizes.writing import written  # SymPy, which is here already where sizes are its expressions

    return written(cast("sympy.Expr", size))


def symbols_of(size: int | sympy.Basic) -> tuple[str, ...]:
    """The names of the symbols in a size or a relation, sorted."""
    return () if isinstance(size, int) else tuple(sorted(symbol.name for symbol in cast(Any, size).free_symbols))


def is_opaque(size: int | sympy.Basic) -> bool:
    """Whether a size or a relation depends on something that is not known before the program runs."""
    return any(name.startswith(OPAQUE) for name in symbols_of(size))


def evaluate(size: Size, symbols: Mapping[str, int]) -> int:
    """The value of `size` once each of its symbols, known by name, has its value. Raises KeyError if one has none."""
    if isinstance(size, int):
        return size
    free = cast("set[sympy.Symbol]", size.free_symbols)  # pyright: ignore[reportUnknownMemberType]
    return int(size.subs([(symbol, symbols[symbol.name]) for symbol in free]))


def represented(record: Any, **texts: str) -> str:
    """The `repr` of a record, a dataclass or a named tuple, some of whose fields, sizes, have other texts than SymPy's."""
    values = {name: repr(getattr(record, name)) for name in record.__match_args__} | texts
    return f"{type(record).__name__}({', '.join(f'{name}={value}' for name, value in values.items())})"
