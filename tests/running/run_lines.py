"""RUN lines of lit's tests in this process, which has imported what `hotdesk-opt` and FileCheck need.

lit starts a process for each command, which takes longer than the command. What the lines of `tests/filecheck` use of a shell is
known here, and nothing else: quotes, a pipe, `2>&1`, `>file`, `2>file`, lines that go on after `\\`, lit's `%s`, `%S`, `%t` and
`not`.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options

from hotdesk.cli import opt
from tests.running import rewrite_stablehlo

_RUN = re.compile(r"^// RUN: *(.*)$", re.MULTILINE)
_TO_FILE = re.compile(r"(2?)>([^&].*)")
_PROGRAMS = {"%hotdesk-opt": opt.main, "%rewrite-stablehlo": rewrite_stablehlo.main}


def failure(path: Path, scratch: Path) -> str | None:
    """What is wrong with the first RUN line of a file that fails; None if all are as they should be. `scratch` is the `%t` of a
    file: what lines write begins with its name."""
    lines = list(_lines(path.read_text(encoding="utf-8")))
    if not lines:
        return f"{path}: no RUN line"
    for line in lines:
        told = _run(shlex.split(_substituted(line, path, scratch)))
        if told is not None:
            return f"RUN: {line}\n{told}"
    return None


def _lines(text: str) -> Iterator[str]:
    """The commands of a file; one may go over several lines."""
    begun = ""
    for line in _RUN.findall(text):
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
        else:
            yield begun
            begun = ""


def _substituted(line: str, path: Path, scratch: Path) -> str:
    """A command with the names of files that lit puts in."""
    for mark, name in (("%s", path), ("%S", path.parent), ("%t", scratch)):
        line = line.replace(mark, str(name))
    return line


def _run(words: Sequence[str]) -> str | None:
    """What a command that fails said: as with lit, the last one of a pipe and all in front of it have to succeed."""
    said, told = "", ""
    for command in _between(words, "|"):
        code, said, complaints = _command(command, said)
        told += complaints
        if code:
            return f"{shlex.join(command)}: exit code {code}\n{said}{told}"
    return None


def _between(words: Sequence[str], mark: str) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == mark:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _command(words: Sequence[str], given: str) -> tuple[int, str, str]:
    """The exit code of one command, and what it says on standard output and on standard error, unless a file got that."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    streams, files, arguments = {"": out, "2": errors}, dict[str, str](), list[str]()
    for word in words:
        to_file = _TO_FILE.fullmatch(word)
        if word == "2>&1":
            streams["2"] = streams[""]
        elif to_file is not None:
            streams[to_file[1]] = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            files[to_file[1]] = to_file[2]
        else:
            arguments.append(word)
    with redirect_stdout(streams[""]), redirect_stderr(streams["2"]), patch("sys.stdin", io.StringIO(given)):
        code = _program(arguments)
    for stream, name in files.items():
        Path(name).write_bytes(_written(streams[stream]))
    return code, _written(out).decode(), _written(errors).decode()


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def _program(words: Sequence[str]) -> int:
    name, *arguments = words
    if name == "not":
        return int(not _program(arguments))
    if name == "FileCheck":
        return Matcher.from_opts(parse_argv_options([name, *arguments])).run()
    assert name in _PROGRAMS, f"{name} is none of the programs of RUN lines"
    try:
        return _PROGRAMS[name](arguments)
    except SystemExit as left:  # of a command line that makes no sense
        return int(left.code or 0)
