"""How types that hold several values are taken apart at function boundaries and between blocks: callbacks by name.

    register("pairs", TypeDecomposition(types=…, pack=…, unpack=…))

or from another package, with an entry point that leads to a `TypeDecomposition`:

    [project.entry-points."hotdesk.type_decompositions"]
    pairs = "my_package.my_module:PAIRS"

What was registered last goes first. Built in is `tuple`, packed and unpacked by `builtin.unrealized_conversion_cast`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import PassError
from hotdesk.ir.building import UNREALIZED_CAST, create

GROUP = "hotdesk.type_decompositions"


@dataclass(frozen=True, slots=True)
class TypeDecomposition:
    """Callbacks for one kind of type.

    Attributes:
        types: the types that a type is made of, or None for a type of another kind.
        pack: makes a value of a type from its parts, in front of an op.
        unpack: takes a value apart, in front of an op: one value for each of its types.
        packed: the parts from which an operation makes its result, or None if it is not one that packs. Lets a value be taken
            apart without new operations.
        taken: for an operation that takes parts of its operand, that operand and the number of the part that each result is, or
            None for other operations. Lets such operations go when the parts are known.
    """

    types: Callable[[ir.Type], Sequence[ir.Type] | None]
    pack: Callable[[ir.Type, Sequence[ir.Value], ir.Operation], ir.Value]
    unpack: Callable[[ir.Value, ir.Operation], Sequence[ir.Value]]
    packed: Callable[[ir.Operation], Sequence[ir.Value] | None] = lambda op: None
    taken: Callable[[ir.Operation], tuple[ir.Value, Sequence[int]] | None] = lambda op: None


_DECOMPOSITIONS: dict[str, TypeDecomposition] = {}


def register(name: str, decomposition: TypeDecomposition) -> None:
    """Adds a decomposition in front of the others, or replaces the one of that name."""
    _built_in()
    _DECOMPOSITIONS.pop(name, None)
    _DECOMPOSITIONS[name] = decomposition


def decompositions() -> tuple[TypeDecomposition, ...]:
    """All of them, the one that was registered last first."""
    _built_in()
    return tuple(reversed(_DECOMPOSITIONS.values()))


@cache
def _built_in() -> None:
    _DECOMPOSITIONS["tuple"] = TUPLE
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        _DECOMPOSITIONS[point.name] = _loaded(point)


def _loaded(point: EntryPoint) -> TypeDecomposition:
    what, expected = f"entry point '{point.name}' of {GROUP}", f"a TypeDecomposition at {point.value}"
    try:
        found: object = point.load()
    except Exception as error:
        raise PassError(what, expected=expected, got=f"{type(error).__name__}: {error}") from error
    if not isinstance(found, TypeDecomposition):
        raise PassError(what, expected=expected, got=type(found).__name__)
    return found


# Tuples


def _types(kind: ir.Type) -> Sequence[ir.Type] | None:
    if not isinstance(kind, ir.TupleType):
        return None
    return [kind.get_type(i) for i in range(kind.num_types)]


def _pack(kind: ir.Type, parts: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    return create(UNREALIZED_CAST, parts, [kind], before=before).results[0]


def _unpack(value: ir.Value, before: ir.Operation) -> Sequence[ir.Value]:
    return list(create(UNREALIZED_CAST, [value], _types(value.type) or [], before=before).results)


def _packed(op: ir.Operation) -> Sequence[ir.Value] | None:
    makes = op.name == UNREALIZED_CAST and len(op.results) == 1
    types = _types(op.results[0].type) if makes else None
    return list(op.operands) if types is not None and types == [v.type for v in op.operands] else None


def _taken(op: ir.Operation) -> tuple[ir.Value, Sequence[int]] | None:
    takes = op.name == UNREALIZED_CAST and len(op.operands) == 1
    types = _types(op.operands[0].type) if takes else None
    if types is None or types != [cast(Any, result).type for result in op.results]:
        return None
    return op.operands[0], range(len(types))


TUPLE = TypeDecomposition(_types, _pack, _unpack, _packed, _taken)
