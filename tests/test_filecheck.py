"""Runs the tests of tests/filecheck, one test for each file: their RUN lines in this process, and some under lit as well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.run_lines import failure

DIRECTORY = Path(__file__).parent / "filecheck"
FILES = sorted(path.relative_to(DIRECTORY).as_posix() for path in DIRECTORY.rglob("*.mlir"))
SOME = ("cli/remarks.mlir", "cli/split-input-file.mlir")
"""Files that write files and have commands that fail."""
# lit has a script but no `python -m lit`, and the script may not be on PATH.
LIT = [sys.executable, "-c", "from lit.main import main; main()"]


@pytest.mark.parametrize("file", FILES)
def test_file(file: str, tmp_path: Path) -> None:
    told = failure(DIRECTORY / file, tmp_path / "t")
    assert told is None, told


@pytest.mark.parametrize("files", [SOME, pytest.param(FILES, marks=pytest.mark.slow)], ids=["some", "all"])
def test_lit_has_nothing_against_them(files: list[str], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    paths = [str(DIRECTORY / file) for file in files]
    run = subprocess.run([*LIT, "-v", "-o", str(report), *paths], capture_output=True, text=True, check=False)
    assert report.exists(), run.stdout + run.stderr
    outcomes = {each["name"]: each for each in json.loads(report.read_text())["tests"]}
    assert len(outcomes) == len(files)
    assert [each["output"] for each in outcomes.values() if each["code"] != "PASS"] == []


PROGRAM = "func.func @f() {\n  return\n}\n"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("// RUN: %hotdesk-opt %s --cse | FileCheck %s\n// CHECK: @g", "@g"),
        ("// RUN: %hotdesk-opt %s | FileCheck %s\n// CHECK: @f\n// CHECK-NOT: return", "return"),
        ("// RUN: %hotdesk-opt %s | FileCheck %s --check-prefix=OTHER\n// CHECK: @f", "OTHER"),
        ("// RUN: %hotdesk-opt %s\n// RUN: %hotdesk-opt %s --no-such-pass", "exit code"),
        ("// RUN: %hotdesk-opt %s --no-such-pass | FileCheck %s --allow-empty\n// CHECK-NOT: @f", "exit code"),
        ("// RUN: not %hotdesk-opt %s", "exit code 1"),
        (
            "// RUN: %hotdesk-opt \\\n// RUN: %s --cse >%t.out\n// RUN: FileCheck %s --input-file=%t.out\n// CHECK: @g",
            "@g",
        ),
        ("// CHECK: @f", "no RUN line"),
    ],
)
def test_what_fails_is_told(lines: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "test.mlir"
    file.write_text(f"{lines}\n{PROGRAM}")
    assert told in (failure(file, tmp_path / "t") or "")
