"""Runs the tests of tests/filecheck under lit: one lit for all files that were asked for, one test for each file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

DIRECTORY = Path(__file__).parent / "filecheck"
FILES = sorted(path.relative_to(DIRECTORY).as_posix() for path in DIRECTORY.rglob("*.mlir"))
# lit has a script but no `python -m lit`, and the script may not be on PATH.
LIT = [sys.executable, "-c", "from lit.main import main; main()"]


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What lit says of each of this session's files: its `code`, and its `output` if it failed."""
    items = cast("list[Any]", request.session.items)
    wanted = [str(item.callspec.params["file"]) for item in items if _is_of_a_file(item)]
    report = tmp_path_factory.mktemp("lit") / "report.json"
    paths = [str(DIRECTORY / file) for file in wanted]
    run = subprocess.run([*LIT, "-v", "-o", str(report), *paths], capture_output=True, text=True, check=False)
    assert report.exists(), run.stdout + run.stderr
    return {each["name"].removeprefix("hotdesk :: "): each for each in json.loads(report.read_text())["tests"]}


def _is_of_a_file(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and item.originalname == test_file.__name__


@pytest.mark.parametrize("file", FILES)
def test_file(file: str, outcomes: dict[str, dict[str, Any]]) -> None:
    outcome = outcomes[file]
    assert outcome["code"] == "PASS", outcome["output"]
