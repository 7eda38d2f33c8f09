"""docs/architecture.md: the files that it names are there, and its floors are those that modules keep."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.test_floors import FLOORS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_files_are_there() -> None:
    named = set(re.findall(r"`(\w+(?:/\w+)+\.py)`", TEXT))
    assert len(named) > 20
    known = (ROOT, ROOT / "src" / "hotdesk")
    assert {name for name in named if not any((folder / name).exists() for folder in known)} == set()


def test_floors_are_those_of_the_modules() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)
    shown = [frozenset(re.findall(r"`(\w+)`", row)) for row in rows]
    for above, below in zip(FLOORS[::-1], FLOORS[-2::-1], strict=False):
        assert max(i for i, row in enumerate(shown) if row & set(above)) < min(
            i for i, row in enumerate(shown) if row & set(below)
        )
