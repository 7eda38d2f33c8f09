"""Inputs in parts: what a marker separates is a module of its own, with the lines counted from the start of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MARKER = "// -----"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the input. `before` are the lines in front of it."""

    text: str | bytes
    before: int = 0

    @property
    def padded(self) -> str | bytes:
        """The text behind as many empty lines, so that a parser counts its lines from the start of the file."""
        return "\n" * self.before + self.text if isinstance(self.text, str) else self.text

    @property
    def lines(self) -> list[str]:
        """The lines of text; bytecode has none."""
        return self.text.split("\n") if isinstance(self.text, str) else []


def chunks(text: str | bytes, marker: str | None) -> Iterator[Chunk]:
    """The parts of `text` between lines that begin with `marker`; all of it when there is no marker, or it is bytecode."""
    if not marker or isinstance(text, bytes):
        yield Chunk(text)
        return
    lines: list[str] = []
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(marker):
            yield Chunk("\n".join(lines), start)
            lines, start = [], number
        else:
            lines.append(line)
    yield Chunk("\n".join(lines), start)
