"""Text to records of stated types: JSON, in which a record is the list of its fields, read by the types these are declared with.

What does not have the type that is stated is refused: no class is named in the text, and none is looked up. A type is looked at
once for a text, when it is first read: what reads its values is a function made of those that read its parts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from hotdesk.errors import ArtifactError

LARGEST = 1 << 62
"""Integers lie between this and its negative."""

T = TypeVar("T")
_Reader: TypeAlias = Callable[[Any], Any]


def encoded(record: object) -> bytes:
    """A record as text."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=True).encode()


def decoded(kind: type[T], data: bytes) -> T:
    """The record of this type that the text stands for. Raises ArtifactError."""
    try:
        return _reader(kind)(json.loads(data))
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
    """What makes values of a type of JSON's, and raises _Unlike for others."""
    if kind is Any:
        return lambda value: value
    if kind is int:
        return _integer
    if kind is float:
        return _float
    if kind is str:
        return _text
    if kind in (bool, NoneType):
        return _plain(kind)
    if _is_record(kind):
        return _record(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(parts)
    if origin in (Union, UnionType):
        return _either(parts)
    if origin is not tuple:
        return _mapping(parts[1])
    return _sequence(parts[0]) if len(parts) == 2 and parts[1] is ... else _several(parts)


def _is_record(kind: Any) -> bool:
    return hasattr(kind, "_fields")


def _integer(value: Any) -> Any:
    if type(value) is int and -LARGEST < value < LARGEST:
        return value
    raise _Unlike("int", value)


def _float(value: Any) -> Any:
    if type(value) in (int, float):
        return float(value)
    raise _Unlike("float", value)


def _text(value: Any) -> Any:
    """The same text, such as the name of an op, is one in all records."""
    if type(value) is str:
        return sys.intern(value)
    raise _Unlike("str", value)


def _plain(kind: Any) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is kind:
            return value
        raise _Unlike("nothing" if kind is NoneType else kind.__name__, value)

    return read


def _one_of(texts: tuple[str, ...]) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is str and value in texts:
            return value
        raise _Unlike(" or ".join(texts), value)

    return read


def _record(kind: Any) -> _Reader:
    readers = [_reader(each) for each in kind.__annotations__.values()]

    def read(value: Any) -> Any:
        if value.__class__ is not list or len(value) != len(readers):
            raise _Unlike(f"a list of {len(readers)} fields", value)
        found: list[Any] = []
        try:
            for each, part in zip(readers, value, strict=True):
                found.append(each(part))
        except _Unlike as fault:
            fault.fields.append(kind._fields[len(found)])
            raise
        return kind._make(found)

    return read


def _either(parts: tuple[Any, ...]) -> _Reader:
    """The first alternative that has the form of the value."""
    forms: dict[type, _Reader] = {}
    for part in parts:
        form = dict if get_origin(part) is dict else list if _is_record(part) or get_origin(part) is tuple else part
        forms.setdefault(form, _reader(part))
    names = " or ".join(getattr(part, "__name__", str(part)) for part in parts)

    def read(value: Any) -> Any:
        each = forms.get(value.__class__)
        if each is None:
            raise _Unlike(names, value)
        return each(value)

    return read


def _sequence(part: Any) -> _Reader:
    each = _reader(part)

    def read(value: Any) -> Any:
        if value.__class__ is not list:
            raise _Unlike("a list", value)
        return tuple(map(each, value))

    return read


def _several(parts: tuple[Any, ...]) -> _Reader:
    readers = tuple(map(_reader, parts))

    def read(value: Any) -> Any:
        if value.__class__ is not list:
            raise _Unlike("a list", value)
        if len(value) != len(readers):
            raise _Unlike(f"{len(readers)} values", value)
        return tuple([each(part) for each, part in zip(readers, value, strict=True)])

    return read


def _mapping(part: Any) -> _Reader:
    each = _reader(part)

    def read(value: Any) -> Any:
        if value.__class__ is not dict:
            raise _Unlike("names with values", value)
        return {key: each(value) for key, value in value.items()}

    return read
