"""Python processes that work for this one: what they see of it, and when they end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hotdesk.python import child_process
from hotdesk.python.child_process import start_python


def test_it_has_our_path_and_none_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    # The first is an interactive Python's, and not every entry is text.
    monkeypatch.setattr(sys, "path", ["", *sys.path, tmp_path / "other"])
    child = start_python("import json; print(json.dumps(sys.path))", text=True)
    told, _ = child.communicate()
    assert child.returncode == 0
    assert f'"{tmp_path}/other"' in told
    assert f'"{tmp_path}"' not in told


@pytest.mark.parametrize(
    ("executable", "told"), [(None, "no Python"), ("", "no Python"), ("/nowhere/python", "No such file")]
)
def test_where_there_is_no_python(executable: str | None, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(OSError, match=told):
        start_python("pass")


def test_an_application_that_python_is_built_into_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(OSError, match="no Python"):
        start_python("pass")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no alarms")
def test_it_ends_if_nobody_asks() -> None:
    code = "import hotdesk.python.child_process as c; c._IDLE = 1; c.ends_unless_asked(True); sys.stdin.read()"
    child = start_python(code, stderr=subprocess.DEVNULL)
    assert child.wait() < 0
    code = (
        "import hotdesk.python.child_process as c; c._IDLE = 1; c.ends_unless_asked(True); c.ends_unless_asked(False)"
    )
    child = start_python(f"{code}; import time; time.sleep(2)")
    assert child.wait() == 0
    assert child_process._IDLE > 1  # pyright: ignore[reportPrivateUsage]
