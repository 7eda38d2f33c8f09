"""What ran under the memory checker, by test file: counted always, printed and held to with `--check-memory=all`.

A run is one function that the checker interprets: `@prepare` and `@main` of a program are two. A file in which tests ran and
nothing was checked fails the session, unless it says in `CHECKED_NOWHERE` why there is nothing to check.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pytest

from hotdesk.checker.interpreter import Interpreter

CHECKED_NOWHERE = {
    "tests/e2e/test_bad_models.py": "models are refused before there is a program",
    "tests/e2e/test_import.py": "nothing is compiled: what the import asks for",
    "tests/e2e/test_progress.py": "one layer in a process of its own: what is written to a terminal",
    "tests/e2e/test_steady_calls.py": "models in processes of their own, which count allocations of the machine code",
    "tests/property/test_mangled_input.py": "text with mistakes through hotdesk-opt, which runs nothing",
    "tests/property/test_planning.py": "numbers: no IR",
    "tests/property/test_scheduling.py": "numbers: no IR",
    "tests/property/test_tied_planning.py": "numbers: no IR",
}
"""Test files of `tests/e2e` and `tests/property` of which nothing runs under the checker, and why."""

_HELD_TO = ("tests/e2e/", "tests/property/")
PROPERTY = "functions under the memory checker"
_runs = 0


@dataclass(slots=True)
class _File:
    tests: int = 0
    """How many ran, of whichever outcome."""
    checked: int = 0
    """In how many something ran under the checker."""
    runs: int = 0


def install() -> None:
    """Counts each run of the checker from now on, whoever asks for it."""
    make = Interpreter.__init__

    @functools.wraps(make)
    def counted(self: Interpreter, *args: Any, **kwargs: Any) -> None:
        global _runs
        _runs += 1
        make(self, *args, **kwargs)

    Interpreter.__init__ = counted


def note(item: pytest.Item) -> None:
    """Puts down with a test how often the checker ran since the test before: for it, or for a fixture that it made."""
    global _runs
    item.user_properties.append((PROPERTY, _runs))
    _runs = 0


class Coverage:
    """What `note` put down with tests, by file, from whichever process they ran in."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def read(self, report: pytest.TestReport) -> None:
        """Adds a test that is done."""
        name = report.nodeid.partition("::")[0]
        if report.when != "teardown" or not name.startswith(_HELD_TO):
            return
        file = self._files.setdefault(name, _File())
        runs = sum(value for key, value in report.user_properties if key == PROPERTY and isinstance(value, int))
        file.tests += 1
        file.checked += runs > 0
        file.runs += runs

    def unchecked(self) -> list[str]:
        """Files of which nothing ran under the checker although they do not say why."""
        return [name for name, file in self._files.items() if not file.checked and name not in CHECKED_NOWHERE]

    def lines(self) -> list[str]:
        """A line for each file, and one for each that is not as it should be."""
        counts = {name: f"{f.checked} of {f.tests} tests, {f.runs} runs" for name, f in sorted(self._files.items())}
        found = [
            f"{name}: {text if self._files[name].checked else CHECKED_NOWHERE.get(name, text)}"
            for name, text in counts.items()
        ]
        return [
            *found,
            *(f"ERROR {name}: nothing of it was checked, and {__name__} does not say why" for name in self.unchecked()),
        ]
