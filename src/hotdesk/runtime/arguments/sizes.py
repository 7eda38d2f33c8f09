"""From the sizes of a call's tensors to the values of the program's symbols.

Every dimension of an input is a number, a symbol or an expression over symbols. Numbers are compared, symbols take the
size of their first dimension, and an expression with one symbol still unknown is solved for it, until nothing more
follows. Then every expression is checked, and every symbol against its range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hotdesk.errors import RankError, ShapeError
from hotdesk.runtime.interface import TensorSpec, spell
from hotdesk.sizes.size import Bounds, evaluate, spelled, symbols_of

if TYPE_CHECKING:
    import sympy


class _Place(NamedTuple):
    """One symbolic dimension of an input."""

    argument: int
    name: str
    dimension: int
    size: sympy.Expr
    symbols: frozenset[str]

    def __str__(self) -> str:
        return f"argument '{self.name}', dimension {self.dimension}"


class InputSizes:
    """The symbols of a program and how its inputs' sizes give their values."""

    __slots__ = ("_constraints", "_inputs", "_places")

    def __init__(self, inputs: Sequence[TensorSpec], constraints: Bounds) -> None:
        self._inputs = tuple(inputs)
        self._constraints = dict(constraints)
        self._places: tuple[_Place, ...] = tuple(_places(inputs))

    def solve(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """The value of each symbol, in order of name. Raises RankError and ShapeError."""
        for spec, shape in zip(self._inputs, shapes, strict=True):
            _check_static(spec, shape)
        known: dict[str, int] = {}
        origin: dict[str, _Place] = {}
        waiting: tuple[_Place, ...] = self._places
        while waiting:
            ready = tuple(place for place in waiting if len(place.symbols - known.keys()) <= 1)
            if not ready:
                raise _undetermined(waiting[0], known)
            # A bare symbol or an expression of known ones before one that has to be solved
            place = min(ready, key=lambda place: (bool(place.symbols - known.keys()), not _is_symbol(place.size)))
            waiting = tuple(other for other in waiting if other is not place)
            size = shapes[place.argument][place.dimension]
            for symbol in place.symbols - known.keys():
                known[symbol], origin[symbol] = _solve(place, symbol, size, known), place
            _check(place, size, known, origin)
        for symbol in sorted(known):
            self._check_range(symbol, known[symbol], origin[symbol])
        return {symbol: known[symbol] for symbol in sorted(known)}

    def _check_range(self, symbol: str, value: int, place: _Place) -> None:
        lower, upper = self._constraints.get(symbol, (0, None))
        if value >= lower and (upper is None or value <= upper):
            return
        expected = f"{lower} <= {symbol}" if upper is None else f"{lower} <= {symbol} <= {upper}"
        hint = "Compile the program with a range that has it."
        raise ShapeError(str(place), expected=expected, got=f"{symbol} = {value}", hint=hint)


def _places(inputs: Sequence[TensorSpec]) -> list[_Place]:
    return [
        _Place(argument, spec.name, dimension, size, frozenset(symbols_of(size)))
        for argument, spec in enumerate(inputs)
        for dimension, size in enumerate(spec.shape)
        if not isinstance(size, int)
    ]


def _check_static(spec: TensorSpec, shape: tuple[int, ...]) -> None:
    if len(shape) != len(spec.shape):
        expected, got = f"{len(spec.shape)} dimensions, {spec}", f"{len(shape)}, {spell(spec.dtype, shape)}"
        raise RankError(f"argument '{spec.name}'", expected=expected, got=got, where=spec.location)
    for dimension, (size, found) in enumerate(zip(spec.shape, shape, strict=True)):
        if isinstance(size, int) and size != found:
            what = f"argument '{spec.name}', dimension {dimension}"
            hint = f"The whole tensor is {spec}; a size that varies has to be compiled as dynamic."
            raise ShapeError(what, expected=spelled(size), got=str(found), where=spec.location, hint=hint)


def _check(place: _Place, size: int, known: Mapping[str, int], origin: Mapping[str, _Place]) -> None:
    expected = evaluate(place.size, known)
    if expected == size:
        return
    elsewhere = sorted({str(origin[symbol]) for symbol in place.symbols if origin[symbol] is not place})
    given = f" as in {', '.join(elsewhere)}" if elsewhere else ""
    raise ShapeError(str(place), expected=f"{spelled(place.size)} = {expected}{given}", got=str(size))


def _solve(place: _Place, symbol: str, size: int, known: Mapping[str, int]) -> int:
    """The one value of `symbol` with which the expression at `place` is `size`."""
    if _is_symbol(place.size):
        return size
    solved_for = getattr(place.size, "solved_for", None)  # of a loaded program
    if solved_for is not None:
        root = solved_for(symbol, size, known)
        if root is None:
            raise ShapeError(str(place), expected=f"{spelled(place.size)} for some size {symbol}", got=str(size))
        return root
    import sympy

    unknown = sympy.Dummy(symbol, integer=True)
    values = [(found, known.get(found.name, unknown)) for found in _free(place.size)]
    try:
        roots = cast("list[Any]", sympy.solve(place.size.subs(values) - size, unknown))  # pyright: ignore[reportUnknownMemberType]
    except NotImplementedError as error:
        raise _undetermined(place, known) from error
    found = sorted(int(root) for root in roots if root.is_Integer and root >= 0)
    if len(found) == 1:
        return found[0]
    if found or any(not root.is_number for root in roots):
        raise _undetermined(place, known)
    raise ShapeError(str(place), expected=f"{spelled(place.size)} for some size {symbol}", got=str(size))


def _undetermined(place: _Place, known: Mapping[str, int]) -> ShapeError:
    open_symbols = ", ".join(sorted(place.symbols - known.keys()))
    hint = "Compile the program with an argument that has this size as a dimension of its own."
    return ShapeError(str(place), expected=f"a size that gives {open_symbols}", got=spelled(place.size), hint=hint)


def _free(size: sympy.Expr) -> set[sympy.Symbol]:
    return cast("set[sympy.Symbol]", size.free_symbols)  # pyright: ignore[reportUnknownMemberType]


def _is_symbol(size: sympy.Expr) -> bool:
    return bool(size.is_Symbol)
