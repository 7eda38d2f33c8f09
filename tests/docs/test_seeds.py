"""docs/seeds.md: every command runs and prints what the page shows below it; every file of its folder is on it, as it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from hotdesk.passes.bufferize import decompositions

FOLDER = Path(__file__).parents[2] / "docs" / "seeds"


def _loaded() -> Any:
    spec = importlib.util.spec_from_file_location("seeds", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = _loaded()
TEXT: str = GENERATOR.PAGE.read_text(encoding="utf-8")
COMMANDS = tuple(GENERATOR.commands(TEXT))
INPUTS = sorted(path.name for path in FOLDER.glob("*.*") if path.name != "generate.py")


@pytest.fixture(autouse=True)
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command registers, the next one does not know."""
    decompositions.decompositions()
    monkeypatch.setattr(decompositions, "_DECOMPOSITIONS", dict(decompositions._DECOMPOSITIONS))


def below(line: str) -> str:
    """The blocks of code that the page has below a line, up to the words behind them."""
    assert TEXT.count(f"\n{line}\n") == 1
    lines = TEXT.partition(f"\n{line}\n")[2].splitlines()
    return "\n".join(lines[: GENERATOR.behind_blocks(lines, 0)])


def made(line: str) -> str:
    return "\n".join(part for block in GENERATOR.blocks(line) for part in ("", *block))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.replace("docs/seeds/", ""))
def test_a_command_prints_what_the_page_shows(command: str) -> None:
    assert below(f"`{command}`") == made(f"`{command}`"), "`make pages`"


@pytest.mark.parametrize("name", INPUTS)
def test_a_file_is_on_the_page(name: str) -> None:
    line = f"[{name}](seeds/{name})"
    assert below(line) == made(line), "`make pages`"
    assert any(f"docs/seeds/{name}" in command for command in COMMANDS), "no command has it"


def test_nothing_is_shown_that_is_not_made_by_a_command() -> None:
    """Each block of code stands below a file or a command of the page, and no command is written where none is run."""
    lines, at = TEXT.splitlines(), 0
    while at < len(lines):
        is_made = GENERATOR.is_file_or_command(lines[at])
        if not is_made:
            assert not lines[at].startswith("```"), f"line {at + 1}: a block of code that nothing makes"
            assert not re.search(r"`(?:hotdesk|hotdesk-opt|python|\$) ", lines[at]), (
                f"line {at + 1}: a command that is not run"
            )
        at = GENERATOR.behind_blocks(lines, at + 1) if is_made else at + 1
    assert len(COMMANDS) == len(set(COMMANDS)) > 50


def test_links_lead_somewhere() -> None:
    words = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    headings = {
        re.sub(r"[^\w-]", "", line.lower().replace(" ", "-")) for line in re.findall(r"^#+ (.*)$", words, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]*)\)", words):
        assert target[1:] in headings if target.startswith("#") else (FOLDER.parent / target).exists(), target


def test_what_is_no_longer_so_is_written_anew() -> None:
    command = COMMANDS[0]
    line = f"`{command}`"
    page = f"Before.\n\n{line}\n\n```mlir\nold\n```\n\n```\nolder\n```\n\nBehind.\n"
    assert GENERATOR.refreshed(page) == f"Before.\n\n{line}\n{made(line)}\n\nBehind.\n"
