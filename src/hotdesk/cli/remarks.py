"""Remarks of a run: which decision speaks of which place and function, and where the remarks go."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TextIO

from hotdesk._bindings import ir
from hotdesk.cli.diagnostics import Diagnostic, FilePosition, Input
from hotdesk.cli.written import value_names
from hotdesk.errors import HotdeskError
from hotdesk.explain import Decision, Source
from hotdesk.explain.remarks import Remark, RemarkFilter, as_line, as_yaml, failure_of, remark_of
from hotdesk.ir.walking import is_module, symbol_name
from hotdesk.passes.manual import failed_condition
from hotdesk.sizes.writing import renamed

_VALUE = re.compile(r"(?:argument \d+|`[^`]*`) \(-:(\d+):(\d+)\)")


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a module by the places where they begin, taken before passes change it."""

    starts: tuple[tuple[FilePosition, str], ...]

    @classmethod
    def of(cls, top: ir.Operation, source: Input) -> Functions:
        inside = [op.operation for region in top.regions for block in region.blocks for op in block.operations]
        named = [op for op in (top, *inside) if "sym_name" in op.attributes and not is_module(op)]
        return cls(tuple((source.place(op.location), symbol_name(op)) for op in named))

    def at(self, place: FilePosition) -> str:
        """The function around a place, or the only one there is; "" if that is not known."""
        if len(self.starts) == 1:
            return self.starts[0][1]
        before = [(start.line, name) for start, name in self.starts if start.file == place.file and start.line]
        before = [entry for entry in before if entry[0] <= place.line]
        return max(before, default=(0, ""), key=lambda entry: entry[0])[1]


@dataclass(frozen=True, slots=True)
class Remarks:
    """Makes remarks of decisions and errors and passes on those that the filter accepts."""

    accepts: RemarkFilter
    format: str
    file: TextIO | None
    emit: Callable[[Diagnostic], None]

    def decided(self, pass_name: str, decision: Decision, source: Input, functions: Functions) -> None:
        about = next(iter(decision.because), decision.write or Source(""))
        place = source.at(about.location)
        decision = in_words_of(source, decision)
        function = functions.at(place)
        made = remark_of(
            decision,
            pass_name=pass_name,
            function=function,
            file=place.file,
            line=place.line,
            column=place.column,
            condition=failed_condition(pass_name, decision.reason.value),
        )
        self._emit(made, place, source)

    def failed(self, pass_name: str, error: HotdeskError, source: Input, functions: Functions) -> None:
        place = source.at(error.where or "")
        function = functions.at(place)
        made = failure_of(
            error, pass_name=pass_name, function=function, file=place.file, line=place.line, column=place.column
        )
        self._emit(made, place, source)

    def _emit(self, remark: Remark, place: FilePosition, source: Input) -> None:
        if not self.accepts.accepts(remark):
            return
        diagnostic = Diagnostic("remark", place, as_line(remark))
        if self.format == "yaml":
            print(as_yaml(remark), end="", file=self.file or sys.stderr, flush=True)
        elif self.file is not None:
            print(source.show(diagnostic), file=self.file, flush=True)
        else:
            self.emit(diagnostic)


def in_words_of(source: Input, decision: Decision) -> Decision:
    """The decision with the input's name where its places say `-`, and with the names of values in its size."""
    file = source.file

    def named(one: Source | None) -> Source | None:
        if one is None or not one.location.startswith("-:"):
            return one
        return Source(one.op, file + one.location[1:])

    return replace(
        decision,
        because=tuple(one for one in map(named, decision.because) if one is not None),
        read=named(decision.read),
        write=named(decision.write),
        definition=named(decision.definition),
        path=tuple(one for one in map(named, decision.path) if one is not None),
        hint=decision.hint.replace("(-:", f"({file}:"),
        bytes=decision.bytes
        if isinstance(decision.bytes, int)
        else renamed(decision.bytes, lambda text: _named(text, source)),
    )


def _named(text: str, source: Input) -> str:
    """What a size is the size of, with the name that the value has in the input: `dim 0 of %x`."""

    def name(found: re.Match[str]) -> str:
        return value_names(source.lines).get((int(found[1]), int(found[2])), found[0])

    return _VALUE.sub(name, text).replace("(-:", f"({source.file}:")
