"""Diagnostics: what MLIR, a pass or an error says about a place in the input, and how it is printed.

in.mlir:2:10: error: use of undeclared SSA value name
  return %r : tensor<4xf32>
         ^
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError
from hotdesk.explain.answers import Spot
from hotdesk.ir.locations import FILE_LINE_COLUMN

_SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.REMARK: "remark",
    ir.DiagnosticSeverity.NOTE: "note",
}


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A position in a file; lines and columns count from 1. Line 0 is the file as a whole, column 0 the whole line."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message about a place; `severity` is error, warning, remark or note."""

    severity: str
    place: FilePosition
    message: str
    notes: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """The text that diagnostics speak of, by lines; `file` is its name in them."""

    file: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, file: str, text: str) -> Input:
        return cls(file, tuple(text.split("\n")))

    def statement(self, line: int) -> FilePosition:
        """Where the text of a line begins."""
        if not 0 < line <= len(self.lines):
            return FilePosition(self.file, line)
        text = self.lines[line - 1]
        return FilePosition(self.file, line, len(text) - len(text.lstrip()) + 1)

    def place(self, location: object) -> FilePosition:
        """The place of an MLIR location; parsed text has no file name of its own, so `-` is this input."""
        found = FILE_LINE_COLUMN.search(str(location))  # the most specific place comes first
        if found is None:
            return FilePosition(self.file)
        return FilePosition(self.file if found[1] == "-" else found[1], int(found[2]), int(found[3]))

    def show(self, diagnostic: Diagnostic, shown: FilePosition | None = None) -> str:
        """The diagnostic and its notes, each with its line of the input and a caret below, where the text is at hand.

        The line at `shown` was printed before and is not repeated.
        """
        place = diagnostic.place
        text = f"{place}: {diagnostic.severity}: {diagnostic.message}"
        if place != shown and place.file == self.file and place.column and 0 < place.line <= len(self.lines):
            line = self.lines[place.line - 1]
            before = "".join("\t" if c == "\t" else " " for c in line[: place.column - 1])
            text += f"\n{line}\n{before}^"
        return "\n".join([text, *(self.show(note, place) for note in diagnostic.notes)])

    # From what others say

    def of_mlir(self, found: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
        """What MLIR emitted, as a record of its own: the bindings' object is valid only while it is handled."""
        notes = tuple(self.of_mlir(note) for note in found.notes)
        return Diagnostic(_SEVERITIES[found.severity], self.place(found.location), str(found.message), notes)

    def of_error(self, error: HotdeskError) -> Diagnostic:
        """An error of ours: where it is comes first, not in brackets."""
        bare = type(error)(error.what, expected=error.expected, got=error.got, hint=error.hint)
        return Diagnostic("error", self.at(error.where or ""), str(bare))

    def at(self, location: str) -> FilePosition:
        """The place that text such as `-:12:3`, `-:12` or `model.py:3` names; the file as a whole for text that names none."""
        spot = Spot.of(location)
        if spot is None:
            return FilePosition(location or self.file)
        if spot.file != "-":
            return FilePosition(spot.file, spot.line, spot.column)
        return FilePosition(self.file, spot.line, spot.column) if spot.column else self.statement(spot.line)


def without_operations(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics without the notes that only print the operation at fault."""
    kept: list[Diagnostic] = []
    for one in found:
        notes = tuple(note for note in one.notes if not note.message.startswith("see current operation: "))
        kept.append(Diagnostic(one.severity, one.place, one.message, notes))
    return kept
