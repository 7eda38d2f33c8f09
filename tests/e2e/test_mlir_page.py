"""docs/mlir.md, docs/onnx.md and docs/control-flow.md: their programs run, in order, and print what the pages show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hotdesk.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["mlir", "onnx", "control-flow"])
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for name, program in re.findall(r"^`(\w+.mlir)`:\n\n```mlir\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(program, encoding="utf-8")
    names: dict[str, object] = {}
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```text") > 0
    for language, code, shown in blocks:
        if language == "python":
            exec(code, names)
        else:
            command = shlex.split(code)
            assert command[0] == "hotdesk"
            assert main(command[1:]) == 0
        assert capsys.readouterr().out == shown
