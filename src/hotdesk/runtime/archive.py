"""Frozen records as bytes and back: what a finished program is, kept on disk without a line of code for each record.

    "HD" · length of the text · text (JSON) · raw bytes, to which the text refers by place and length

The text is a table of expressions and a table of records, each after all that it refers to, and the value itself. A record is
the number of its class and its fields; a record that stands in several places is written once, and is one again when it is read.

1. What a value may be: None, bools, numbers, text, bytes, arrays of numbers, tuples, lists, mappings; dataclasses, named tuples,
   enums and kinds of `int` that are Hotdesk's own; SymPy's expressions of sizes; the types `int`, `float` and `bool`. Else:
   NotArchivable.
2. An expression is written only if it is the same when it is built again from its parts.
3. Reading builds these and nothing else: no text is evaluated, and no class is looked up outside of Hotdesk's modules.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, cast

import numpy as np
import sympy

_HEAD = struct.Struct("<2sQ")
_MAGIC = b"HD"
_PACKAGE = __name__.partition(".")[0]
_TYPES: Mapping[str, type] = {"int": int, "float": float, "bool": bool}
_sympy: Any = sympy
_FUNCTIONS: Mapping[str, Any] = {
    name: getattr(_sympy, name)
    for name in (
        *("Add", "Mul", "Pow", "Mod", "Max", "Min", "floor", "ceiling", "Abs"),
        *("Equality", "Unequality", "LessThan", "StrictLessThan", "GreaterThan", "StrictGreaterThan"),
        *("And", "Or", "Not", "Piecewise"),
    )
}
_ATOMS: Mapping[str, Any] = {"true": _sympy.true, "false": _sympy.false, "oo": _sympy.oo}


class NotArchivable(Exception):
    """A value has a part that is none of those that can be written."""


class ArchiveError(Exception):
    """Bytes that are no archive, or one of records as they are not any more."""


def packed(value: object) -> bytes:
    """A value as bytes. Raises NotArchivable."""
    writer = _Writer()
    root = writer.value(value)
    text = json.dumps([writer.classes, writer.expressions, writer.records, root], separators=(",", ":")).encode()
    return b"".join([_HEAD.pack(_MAGIC, len(text)), text, *writer.blobs])


def unpacked(data: bytes) -> Any:
    """The value that was packed. Raises ArchiveError."""
    try:
        magic, length = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            raise ArchiveError("not an archive")
        start = _HEAD.size + length
        classes, expressions, records, root = json.loads(data[_HEAD.size : start])
        return _ArchiveReader(classes, expressions, records, memoryview(data)[start:]).value(root)
    except (struct.error, ValueError, LookupError, TypeError, AttributeError, ImportError, RecursionError) as error:
        raise ArchiveError(str(error)) from error


class _Writer:
    def __init__(self) -> None:
        self.classes: list[list[Any]] = []
        self.expressions: list[list[Any]] = []
        self.records: list[list[Any]] = []
        self.blobs: list[bytes] = []
        self._end = 0
        self._class_numbers: dict[type, int] = {}
        self._known: dict[Any, int] = {}  # expressions
        self._seen: dict[int, tuple[int, object]] = {}  # records by identity, which they keep as long as they are here

    def value(self, value: Any) -> Any:
        """A value as JSON: what JSON has stands for itself, all else is a list that begins with its kind."""
        kind = cast(Any, type)(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind in (tuple, list):
            return ["t" if kind is tuple else "l", *map(self.value, value)]
        if kind is bytes:
            return ["b", *self._blob(value)]
        if isinstance(value, np.ndarray):
            return self._array(cast(Any, value))
        if isinstance(value, sympy.Basic):
            return ["s", self._expression(value)]
        if isinstance(value, type) and value in _TYPES.values():
            return ["y", value.__name__]
        if _is_own(kind):
            return ["o", self._record(value)]
        if isinstance(value, Mapping):
            items = cast("Mapping[object, object]", value).items()
            return ["d", *(self.value(each) for item in items for each in item)]
        raise NotArchivable(f"{kind.__module__}.{kind.__qualname__}")

    def _record(self, value: Any) -> int:
        found = self._seen.get(id(value))
        if found is None:
            kind = cast(Any, type)(value)
            if isinstance(value, Enum):
                content = [self.value(value.name)]
            elif isinstance(value, int):
                content = [int(value)]
            else:
                content = [self.value(getattr(value, name)) for name in _field_names(kind)]
            self.records.append([self._class(kind), *content])
            found = self._seen[id(value)] = len(self.records) - 1, value
        return found[0]

    def _class(self, kind: Any) -> int:
        if kind not in self._class_numbers:
            self._class_numbers[kind] = len(self.classes)
            self.classes.append([kind.__module__, kind.__qualname__, *_field_names(kind)])
        return self._class_numbers[kind]

    def _blob(self, data: bytes) -> tuple[int, int]:
        self.blobs.append(data)
        self._end += len(data)
        return self._end - len(data), len(data)

    def _array(self, array: Any) -> list[Any]:
        if array.dtype.kind not in "biufc":
            raise NotArchivable(f"an array of {array.dtype}")
        return ["a", array.dtype.str, list(array.shape), *self._blob(np.ascontiguousarray(array).tobytes())]

    def _expression(self, expression: Any) -> int:
        if expression not in self._known:
            text = self._spelled(expression)
            if _built(text, [expression.args[i] for i in range(len(text) - 1)] if text[0] in _FUNCTIONS else []) != (
                expression
            ):
                raise NotArchivable(f"the expression {expression}")
            self.expressions.append(text)
            self._known[expression] = len(self.expressions) - 1
        return self._known[expression]

    def _spelled(self, expression: Any) -> list[Any]:
        """An expression by its function or kind, and the numbers of its parts."""
        if expression.is_Symbol:
            assumptions = cast("dict[str, bool | None]", expression._assumptions_orig)
            return ["symbol", expression.name, {name: assumptions[name] for name in sorted(assumptions)}]
        if expression.is_Rational:
            return ["number", str(expression.p), str(expression.q)]
        atom = next((name for name, each in _ATOMS.items() if each is expression), None)
        if atom is not None:
            return ["atom", atom]
        name = type(expression).__name__
        if _FUNCTIONS.get(name) is not type(expression):
            raise NotArchivable(f"the function {name} of sizes")
        return [name, *map(self._expression, expression.args)]


class _ArchiveReader:
    def __init__(
        self, classes: list[list[Any]], expressions: list[list[Any]], records: list[list[Any]], blobs: memoryview
    ) -> None:
        self._blobs = blobs
        self._texts: dict[str, str] = {}
        self._expressions: list[Any] = []
        self._records: list[Any] = []
        for text in expressions:
            parts = [self._expressions[number] for number in text[1:]] if text[0] in _FUNCTIONS else []
            self._expressions.append(_built(text, parts))
        makers = [_maker(*entry) for entry in classes]
        for number, *content in records:
            self._records.append(makers[number](*map(self.value, content)))

    def value(self, text: Any) -> Any:
        if isinstance(text, str):
            return self._texts.setdefault(text, text)
        if not isinstance(text, list):
            return text
        kind, *content = cast("list[Any]", text)
        if kind == "t":
            return tuple(map(self.value, content))
        if kind == "o":
            return self._records[content[0]]
        if kind == "s":
            return self._expressions[content[0]]
        if kind == "l":
            return list(map(self.value, content))
        if kind == "d":
            values = list(map(self.value, content))
            return dict(zip(values[::2], values[1::2], strict=True))
        if kind == "b":
            return bytes(self._blob(*content))
        if kind == "a":
            dtype, shape, start, length = content
            array: Any = np.frombuffer(self._blob(start, length), np.dtype(dtype))
            return array.reshape(shape).copy()
        if kind == "y":
            return _TYPES[content[0]]
        raise ArchiveError(f"a value of kind {kind}")

    def _blob(self, start: int, length: int) -> memoryview:
        if not 0 <= start <= start + length <= len(self._blobs):
            raise ArchiveError("bytes outside of the archive")
        return self._blobs[start : start + length]


def _built(text: list[Any], parts: list[Any]) -> Any:
    kind = text[0]
    if kind == "symbol":
        return _sympy.Symbol(text[1], **text[2])
    if kind == "number":
        return _sympy.Rational(int(text[1]), int(text[2]))
    return _ATOMS[text[1]] if kind == "atom" else _FUNCTIONS[kind](*parts)


def _is_own(kind: Any) -> bool:
    if kind.__module__.partition(".")[0] != _PACKAGE:
        return False
    if issubclass(kind, Enum | int) or _is_named_tuple(kind):
        return True
    return is_dataclass(kind) and all(each.init for each in fields(kind))


def _is_named_tuple(kind: Any) -> bool:
    return hasattr(kind, "_fields") and issubclass(kind, tuple)


def _field_names(kind: Any) -> tuple[str, ...]:
    if _is_named_tuple(kind):
        return kind._fields
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def _maker(module: str, name: str, *names: str) -> Callable[..., Any]:
    """What makes a record of its fields; the class must be as it was when it was written."""
    if module.partition(".")[0] != _PACKAGE:
        raise ArchiveError(f"a record of {module}")
    kind: Any = getattr(import_module(module), name)
    if not (isinstance(kind, type) and kind.__module__ == module and _is_own(kind)) or _field_names(kind) != names:
        raise ArchiveError(f"{module}.{name} is another record")
    make: Any = kind

    def record(*values: Any) -> Any:
        return make(**dict(zip(names, values, strict=True)))

    def member(name: str) -> Any:
        return make[name]

    return member if issubclass(make, Enum) else record if names else make
