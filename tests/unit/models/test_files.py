"""Models from a Python file: the example of docs/models.md, and what is wrong with other files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hotdesk.cli import main as hotdesk
from hotdesk.cli import opt as hotdesk_opt
from hotdesk.errors import PassError
from hotdesk.models import model_of
from hotdesk.models.files import load_models

DOCS = Path(__file__).parents[3] / "docs" / "models.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for name, _, text in re.findall(r"^`([\w.]+)`:\n\n```(\w+)\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_example_of_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.search(r"^\$ hotdesk-opt (.*?)\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert hotdesk_opt.main(shlex.split(shown[1])) == 0
    assert capsys.readouterr().out.strip() == shown[2].strip()


def test_the_other_commands_take_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--allow-unregistered-dialect", "--load-models=toy.py"]
    assert hotdesk.main(["explain", "in.mlir", *common]) == 0
    assert "alias: toy.accumulate" in capsys.readouterr().out
    (folder / "memrefs.mlir").write_text("func.func @main() { return }")
    assert hotdesk.main(["check", "memrefs.mlir", *common]) == 0
    assert hotdesk.main(["check", "memrefs.mlir", "--load-models=gone.py"]) == 1
    assert "gone.py: error: models of gone.py" in capsys.readouterr().err


def test_without_the_file_the_op_has_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hotdesk_opt.main(["in.mlir", "--allow-unregistered-dialect", "--hotdesk-one-shot-bufferize"]) == 1
    assert "op `toy.accumulate` has tensors but no model" in capsys.readouterr().err


def test_files_that_register_and_several_of_them(folder: Path) -> None:
    (folder / "a.py").write_text(
        "from dataclasses import dataclass\nfrom hotdesk.models import Facts, OpModel, register\n"
        "@dataclass\nclass Own:\n    name: 'str'\n"
        "register(Own('own.a').name, OpModel(lambda op: Facts()))\n"
    )
    (folder / "b.py").write_text(
        "from hotdesk.models import Facts, OpModel\nMODELS = {'own.b': OpModel(lambda op: Facts())}\n"
    )
    (folder / "c.mlir").write_text('func.func @main() {\n  "own.a"() : () -> ()\n  return\n}\n')
    flags = ["--load-models", "a.py", "--load-models", "b.py", "--allow-unregistered-dialect", "-o", "out.mlir"]
    assert hotdesk_opt.main(["c.mlir", *flags]) == 0
    assert model_of("own.a") is not None
    assert model_of("own.b") is not None


@pytest.mark.parametrize(
    ("text", "place", "got"),
    [
        ("import os\n\ndef f():\n    raise ValueError('x')\nf()\n", "bad.py:4", "got ValueError: x"),
        ("import json\njson.loads('{')\n", "bad.py:2", "got JSONDecodeError"),
        ("a = 1\nb = (\n", "bad.py:2", "was never closed"),
        ("raise SystemExit(3)\n", "bad.py:1", "got SystemExit: 3"),
        ("MODELS = {'own.a': 3}\n", "bad.py", "got int by 'own.a' in MODELS"),
        ("MODELS = 3\n", "bad.py", "got MODELS = 3"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(
    text: str, place: str, got: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(text)
    with pytest.raises(PassError) as caught:
        load_models("bad.py")
    assert caught.value.where == place
    assert got in str(caught.value)
