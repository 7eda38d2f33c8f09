"""docs/architecture.md: the files that it names are there, and its floors are those that modules keep."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.test_floors import FLOORS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hotdesk"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_OTHERS = ("program.", "search.py", "models.py", "checker.py", "program.py", "ir.Op")
"""Beginnings of what is no module: methods of a `Program`, classes of MLIR's, files with the name of a package."""


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


def test_modules_that_the_source_names_are_there() -> None:
    named = {path: _named(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert sum(map(len, named.values())) > 300
    astray = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path, names in named.items()
        for name in names
        if not _is_there(name, path)
    }
    assert astray == set()


def test_modules_that_are_not_there_are_found() -> None:
    text = "`plans/planner.py`, `planner.py`, `analysis.in_place.search`, `planning.planner.plan` and `planning.all_sizes.x`"
    path = SOURCE / "runtime" / "program.py"
    assert {name for name in _named(text) if not _is_there(name, path)} == {"planner.py", "planning.all_sizes.x"}


def _named(text: str) -> set[str]:
    """The files and modules that a text names, such as `plans/planner.py` and `analysis.in_place.search`."""
    dotted = re.findall(r"`([a-z]\w*(?:\.\w+)+)`", text)
    modules = {name for name in dotted if (SOURCE / name.split(".")[0]).is_dir() and not name.startswith(_OTHERS)}
    return {*re.findall(r"`((?:\w+/)*\w+\.py)`", text), *modules}


def _is_there(name: str, path: Path) -> bool:
    """Whether a file is there, seen from another one, or a module or a name in one."""
    if name.endswith(".py"):
        return any((folder / name).exists() for folder in path.parents if folder.is_relative_to(SOURCE))
    module = SOURCE.joinpath(*name.split("."))
    if module.is_dir() or module.with_suffix(".py").exists():
        return True
    around = (module.parent.with_suffix(".py"), module.parent / "__init__.py")
    return any(file.exists() and module.name in file.read_text(encoding="utf-8") for file in around)
