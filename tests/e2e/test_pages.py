"""The pages of docs and docs/tutorials: their programs and commands run, in order, and print what the pages show behind them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import hotdesk
from examples.models import MODELS
from hotdesk.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
_LINES = r"((?:(?!```).*\n)*)```"
FILE = re.compile(rf"^`([\w.]+)`.*:\n\n```\w+\n{_LINES}$", re.MULTILINE)
BLOCK = re.compile(rf"^```(python|sh)\n{_LINES}\n\n```text\n{_LINES}$", re.MULTILINE)
ELSEWHERE = {"torch-compile.md", "traces.md"}  # tests/e2e/test_dynamo.py and tests/unit/traces run what these show
PAGES = [
    page
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")])
    if page.name not in ELSEWHERE and "```text" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = page.read_text(encoding="utf-8")
    for name, contents in FILE.findall(text):
        (tmp_path / name).write_text(contents, encoding="utf-8")
    names: dict[str, object] = {}
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```text")
    for language, code, shown in blocks:
        if language == "python":
            exec(compile(code, f"{page.stem}.py", "exec"), names)
        else:
            command = shlex.split(code)
            assert command[0] == "hotdesk"
            assert main(command[1:]) == 0
        assert capsys.readouterr().out.replace(f"{tmp_path}/", "") == shown


@pytest.mark.slow
def test_the_report_in_the_readme() -> None:
    shown = re.findall(
        r"^```text\n(main\npeak .*?)^```", (DOCS.parent / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    spec = MODELS["resnet50"]
    report = hotdesk.compile(spec.build(), spec.inputs()).report()
    assert [f"{report}\n".startswith(block) for block in shown] == [True]
