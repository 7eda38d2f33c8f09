"""Code that README and the pages of docs show: each block of Python is Python, each command line one that its verb takes.

Blocks with what they print behind them run besides, in tests/e2e/test_pages.py.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from hotdesk.cli.main import VERBS
from hotdesk.cli.trace import parser as trace_parser

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^(?:\$ )?(hotdesk (?!VERB).*)$", re.MULTILINE)


def _blocks(*languages: str) -> list[Any]:
    return [
        pytest.param(code, id=f"{page.relative_to(ROOT).as_posix()}-{number}")
        for page in PAGES
        for number, (language, code) in enumerate(_FENCED.findall(page.read_text(encoding="utf-8")))
        if language in languages
    ]


def _commands() -> list[Any]:
    found = [(block.id, line) for block in _blocks("sh", "") for line in _COMMAND.findall(str(block.values[0]))]
    return [pytest.param(line, id=f"{name}-{line}") for name, line in found]


@pytest.mark.parametrize("code", _blocks("python"))
def test_python(code: str) -> None:
    assert compile(code, "block.py", "exec").co_code


@pytest.mark.parametrize("line", _commands())
def test_command(line: str) -> None:
    program, verb, *arguments = shlex.split(line, comments=True)
    arguments = arguments[: next((i for i, word in enumerate(arguments) if word in ("|", ">", "&&")), len(arguments))]
    assert program == "hotdesk"
    assert verb in VERBS
    parser = VERBS[verb].parser()
    if (verb, arguments[:1]) == ("plan", ["trace"]):
        parser, arguments = trace_parser(), arguments[1:]
    assert parser.parse_args(arguments)


def test_there_are_many() -> None:
    """The patterns find what is there."""
    assert len(_blocks("python")) > 60
    assert len(_commands()) > 25
