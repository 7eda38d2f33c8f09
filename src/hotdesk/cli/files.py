"""What is read and what is written: text or MLIR's bytecode, of files or of the standard streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

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
