"""docs/mlir.md: its programs run, in order, and print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hotdesk.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "mlir.md"


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "scale.mlir").write_text(
        re.findall(r"^`scale.mlir`:\n\n```mlir\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[0]
    )
    names: dict[str, object] = {}
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```text")
    for language, code, shown in blocks:
        if language == "python":
            exec(code, names)
        else:
            command = shlex.split(code)
            assert command[0] == "hotdesk"
            assert main(command[1:]) == 0
        assert capsys.readouterr().out == shown
