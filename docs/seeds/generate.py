"""Runs every command of docs/seeds.md and writes below it what it prints now: `make pages`.

The words of the page are written by hand. A line that is a link to a file of this folder is followed by its text, a line that is
a command by what the command writes to stdout and to stderr; the blocks of code below such a line are replaced.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

from hotdesk.cli.opt import main as hotdesk_opt

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "seeds.md"
_COMMAND = re.compile(r"^`((?:hotdesk-opt|python) docs/seeds/.*)`$")
_FILE = re.compile(r"^\[(\S+)\]\((seeds/\S+)\)$")
_FENCE = "```"


def main() -> None:
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def refreshed(text: str) -> str:
    """The page with the output of its commands as it is now."""
    lines = text.splitlines()
    found, at = [], 0
    while at < len(lines):
        found.append(lines[at])
        made = blocks(lines[at])
        at += 1
        if made:
            at = behind_blocks(lines, at)
            found += [part for block in made for part in ("", *block)]
    return "\n".join(found) + "\n"


def blocks(line: str) -> list[list[str]]:
    """The blocks of code that stand below a line; none below a line of words."""
    if file := _FILE.match(line):
        return [_fenced((PAGE.parent / file[2]).read_text(encoding="utf-8"), Path(file[2]).suffix)]
    if command := _COMMAND.match(line):
        kind = ".mlir" if command[1].startswith("hotdesk-opt") else ""
        out, said = run(command[1])
        return [_fenced(out, kind)] * bool(out) + [_fenced(said, "")] * bool(said)
    return []


def is_file_or_command(line: str) -> bool:
    """Whether blocks of code stand below a line."""
    return bool(_FILE.match(line) or _COMMAND.match(line))


def commands(text: str) -> Iterator[str]:
    """The commands of the page, as a user types them from the checkout."""
    return (found[1] for line in text.splitlines() if (found := _COMMAND.match(line)))


def run(command: str) -> tuple[str, str]:
    """What a command writes to stdout and to stderr, run from the checkout."""
    program, *words = shlex.split(command)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if program == "python":
            runpy.run_path(words[0], run_name="__main__")
        else:
            hotdesk_opt(words)
    return _trimmed(out.getvalue()), _trimmed(err.getvalue())


def behind_blocks(lines: list[str], at: int) -> int:
    """Where the blocks of code that begin at a line have ended."""
    while lines[at : at + 1] == [""] and at + 1 < len(lines) and lines[at + 1].startswith(_FENCE):
        at = lines.index(_FENCE, at + 2) + 1
    return at


def _fenced(text: str, suffix: str) -> list[str]:
    kind = {".mlir": "mlir", ".py": "python"}.get(suffix, "")
    return [f"{_FENCE}{kind}", *text.rstrip("\n").splitlines(), _FENCE]


def _trimmed(text: str) -> str:
    return re.sub(r" +$", "", text, flags=re.MULTILINE).strip("\n")


if __name__ == "__main__":
    main()
