"""What ran under the memory checker is counted by file, and a file of which nothing did has to say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory_coverage import CHECKED_NOWHERE, PROPERTY, Coverage

ROOT = Path(__file__).parents[1]


def _done(name: str, runs: int, when: str = "teardown") -> pytest.TestReport:
    properties: list[tuple[str, object]] = [("of another", 9), (PROPERTY, runs)]
    return pytest.TestReport(name, ("", 0, ""), {}, "passed", None, when, user_properties=properties)  # pyright: ignore[reportArgumentType]


def test_files() -> None:
    coverage = Coverage()
    for name, runs in (
        ("e2e/test_a.py::b", 2),
        ("e2e/test_a.py::c", 0),
        ("property/test_d.py::e", 0),
        ("unit/f.py::g", 0),
    ):
        coverage.read(_done(f"tests/{name}", runs, "call"))
        coverage.read(_done(f"tests/{name}", runs))
    assert coverage.unchecked() == ["tests/property/test_d.py"]
    assert coverage.lines() == [
        "tests/e2e/test_a.py: 1 of 2 tests, 2 runs",
        "tests/property/test_d.py: 0 of 1 tests, 0 runs",
        "ERROR tests/property/test_d.py: nothing of it was checked, and tests.memory_coverage does not say why",
    ]


@pytest.mark.parametrize("name", CHECKED_NOWHERE)
def test_files_that_say_why(name: str) -> None:
    assert (ROOT / name).is_file()
    coverage = Coverage()
    coverage.read(_done(f"{name}::test", 0))
    assert coverage.unchecked() == []
    assert coverage.lines() == [f"{name}: {CHECKED_NOWHERE[name]}"]
