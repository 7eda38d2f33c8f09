"""The numbered conditions of a docstring, as decisions quote them: in the words of the page that is made of it."""

from __future__ import annotations

import re

_ITEM = re.compile(r"^(\d+)\. (.*(?:\n {3}.*)*)", re.MULTILINE)


def condition(text: str | None, number: int) -> str:
    """A numbered condition of a docstring in quotes; by its number where Python was told to keep no docstrings."""
    for found in _ITEM.finditer(text or ""):
        if int(found[1]) == number:
            words = " ".join(found[2].split())
            return f'"{re.sub(r" ?[(]`[^)]*`[)]", "", words).rstrip(";.")}"'
    return f"condition {number}"


def conditions_with(text: str, code: str) -> list[tuple[int, str]]:
    """The numbers of the conditions of a docstring that name a reason code behind their words, each with the docstring."""
    named = re.compile(rf"[(](?:`[^`]*`,\s+)*`{re.escape(code)}`(?:,\s+`[^`]*`)*[)]")
    return [(int(found[1]), text) for found in _ITEM.finditer(text) if named.search(found[2])]
