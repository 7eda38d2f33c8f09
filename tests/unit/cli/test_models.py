"""Models named on the command line: what the user's own code raises, what files have, and folders of several models."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch

from hotdesk.cli.main import main
from hotdesk.cli.models import read_model
from hotdesk.errors import OptionError

FILE = """
import torch

model = torch.nn.Linear(2, 2)
shown = torch.nn.Linear(2, 2)
shown.example_inputs = torch.ones(2)

def network():
    return model, (torch.ones(2),)

def sized(width):
    return model, (torch.ones(width),)

def listed():
    return model, [torch.ones(2)]

def bare():
    return model

def fails():
    raise ValueError("no weights")
"""


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("given.py").write_text(FILE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "given.py:fails",
            "'fails' to return (model, args[, kwargs]) when called without arguments, got ValueError: no w",
        ),
        ("given.py:sized", "got TypeError: sized() missing 1 required positional argument: 'width'."),
        ("given.py", "got no such function. It has shown, network, listed, bare, fails."),
        ("given.py:netwrok", "got no such function. It has network, shown, listed, bare, fails."),
        ("script_only.py", "got no such function. Write one: def build(): return model, (x,)"),
        ("given.py:listed", "got (Linear, list) from 'listed'. args is a tuple, kwargs a dictionary."),
        ("given.py:bare", "got Linear from 'bare'."),
        ("givne.py", "got no such file. There is 'given.py'."),
        ("folder", "got a folder"),
        ("folder.py", "got a folder"),
        ("wieghts.pt2", "got none of that name; there is 'weights.pt2'"),
        ("folder.pt2", "torch.export.save has written, got a folder"),
        (
            "given.py:model",
            "Linear 'model', neither a function nor a module with example_inputs. Set model.example_inputs",
        ),
        ("imports.py:build", "a file that can be imported, got ModuleNotFoundError: No module named 'not_there'"),
        ("broken.py:build", "a file that can be imported, got SyntaxError: invalid syntax (broken.py:1)"),
        ("script.py:build", "got the end of the process (SystemExit: 2). Put what is to run only as a script"),
        ("no_such.pt", "got no such module or file"),
        ("weights.pt2", "a program that torch.export.save has written, got a file that is no archive"),
        ("other.pt2", "a program that torch.export.save has written, got "),
    ],
)
def test_what_goes_wrong_in_code_and_files_of_the_user(text: str, told: str) -> None:
    Path("imports.py").write_text("import not_there")
    Path("broken.py").write_text("def f(:")
    Path("script_only.py").write_text("value = 3")
    for name in ("folder", "folder.py", "folder.pt2"):
        Path(name).mkdir()
    Path("script.py").write_text("import sys\nsys.exit(2)")
    Path("weights.pt2").write_bytes(b"weights")
    with zipfile.ZipFile("other.pt2", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(OptionError) as caught:
        read_model(text)
    assert told in str(caught.value).replace(f"{Path.cwd()}/", "")


def test_the_line_that_raised_it_and_no_word_of_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "given.py:fails"]) == 1
    told = capsys.readouterr().err
    assert f"no weights ({Path.cwd()}/given.py:21). [HD305]" in told
    assert "internal error" not in told


def test_each_model_imports_what_lies_beside_it() -> None:
    for folder, width in (("old", 3), ("new", 5)):
        Path(folder, "parts").mkdir(parents=True)
        Path(folder, "widths.py").write_text(f"WIDTH = {width}")
        Path(folder, "parts", "__init__.py").write_text("from .inner import DEPTH")
        Path(folder, "parts", "inner.py").write_text(f"DEPTH = {width}")
        text = "import torch\nfrom widths import WIDTH\nfrom parts import DEPTH\n"
        Path(folder, "net.py").write_text(f"{text}def build():\n    return torch.nn.Linear(WIDTH, DEPTH), ()\n")
    models = [read_model(f"{folder}/net.py:build").model for folder in ("old", "new", "old")]
    assert [(model.in_features, model.out_features) for model in models] == [(3, 3), (5, 5), (3, 3)]


def test_an_exported_program() -> None:
    torch.export.save(torch.export.export(torch.nn.Linear(2, 3), (torch.ones(4, 2),)), "linear.pt2")
    (given,) = read_model("linear.pt2").args
    assert given.shape == (4, 2)
