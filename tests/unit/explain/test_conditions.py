"""Conditions are told in the words of the page, which are those of the docstring."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hotdesk.analysis.copying import source_reuse, target_reuse
from hotdesk.explain import Reason
from hotdesk.explain.conditions import condition
from hotdesk.passes.manual import docstring, failed_condition
from hotdesk.passes.registry import BUILT_IN, load
from hotdesk.passes.textual import parse_pipeline
from tests.unit.parsing import parse

TEXT = """What. It does iff

1. the first holds, and
   the second (`analysis.of.it`);
2. another one.
"""
AGAINST = {*list(Reason)[list(Reason).index(Reason.NO_ORDER_BELOW) :]} - {Reason.WORKSPACE}
"""The reasons against reuse: something that a pass asks for is not so."""
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
    cited = re.findall(r'(\d+) "([^"]*)" of (\S+) (?:held|did)', kept.hint)
    assert [module for _, _, module in cited] == ["analysis.copying.source_reuse", "analysis.copying.target_reuse"]
    for number, words, module in cited:
        conditions = page.partition(f"## Conditions of {module} ")[2].partition("## ")[0]
        assert f" {number}. {words[:40]}" in conditions


@pytest.mark.parametrize("name", [name for name in BUILT_IN if load(name)().expanded() == (load(name)(),)])
def test_every_refusal_has_a_condition_in_the_words_of_the_page(name: str) -> None:
    for reason in (reason for reason in load(name).reasons if reason in AGAINST):
        told = failed_condition(name, reason.value)
        cited = re.findall(r'(\d+) "(.*?)"(?= or \d| of docs)', told)
        assert cited, f"no condition of {name} names `{reason}`"
        assert told.endswith(f" of docs/passes/{name}.md")
        for number, said in cited:
            assert f" {number}. {said[:40]}" in _words(name)


@pytest.mark.parametrize("name", ["hotdesk-erase-dead", "hotdesk-reshapes-as-views"])
def test_passes_that_report_nothing_number_their_conditions_too(name: str) -> None:
    told = [condition(docstring(load(name).__module__), number) for number in (1, 2, 3, 4)]
    assert all(each.startswith('"') for each in told[:3])
    assert told[3] == "condition 4"


def _words(name: str) -> str:
    """The page of a pass without links, reason codes and line breaks."""
    page = PAGE.with_name(f"{name}.md").read_text(encoding="utf-8")
    linked = " ".join(re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", page).split())
    return re.sub(r" ?[(]`[^)]*`[)]", "", linked)


def test_conditions_are_those_under_the_heading_that_the_pass_refers_to() -> None:
    above = failed_condition("hotdesk-buffer-hoisting", "kept-by-unknown")
    around = failed_condition("hotdesk-buffer-loop-hoisting", "kept-by-unknown")
    assert above.startswith('condition 3 "nobody frees it')
    assert around.startswith('condition 4 "no op keeps a pointer to it"')


def test_a_code_may_be_that_of_two_conditions() -> None:
    assert re.match(
        r'condition 2 "the consumer .*" or 3 "whatever ', failed_condition("hotdesk-fuse-buffers", "may-overlap")
    )


@pytest.mark.parametrize("name", ["canonicalize", "hotdesk-no-such-pass", "hotdesk-share-buffers"])
def test_what_nobody_asked_for_has_no_condition(name: str) -> None:
    assert failed_condition(name, "dies-here") == ""
