"""How a call of a saved program becomes tensors and back: nests of tuples, lists and dictionaries, without PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hotdesk.artifacts.formulas import Formula
from hotdesk.artifacts.records import CallingRecord, ReturnedRecord
from hotdesk.errors import ArgumentCountError, ArgumentTypeError
from hotdesk.runtime.arguments.tensors import is_torch

NESTED = 64
"""No nest is deeper."""


class Structure:
    """A nest of containers, whose leaves are in order."""

    __slots__ = ("_keys", "_kind", "_parts", "leaves")

    def __init__(self, kind: str, keys: Sequence[Any], parts: Sequence[Structure]) -> None:
        self._kind = kind
        self._keys = tuple(keys)
        self._parts = tuple(parts)
        self.leaves: int = 1 if kind == "leaf" else sum(part.leaves for part in parts)

    def __str__(self) -> str:
        inside = [str(part) for part in self._parts]
        match self._kind:
            case "leaf":
                return "*"
            case "none":
                return "None"
            case "tuple":
                return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"
            case "list":
                return f"[{', '.join(inside)}]"
            case _:
                return f"{{{', '.join(f'{key!r}: {part}' for key, part in zip(self._keys, inside, strict=True))}}}"

    @property
    def parts(self) -> tuple[Structure, ...]:
        return self._parts

    def flatten(self, value: Any) -> Iterator[Any]:
        """The leaves of a value that has this structure. Raises _Different."""
        if self._kind == "leaf":
            yield value
            return
        for part, each in zip(self._parts, self._inside(value), strict=True):
            yield from part.flatten(each)

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """A value of this structure with these leaves."""
        if self._kind == "leaf":
            return next(leaves)
        if self._kind == "none":
            return None
        parts = [part.unflatten(leaves) for part in self._parts]
        if self._kind == "dict":
            return dict(zip(self._keys, parts, strict=True))
        return parts if self._kind == "list" else tuple(parts)

    def _inside(self, value: Any) -> Sequence[Any]:
        if self._kind == "none" and value is None:
            return ()
        if self._kind == "dict" and type(value) is dict:
            found = cast("dict[Any, Any]", value)
            if found.keys() == set(self._keys):
                return [found[key] for key in self._keys]
        kind: object = cast(Any, type)(value)
        if kind is (tuple if self._kind == "tuple" else list) and self._kind in ("tuple", "list"):
            several = cast("Sequence[Any]", cast(object, value))
            if len(several) == len(self._parts):
                return several
        raise _Different


class _Different(Exception):
    """A value has another structure."""


class StructuredCalling:
    """The way a program was called where it was compiled: implements `runtime.interface.Calling`."""

    __slots__ = ("_arguments", "_numbers", "_record", "_returned", "_single")

    def __init__(
        self,
        record: CallingRecord,
        arguments: Structure,
        returned: Structure,
        numbers: Sequence[int | Formula | None],
    ) -> None:
        """`numbers` are the numbers made of sizes that leaves of what is returned are; None for others."""
        self._record = record
        self._arguments = arguments
        self._returned = returned
        self._numbers = tuple(numbers)
        positional = arguments.parts[0]
        self._single = (
            not record.keywords
            and all(c is None for c in record.constants)
            and all(str(part) == "*" for part in positional.parts)
        )

    @property
    def parameters(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        found: list[tuple[str, tuple[int, ...]]] = []
        positional, keywords = self._arguments.parts
        names = (*self._record.positional, *("" for _ in positional.parts[len(self._record.positional) :]))
        leaf = given = 0
        for name, part in zip((*names, *self._record.keywords), (*positional.parts, *keywords.parts), strict=True):
            own: list[int] = []
            for constant in self._record.constants[leaf : leaf + part.leaves]:
                if constant is None:
                    own.append(given)
                    given += 1
            leaf += part.leaves
            found.append((name, tuple(own)))
        return tuple(found)

    def flatten(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Sequence[object]:
        if self._single and not kwargs and len(args) == len(self._record.constants):
            return args
        arranged = self._arranged(args, kwargs)
        try:
            leaves = list(self._arguments.flatten(arranged))
        except _Different:
            positional, keywords = self._arguments.parts
            count = len(positional.parts) + len(keywords.parts)
            if len(args) + len(kwargs) != count:
                names = ", ".join((*self._record.positional, *self._record.keywords))
                got = str(len(args) + len(kwargs))
                raise ArgumentCountError("wrong arguments", expected=f"{count} ({names})", got=got) from None
            raise ArgumentTypeError(
                "the arguments are nested differently than when the program was compiled",
                expected=f"{positional} and {keywords}",
                got=f"{len(args)} arguments and {', '.join(kwargs) or 'no keywords'}",
            ) from None
        inputs: list[object] = []
        for leaf, constant in zip(leaves, self._record.constants, strict=True):
            if constant is None:
                inputs.append(leaf)
            elif not _same(leaf, constant.value):
                raise ArgumentTypeError(
                    f"argument `{constant.name}` was fixed when the program was compiled",
                    expected=repr(constant.value),
                    got=type(leaf).__name__ if is_torch(leaf) else repr(leaf)[:80],
                    hint="Save a program that was compiled with the new value, or with a tensor.",
                )
        return inputs

    def unflatten(self, results: Sequence[Any], symbols: Mapping[str, int], leaves: Sequence[object]) -> Any:
        rows = zip(self._record.leaves, self._numbers, strict=True)
        return self._returned.unflatten(iter([_returned(leaf, number, results, symbols) for leaf, number in rows]))

    def _arranged(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> tuple[Any, ...]:
        """As when it was compiled: positional arguments that came by name in their places."""
        named = dict(kwargs)
        missing = self._record.positional[len(args) :]
        filled = [named.pop(name) for name in missing] if all(name in named for name in missing) else []
        return (*args, *filled), named


def _returned(leaf: ReturnedRecord, number: Any, results: Sequence[Any], symbols: Mapping[str, int]) -> Any:
    if leaf.kind == "tensor":
        return results[leaf.result]
    if leaf.kind == "held":
        return results[leaf.result].item()
    if leaf.kind == "constant":
        return leaf.constant
    value = number if isinstance(number, int) else number.at(symbols)
    return {"int": int, "float": float, "bool": bool}[leaf.type](value)


def _same(given: object, fixed: object) -> bool:
    """Whether a constant is the one that was compiled in; `1`, `1.0` and `True` are three constants."""
    return type(given) is type(fixed) and (given == fixed or (given != given and fixed != fixed))
