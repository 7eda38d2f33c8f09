"""Text to records of stated types: JSON, in which a record is the list of its fields, read by the types these are declared with.

What does not have the type that is stated is refused: no class is named in the text, and none is looked up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hotdesk.errors import ArtifactError

LARGEST = 1 << 62
"""Integers lie between this and its negative."""

T = TypeVar("T")


def encoded(record: object) -> bytes:
    """A record as text."""
    return json.dumps(_plain(record), separators=(",", ":"), ensure_ascii=False, allow_nan=True).encode()


def decoded(kind: type[T], data: bytes) -> T:
    """The record of this type that the text stands for. Raises ArtifactError."""
    try:
        return _read(kind, json.loads(data), kind.__name__)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            "the text of the program", expected="JSON", got=str(error)[:80] or "too many levels"
        ) from error


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, each.name)) for each in fields(value)]
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in cast("tuple[Any, ...]", value)]
    return value


def _read(kind: Any, value: Any, where: str) -> Any:
    if kind in (int, str, bool, float):
        if type(value) is kind and (kind is not int or abs(cast(int, value)) < LARGEST):
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise _fault(where, kind.__name__, value)
    if kind is NoneType:
        if value is None:
            return None
        raise _fault(where, "nothing", value)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _record(kind, value, where)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value in parts and type(value) is str:
            return value
        raise _fault(where, " or ".join(parts), value)
    if origin in (Union, UnionType):
        return _either(parts, value, where)
    if origin is tuple:
        return _tuple(parts, value, where)
    return _mapping(parts[1], value, where)


def _record(kind: Any, value: Any, where: str) -> Any:
    types = _types(kind)
    if type(value) is not list or len(cast("list[Any]", value)) != len(types):
        raise _fault(where, f"a list of {len(types)} fields", cast(object, value))
    return kind(
        *(
            _read(each, part, f"{where}.{name}")
            for (name, each), part in zip(types, cast("list[Any]", value), strict=True)
        )
    )


def _either(parts: tuple[Any, ...], value: Any, where: str) -> Any:
    """The first alternative that has the form of the value."""
    for part in parts:
        form = dict if get_origin(part) is dict else list if is_dataclass(part) or get_origin(part) is tuple else part
        if type(value) is form:
            return _read(part, value, where)
    raise _fault(where, " or ".join(getattr(part, "__name__", str(part)) for part in parts), value)


def _tuple(parts: tuple[Any, ...], value: Any, where: str) -> Any:
    if type(value) is not list:
        raise _fault(where, "a list", value)
    found = cast("list[Any]", value)
    if len(parts) == 2 and parts[1] is ...:
        return tuple([_read(parts[0], each, where) for each in found])
    if len(found) != len(parts):
        raise _fault(where, f"{len(parts)} values", cast(object, value))
    return tuple([_read(part, each, where) for part, each in zip(parts, found, strict=True)])


def _mapping(part: Any, value: Any, where: str) -> Any:
    if type(value) is not dict:
        raise _fault(where, "names with values", value)
    return {key: _read(part, each, where) for key, each in cast("dict[str, Any]", value).items()}


@cache
def _types(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((each.name, hints[each.name]) for each in fields(kind))


def _fault(where: str, expected: str, value: object) -> ArtifactError:
    return ArtifactError(f"`{where}` of the program", expected=expected, got=repr(value)[:80])
