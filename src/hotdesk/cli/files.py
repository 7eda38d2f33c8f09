"""Input and output: text or MLIR's bytecode, of files or the standard streams, and inputs in parts, each its own module."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

MARKER = "// -----"
_MAGIC = b"ML\xefR"


def read(file: str) -> str | bytes:
    """The text of a file, or of standard input for `-`; bytes if it is bytecode.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is neither bytecode nor text in UTF-8.
    """
    if file != "-":
        content = Path(file).read_bytes()
    elif (stream := getattr(sys.stdin, "buffer", None)) is not None:
        content = stream.read()
    else:
        return sys.stdin.read()
    return content if content.startswith(_MAGIC) else io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()


def write(output: TextIO, content: str | bytes) -> None:
    """Writes text, or bytes, to a stream that takes text."""
    output.flush()
    if isinstance(content, bytes):
        output.buffer.write(content)
    else:
        output.write(content)
    output.flush()


def fill(file: str, make: Callable[[TextIO], int]) -> int:
    """Gives a file, or standard output for `-`, what `make` writes, and returns what `make` does.

    A file that cannot be written is an error before `make` is called. If that does not return 0, the file stays as it was.

    Raises:
        OSError: it cannot be written.
    """
    if file == "-":
        return make(sys.stdout)
    path = Path(file)
    is_new, done = not path.exists(), False
    with path.open("ab") as target, io.TextIOWrapper(io.BytesIO(), encoding="utf-8") as found:
        try:
            code = make(found)
            done = code == 0
        finally:
            if is_new and not done:
                path.unlink()
        if done:
            found.flush()
            if path.is_file():
                target.truncate(0)
            target.write(found.buffer.getvalue())
    return code


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
