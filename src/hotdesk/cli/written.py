"""IR text by its places: where a name is defined, and the ops, which may carry locations of their own, where they stand.

    %5 = tensor.insert %c into %x[%n] : tensor<8xf32> loc("model.py":12:4)

`in.mlir:2:8` is where the op stands in the text, `model.py:12` is its origin. The text is read twice, as it is and without its
locations; without them every op has its place in the text. Both times the same ops come in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Source
from hotdesk.explain.answers import Spot
from hotdesk.ir.locations import FILE_LINE_COLUMN, python_line
from hotdesk.ir.types import is_any_tensor, is_buffer
from hotdesk.ir.walking import is_function, is_module, nested_ops

_STRING = r'"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(rf"{_STRING}|//[^\n]*|(?:(?m:^)\s*#[\w$.-]+\s*=\s*|(?<![\w.@%#!$-]))(loc\s*\()")
_BRACKET = re.compile(rf"{_STRING}|[()]")
_NAMED = re.compile(r"\((\S+:\d+:\d+)\)")
_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?\s*,\s*)*%[\w$.-]+(?::\d+)?)\s*=\s*")
_ARGUMENT = re.compile(r"%([\w$.-]+)\s*(?:=\s*%[\w$.#-]+|:)")
_FUNCTION = re.compile(r"\bfunc\.func\b[^@]*@([\w$.-]+)")

Position = tuple[int, int]
"""A line and a column of the text."""


@dataclass(frozen=True, slots=True)
class Written:
    """A module from text.

    Attributes:
        module: its locations are places in the text; as the text gives them where it cannot be read without.
        origins: the locations that the text gives, by the places of their ops and arguments.
        receivers: the places of the ops and arguments that get what is made at a place.
    """

    module: ir.Module
    origins: Mapping[Position, str]
    receivers: Mapping[Position, tuple[Position, ...]]

    def places(self, spot: Spot, file: str) -> list[Spot]:
        """Where in the text ops stand that have a place, be it one of several, in their location."""
        found = [at for at, origin in self.origins.items() if any(map(spot.holds, _frames(origin)))]
        return [Spot(file, *at) for at in found]

    def named(self) -> list[Spot]:
        """All places that the locations name."""
        return [frame for origin in self.origins.values() for frame in _frames(origin)]

    def following(self, spots: Sequence[Spot]) -> Generator[list[Position]]:
        """The receivers of what is made at some places, then those of what they make, until nobody is new."""
        last = [at for at in self.receivers if any((spot.line, spot.column or at[1]) == at for spot in spots)]
        seen = set(last)
        while last:
            level = dict.fromkeys(to for at in last for to in self.receivers.get(at, ()))
            last = [at for at in level if at not in seen]
            seen.update(last)
            yield last

    def told(self, decision: Decision, file: str) -> Decision:
        """The decision with origins where it has places in the text, as far as they are known."""
        lines = {at: python_line(origin) for at, origin in self.origins.items()}
        names = {f"{file}:{at[0]}:{at[1]}": line for at, line in lines.items() if line and not line.startswith("-:")}

        def named(source: Source) -> Source:
            return Source(source.op, names.get(source.location, source.location))

        return replace(
            decision,
            because=tuple(map(named, decision.because)),
            read=decision.read and named(decision.read),
            write=decision.write and named(decision.write),
            definition=decision.definition and named(decision.definition),
            path=tuple(map(named, decision.path)),
            hint=_NAMED.sub(lambda found: f"({names.get(found[1], found[1])})", decision.hint),
        )


def read_written(text: str, context: ir.Context) -> Written:
    """Reads a module. Raises ir.MLIRError for text that is none."""
    module = ir.Module.parse(text, context)
    bare = without_locations(text)
    if bare == text:
        return Written(module, {}, _receivers(module))
    try:
        placed = ir.Module.parse(bare, context)
    except ir.MLIRError:  # a location is an attribute of an op
        return Written(module, {}, {})
    pairs = zip(_locations(placed), _locations(module), strict=True)
    origins = {
        at: origin for at, origin in ((_position(place), str(origin)) for place, origin in pairs) if at is not None
    }
    return Written(placed, origins, _receivers(placed))


def without_locations(text: str) -> str:
    """The text with spaces where it has locations, so that everything else stands where it stood."""
    parts: list[str] = []
    done = 0
    while (found := _TOKEN.search(text, done)) is not None:
        end = found.end()
        if found[1] is None:
            parts.append(text[done:end])
        else:
            end = _closed(text, end)
            parts.append(text[done : found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]))
        done = end
    return "".join([*parts, text[done:]])


def _closed(text: str, start: int) -> int:
    """Where the bracket ends that was opened before `start`."""
    depth = 1
    for found in _BRACKET.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return len(text)


def _locations(module: ir.Module) -> Generator[ir.Location]:
    """Of every op, and of the arguments of its blocks."""
    for op in (module.operation, *nested_ops(module.operation)):
        yield op.location
        yield from (argument.location for argument in _arguments(op))


def _arguments(op: ir.Operation) -> list[ir.Value]:
    return [argument for region in op.regions for block in region.blocks for argument in block.arguments]


def _receivers(module: ir.Module) -> dict[Position, tuple[Position, ...]]:
    """Of a result those that use it, of an op with regions also their arguments, of what ends a block those it passes on to."""
    found: dict[Position, dict[Position, None]] = {}
    for op in nested_ops(module.operation):
        if is_function(op):
            for argument in _arguments(op):
                _add(found, argument.location, _users(argument))
            continue
        to = [location for result in op.results for location in _users(result)]
        for argument in _arguments(op):
            to.append(argument.location)
            _add(found, argument.location, _users(argument))
        if not len(op.results):
            parent = cast(Any, op.parent).operation
            to += [a.location for block in op.successors for a in block.arguments]
            to += [] if is_function(parent) or is_module(parent) else [parent.location]
        _add(found, op.location, to)
    return {at: tuple(to) for at, to in found.items()}


def _add(found: dict[Position, dict[Position, None]], at: ir.Location, to: Sequence[ir.Location]) -> None:
    here = _position(at)
    if here is not None:
        found.setdefault(here, {}).update((there, None) for there in map(_position, to) if there is not None)


def _users(value: ir.Value) -> list[ir.Location]:
    """Where a tensor or a buffer is used; scalars have no part in decisions."""
    if not (is_any_tensor(value.type) or is_buffer(value.type)):
        return []
    return [cast(Any, use.owner).operation.location for use in value.uses]


def _position(location: ir.Location) -> Position | None:
    """The place in the text, if it is one."""
    found = FILE_LINE_COLUMN.search(str(location))
    return (int(found[2]), int(found[3])) if found is not None and found[1] == "-" else None


def _frames(location: str) -> list[Spot]:
    """All places in a location, with the columns that it gives."""
    return [Spot(file, int(line), int(column)) for file, line, column in FILE_LINE_COLUMN.findall(location)]


# Names, which parsing forgets


def definitions(lines: Sequence[str], name: str, file: str) -> list[tuple[Spot, str]]:
    """The places where values of that name are defined, each with the function around it.

    A result is where its op's name is, an argument where its own name is; what a loop carries has only a line.
    """
    wanted, _, number = name.lstrip("%").partition("#")
    return [
        (Spot(file, line, column), function)
        for found, count, (line, column), function in _defined(lines)
        if found == wanted and (not number or (number.isdigit() and int(number) < count))
    ]


@lru_cache(maxsize=4)
def value_names(lines: tuple[str, ...]) -> Mapping[Position, str]:
    """The name of each value, or of the first of several that one op makes, by the place of its op or of an argument itself."""
    names: dict[Position, str] = {}
    for name, _, at, _ in _defined(lines):
        names.setdefault(at, f"%{name}")
    return names


def _defined(lines: Sequence[str]) -> Iterator[tuple[str, int, Position, str]]:
    """Each name that the text defines, how many results it stands for, where, and in which function."""
    function = ""
    for line_number, line in enumerate(lines, 1):
        text = line.partition("//")[0]
        around = _FUNCTION.search(text)
        function = around[1] if around is not None else function
        results = _RESULTS.match(text)
        start = results.end() if results is not None else 0
        counts = _counts(results[1]) if results is not None else {}
        for name, count in counts.items():
            yield name, count, (line_number, start + 1), function
        for argument in _ARGUMENT.finditer(text, start):
            carried = "=" in argument[0]
            if argument[1] not in counts and (carried or text[: argument.start()].rstrip()[-1:] in ("(", ",", "")):
                yield argument[1], 0, (line_number, 0 if carried else argument.start() + 1), function


def all_names(lines: Sequence[str]) -> list[str]:
    """Every name of a value that the text has, once, with its percent sign."""
    found = (name for line in lines for name in re.findall(r"%[\w$.-]+", line.partition("//")[0]))
    return list(dict.fromkeys(found))


def _counts(results: str) -> dict[str, int]:
    """How many results each name stands for."""
    parts = [each.strip().lstrip("%").partition(":") for each in results.split(",")]
    return {name: int(count or 1) for name, _, count in parts}
