"""Every error has one code, one page that explains it, and one form of message."""

from __future__ import annotations

import pickle
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from hotdesk import errors
from hotdesk.cli import main, opt
from hotdesk.errors import HotdeskError, MissingExtraError, ShapeError

PAGES = Path(__file__).parents[2] / "docs" / "errors"


def _family(root: type[HotdeskError]) -> list[type[HotdeskError]]:
    below = [found for child in root.__subclasses__() for found in _family(child)]
    return [root, *(found for found in below if found.__module__ == errors.__name__)]


CLASSES = _family(HotdeskError)


def test_codes_and_slugs_are_unique() -> None:
    assert len({found.code for found in CLASSES}) == len(CLASSES)
    assert len({found.slug for found in CLASSES}) == len(CLASSES)


def test_every_class_is_exported() -> None:
    assert sorted(found.__name__ for found in CLASSES) == sorted(errors.__all__)


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_page_names_its_class(found: type[HotdeskError]) -> None:
    page = (PAGES / f"{found.code}.md").read_text()
    assert page.startswith(f"# {found.code}: {found.__name__}\n")
    assert found.slug in page
    assert re.findall(r"^## (\w+)", page, re.MULTILINE) == ["Meaning", "Example", "Fix"]


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_code_starts_with_the_digit_of_its_group(found: type[HotdeskError]) -> None:
    assert re.fullmatch(r"HD\d{3}", found.code)
    bases = [base for base in found.__bases__ if issubclass(base, HotdeskError) and base is not HotdeskError]
    assert all(base.code[:3] == found.code[:3] for base in bases)


def test_no_page_is_left_over() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {found.code for found in CLASSES}


@dataclass(frozen=True)
class Example:
    """What a page shows: a file, the command that is given it (none: Python runs it), and the message that it ends with.

    The page of a group shows how an error of it is caught: the message is what the file prints.
    """

    language: str
    file: str
    command: tuple[str, ...]
    message: str

    @classmethod
    def of(cls, page: Path) -> Example:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
        (language, file), *command, (text, message) = blocks
        assert text == "text"
        assert [name for name, _ in command] == (["sh"] if language == "mlir" else [])
        return cls(language, file, tuple(word for _, line in command for word in shlex.split(line)), message.strip())


COMMANDS = {"hotdesk-opt": opt.main, "hotdesk": main.main}
GROUPS = [found for found in CLASSES if found is HotdeskError or found.code.endswith("00")]


def test_groups_are_those_with_errors_of_their_own() -> None:
    assert {HotdeskError, *(base for found in CLASSES for base in found.__bases__ if base in GROUPS)} == {*GROUPS}


@pytest.mark.parametrize("found", GROUPS[1:], ids=lambda found: found.__name__)
def test_page_of_a_group_leads_to_the_first_and_the_last(found: type[HotdeskError]) -> None:
    codes = sorted(each.code for each in _family(found)[1:])
    page = (PAGES / f"{found.code}.md").read_text()
    assert {codes[0], codes[-1]} <= set(re.findall(r"\[(HD\d+)\]\(\1\.md\)", page))


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_example_of_the_page_ends_as_it_says(
    found: type[HotdeskError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Example.of(PAGES / f"{found.code}.md")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", torch)  # one example goes without it
    (named,) = re.findall(r"\[(HD\d{3})\]$", example.message)
    assert named in [each.code for each in _family(found)]
    if example.language == "mlir":
        Path("model.mlir").write_text(example.file)
        program, *arguments = example.command
        assert COMMANDS[program](arguments) != 0
        assert example.message in capsys.readouterr().err
        return
    Path("model.py").write_text(example.file)
    code = compile(example.file, "model.py", "exec")
    if found in GROUPS:
        exec(code, {"__name__": "__main__"})
        assert capsys.readouterr().out.strip() == example.message
        return
    with pytest.raises(found) as caught:
        exec(code, {"__name__": "__main__"})
    assert str(caught.value) == example.message


def test_message_in_full() -> None:
    error = ShapeError("argument 'x'", expected="3", got="4", where="op 'aten.add' at model.py:12", hint="Pass 3.")
    assert str(error) == "argument 'x': expected 3, got 4 (op 'aten.add' at model.py:12). Pass 3. [HD205]"
    assert error.page == "docs/errors/HD205.md"
    assert (error.what, error.expected, error.got) == ("argument 'x'", "3", "4")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "It failed. [HD001]"),
        ({"expected": "a"}, "It failed: expected a. [HD001]"),
        ({"got": "b"}, "It failed: got b. [HD001]"),
        ({"where": "m.py:1"}, "It failed (m.py:1). [HD001]"),
        ({"hint": "Try again."}, "It failed. Try again. [HD001]"),
    ],
)
def test_unknown_parts_are_left_out(fields: dict[str, str], message: str) -> None:
    assert str(HotdeskError("It failed.", **fields)) == message


@pytest.mark.parametrize("found", CLASSES, ids=lambda found: found.__name__)
def test_pickles_with_its_fields(found: type[HotdeskError]) -> None:
    error = pickle.loads(pickle.dumps(found("x", expected="a", got="b", where="c", hint="d")))
    assert type(error) is found
    assert (error.what, error.expected, error.got, error.where, error.hint) == ("x", "a", "b", "c", "d")


def test_python_classes_catch_their_kind() -> None:
    assert issubclass(errors.DtypeError, TypeError)
    assert issubclass(errors.ShapeError, ValueError)
    assert issubclass(errors.ExecutionError, RuntimeError)
    with pytest.raises(ImportError, match=re.escape("pip install 'hotdesk[onnx]'")):
        raise MissingExtraError.of("Reading a file", extra="onnx", package="onnx")
