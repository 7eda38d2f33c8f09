"""Text to records of stated types: JSON, in which a record is the list of its fields, read by the types these are declared with.

What does not have the type that is stated is refused: no class is named in the text, and none is looked up. A type is looked at
once for a text, when it is first read. Values of one type are read together, field by field of all records that are in a list:
what reads them is a function of a column of values, made of those that read the columns of its parts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, islice
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from hotdesk.errors import ArtifactError

LARGEST = 1 << 62
"""Integers lie between this and its negative."""

T = TypeVar("T")
_Column: TypeAlias = Sequence[Any]
_Reader: TypeAlias = Callable[[_Column], _Column]


def encoded(record: object) -> bytes:
    """A record as text."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=True).encode()


def decoded(kind: type[T], data: bytes) -> T:
    """The record of this type that the text stands for. Raises ArtifactError."""
    try:
        return _reader(kind)([json.loads(data)])[0]
    except _Unlike as fault:
        where = ".".join((kind.__name__, *reversed(fault.fields)))
        raise ArtifactError(f"`{where}` of the program", expected=fault.expected, got=fault.got) from None
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            "the text of the program", expected="JSON", got=str(error)[:80] or "too many levels"
        ) from error
    finally:
        _reader.cache_clear()


class _Unlike(Exception):
    """A value that does not have the type that is stated; `fields` lead to it, the innermost first."""

    def __init__(self, expected: str, value: object) -> None:
        self.expected, self.got = expected, repr(value)[:80]
        self.fields: list[str] = []


@cache
def _reader(kind: Any) -> _Reader:
    """What makes values of a type of a column of JSON's, and raises _Unlike where one is of another."""
    if kind is Any:
        return _unread
    if kind is int:
        return _integers
    if kind is str:
        return _texts
    if kind in (bool, NoneType):
        return _plain(kind)
    if _is_record(kind):
        return _records(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(parts)
    if origin in (Union, UnionType):
        return _either(parts)
    if origin is not tuple:
        return _mappings(parts[1])
    return _sequences(parts[0]) if len(parts) == 2 and parts[1] is ... else _rows(parts)


def _is_record(kind: Any) -> bool:
    return hasattr(kind, "_fields")


def _only(kind: type, column: _Column, expected: str) -> None:
    """Raises _Unlike unless all values are of this very type."""
    if not {kind}.issuperset(map(type, column)):
        raise _Unlike(expected, next(value for value in column if type(value) is not kind))


def _unread(column: _Column) -> _Column:
    return column


def _integers(column: _Column) -> _Column:
    _only(int, column, "int")
    if column and not -LARGEST < min(column) <= max(column) < LARGEST:
        raise _Unlike("int", next(value for value in column if not -LARGEST < value < LARGEST))
    return column


def _texts(column: _Column) -> _Column:
    """The same text, such as the name of an op, is one in all records."""
    _only(str, column, "str")
    return list(map(sys.intern, column))


def _plain(kind: Any) -> _Reader:
    def read(column: _Column) -> _Column:
        _only(kind, column, "nothing" if kind is NoneType else kind.__name__)
        return column

    return read


def _one_of(texts: tuple[str, ...]) -> _Reader:
    expected = " or ".join(texts)

    def read(column: _Column) -> _Column:
        _only(str, column, expected)
        if not set(texts).issuperset(column):
            raise _Unlike(expected, next(value for value in column if value not in texts))
        return column

    return read


def _records(kind: Any) -> _Reader:
    rows = _rows(tuple(kind.__annotations__.values()), kind._fields)
    make = cast(Any, tuple).__new__  # of as many values as there are fields

    def read(column: _Column) -> _Column:
        return [make(kind, row) for row in rows(column)]

    return read


def _rows(parts: tuple[Any, ...], names: tuple[str, ...] = ()) -> _Reader:
    """What reads lists of so many values, each of its own type; they may have names."""
    readers = tuple(map(_reader, parts))
    expected = f"a list of {len(parts)} fields" if names else f"{len(parts)} values"

    def read(column: _Column) -> _Column:
        _only(list, column, expected if names else "a list")
        if not {len(parts)}.issuperset(map(len, column)):
            raise _Unlike(expected, next(value for value in column if len(value) != len(parts)))
        found: list[_Column] = []
        try:
            for each, values in zip(readers, zip(*column, strict=True), strict=bool(column)):
                found.append(each(values))
        except _Unlike as fault:
            fault.fields.extend(names[len(found) : len(found) + 1])
            raise
        return list(zip(*found, strict=True))

    return read


def _either(parts: tuple[Any, ...]) -> _Reader:
    """The first alternative that has the form of the value."""
    forms: dict[type, _Reader] = {}
    for part in parts:
        form = dict if get_origin(part) is dict else list if _is_record(part) or get_origin(part) is tuple else part
        forms.setdefault(form, _reader(part))
    names = " or ".join(getattr(part, "__name__", str(part)) for part in parts)

    def read(column: _Column) -> _Column:
        kinds = list(map(type, column))
        if not forms.keys() >= set(kinds):
            raise _Unlike(names, next(value for value in column if type(value) not in forms))
        rest = {
            form: iter(each([value for value in column if type(value) is form]))
            for form, each in forms.items()
            if form in kinds
        }
        return [next(rest[kind]) for kind in kinds]

    return read


def _sequences(part: Any) -> _Reader:
    each = _reader(part)

    def read(column: _Column) -> _Column:
        _only(list, column, "a list")
        values = iter(each(list(chain.from_iterable(column))))
        return [tuple(islice(values, count)) for count in map(len, column)]

    return read


def _mappings(part: Any) -> _Reader:
    each = _reader(part)

    def read(column: _Column) -> _Column:
        _only(dict, column, "names with values")
        values = iter(each([value for mapping in column for value in mapping.values()]))
        return [dict(zip(mapping, islice(values, len(mapping)), strict=True)) for mapping in column]

    return read
