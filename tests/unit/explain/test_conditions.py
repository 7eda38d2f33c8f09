"""Conditions are told in the words of the page, which are those of the docstring."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hotdesk.analysis.copying import source_reuse, target_reuse
from hotdesk.explain.conditions import condition
from hotdesk.passes.textual import parse_pipeline
from tests.unit.parsing import parse

TEXT = """What. It does iff

1. the first holds, and
   the second (`analysis.of.it`);
2. another one.
"""
PAGE = Path(__file__).parents[3] / "docs" / "passes" / "hotdesk-copy-removal.md"


def test_one_of_several_lines_and_the_last() -> None:
    assert condition(TEXT, 1) == '"the first holds, and the second"'
    assert condition(TEXT, 2) == '"another one"'


@pytest.mark.parametrize("text", [None, TEXT])
def test_what_no_docstring_has(text: str | None) -> None:
    assert condition(text, 7) == "condition 7"


@pytest.mark.parametrize("module", [source_reuse, target_reuse])
def test_every_condition_of_a_copy_has_words(module: object) -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", module.__doc__ or "", re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(condition(module.__doc__, number).startswith('"') for number in numbers)


def test_a_copy_that_stays_is_told_by_conditions_of_the_page() -> None:
    module = parse(
        "func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {\n"
        "  memref.copy %x, %y : memref<4xf32> to memref<4xf32>\n  return\n}"
    )
    (kept,) = parse_pipeline("builtin.module(hotdesk-copy-removal)").run(module)
    assert "docs/passes/hotdesk-copy-removal.md" in kept.hint
    page = " ".join(re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", PAGE.read_text()).split())
    quoted = re.findall(r'"([^"]*)"', kept.hint)
    assert len(quoted) == 2
    for words in quoted:
        assert words.split(" (")[0][:40] in page
        assert not re.search(r"constraint \d|condition \d", kept.hint)
