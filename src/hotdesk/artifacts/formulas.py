"""Sizes that follow from others, without SymPy: a table of operations on integers, each on those before it.

    ["s", "batch"]   a symbol          ["n", 64]          a number
    ["+", 0, 1]      0 and 1 added      ["//", 2, 1]       one divided by the other, rounded down
    ["?", 3, 4, 5]   4 if 3, else 5

Evaluating looks at each operation once. What has no value (a division by zero, a number beyond `LIMIT`) has none, and so has what
is made of it, unless it is not chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from hotdesk.errors import ArtifactError, ShapeError
from hotdesk.graphs import reached
from hotdesk.python.record import Record

LIMIT = 1 << 256
"""No value is as large: a table could say to square a number again and again."""

Node = Sequence[Any]


def _divided(a: int, b: int) -> int | None:
    return a // b if b else None


def _modulo(a: int, b: int) -> int | None:
    return a % b if b else None


def _power(a: int, b: int) -> int | None:
    return a**b if 0 <= b <= 64 else None


_SEVERAL: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "max": max,
    "min": min,
    "&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: int(bool(a or b)),
}
_PAIRS: Mapping[str, Callable[[int, int], int | None]] = {
    "//": _divided,
    "%": _modulo,
    "**": _power,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
}
_ARGUMENTS = {**dict.fromkeys(_PAIRS, 2), "!": 1, "?": 3}


class Symbol(Record):
    """A size that the caller chooses."""

    name: str


class Formulas:
    """A table of operations."""

    __slots__ = ("_last", "_nodes")

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Raises ArtifactError for what is no operation, or one on something that is not before it."""
        for number, node in enumerate(nodes):
            _check(number, node)
        self._nodes = tuple(nodes)
        self._last: tuple[Mapping[str, int], list[int | None]] | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    def symbols(self, number: int) -> frozenset[str]:
        """The symbols that a formula has in it. Looks at what it is made of, and at no other."""
        inside = reached([number], lambda each: _operands(self._nodes[each]))
        return frozenset(self._nodes[each][1] for each in inside if self.is_symbol(each))

    def is_symbol(self, number: int) -> bool:
        return self._nodes[number][0] == "s"

    def at(self, symbols: Mapping[str, int]) -> list[int | None]:
        """The value of each formula; None for those that have none, also where a symbol has none."""
        last = self._last
        if last is not None and last[0] == symbols:
            return last[1]
        values: list[int | None] = []
        for node in self._nodes:
            value = _value(node, values, symbols)
            values.append(value if value is not None and -LIMIT < value < LIMIT else None)
        self._last = dict(symbols), values
        return values


def _operands(node: Node) -> Sequence[int]:
    return () if node[0] in "sn" else node[1:]


class Formula:
    """A size in a table of formulas; `text` is how users read it. What reads sizes takes it like an expression of SymPy's."""

    __slots__ = ("_number", "_table", "text")

    def __init__(self, table: Formulas, number: int, text: str) -> None:
        self._table = table
        self._number = number
        self.text = text

    def __str__(self) -> str:
        return self.text

    @property
    def free_symbols(self) -> set[Symbol]:
        return {Symbol(name) for name in self._table.symbols(self._number)}

    @property
    def is_Symbol(self) -> bool:
        return self._table.is_symbol(self._number)

    @property
    def name(self) -> str:
        """Of a symbol."""
        return self.text

    def subs(self, values: Sequence[tuple[Symbol, int]]) -> int:
        """The size for values of its symbols. Raises ShapeError where it has none."""
        return self._value({symbol.name: value for symbol, value in values})

    def at(self, symbols: Mapping[str, int]) -> int:
        """The size for values of all symbols of the program. Raises ShapeError where it has none.

        What is asked of many formulas for the same values evaluates their table once.
        """
        return self._known(self._table.at(symbols), symbols)

    def solved_for(self, symbol: str, size: int, known: Mapping[str, int]) -> int | None:
        """The value of a symbol with which this is `size`, where it grows with that by equal steps; None if none does."""
        at_zero, at_one = self._value({**known, symbol: 0}), self._value({**known, symbol: 1})
        step = at_one - at_zero
        if not step or (size - at_zero) % step or (size - at_zero) // step < 0:
            return None
        found = (size - at_zero) // step
        return found if self._value({**known, symbol: found}) == size else None

    def _value(self, symbols: Mapping[str, int]) -> int:
        own = {name: symbols[name] for name in self._table.symbols(self._number)}
        return self._known(self._table.at(own), own)

    def _known(self, values: Sequence[int | None], symbols: Mapping[str, int]) -> int:
        found = values[self._number]
        if found is None:
            raise ShapeError(
                "the sizes of the arguments", expected=f"a value of {self.text}", got=f"none for {dict(symbols)}"
            )
        return found


class Evaluated:
    """Sizes, each a number or the number of a formula, evaluated together."""

    __slots__ = ("_sizes", "_table")

    def __init__(self, table: Formulas, sizes: Sequence[int | Formula]) -> None:
        self._table = table
        self._sizes = tuple(size if isinstance(size, int) else (size._number, size.text) for size in sizes)  # pyright: ignore[reportPrivateUsage]

    def at(self, symbols: Mapping[str, int]) -> list[int]:
        """The values. Raises ShapeError where one has none."""
        if all(isinstance(size, int) for size in self._sizes):
            return [size for size in self._sizes if isinstance(size, int)]
        values = self._table.at(symbols)
        found: list[int] = []
        for size in self._sizes:
            value = size if isinstance(size, int) else values[size[0]]
            if value is None:
                text = size[1] if isinstance(size, tuple) else str(size)
                raise ShapeError(
                    "the sizes of the arguments", expected=f"a value of {text}", got=f"none for {dict(symbols)}"
                )
            found.append(value)
        return found


def _check(number: int, node: Node) -> None:
    kind: Any = node[0] if len(node) else None
    operands = node[1:]
    if kind == "s" and len(operands) == 1 and isinstance(operands[0], str):
        return
    if kind == "n" and len(operands) == 1 and type(operands[0]) is int and abs(operands[0]) < LIMIT:
        return
    is_known = isinstance(kind, str) and (kind in _SEVERAL or kind in _ARGUMENTS)
    are_before = all(type(each) is int and 0 <= each < number for each in operands)
    if is_known and operands and are_before and len(operands) == _ARGUMENTS.get(kind, len(operands)):
        return
    raise ArtifactError(
        "a formula of the program", expected="an operation on formulas before it", got=repr(list(node))[:80]
    )


def _value(node: Node, values: Sequence[int | None], symbols: Mapping[str, int]) -> int | None:
    kind = node[0]
    if kind == "n":
        return node[1]
    if kind == "s":
        return symbols.get(node[1])
    numbers: Sequence[int] = node[1:]
    operands = [values[i] for i in numbers]
    if kind == "?":
        return None if operands[0] is None else operands[1] if operands[0] else operands[2]
    given = [each for each in operands if each is not None]
    if len(given) < len(operands):
        return None
    if kind == "!":
        return int(not given[0])
    if kind in _PAIRS:
        return _PAIRS[kind](given[0], given[1])
    return _folded(_SEVERAL[kind], given)


def _folded(function: Callable[[int, int], int], values: Sequence[int]) -> int | None:
    """The values joined; None once they are too large: a product of many may not grow without bounds."""

    def joined(a: int | None, b: int) -> int | None:
        found = None if a is None else function(a, b)
        return None if found is None or abs(found) >= LIMIT else found

    first: int | None = values[0]
    return reduce(joined, values[1:], first)
