"""Runs the tests of tests/filecheck under lit, so that one command checks everything."""

import subprocess
import sys
from pathlib import Path

# lit has a script but no `python -m lit`, and the script may not be on PATH.
LIT = [sys.executable, "-c", "from lit.main import main; main()"]


def test_filecheck():
    directory = Path(__file__).parent / "filecheck"
    command = [*LIT, "-v", "--no-progress-bar", str(directory)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    report = result.stdout + result.stderr
    assert result.returncode == 0, report
    assert "Passed" in report, report
