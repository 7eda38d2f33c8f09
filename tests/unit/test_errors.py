"""Every error has one code, one page that explains it, and one form of message."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from hotdesk import errors
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


def test_messages_in_the_pages_end_with_their_code() -> None:
    for page in PAGES.glob("*.md"):
        for message in re.findall(r"```text\n(.*?)\n```", page.read_text(), re.DOTALL):
            assert message.endswith(f"[{page.stem}]"), page.name


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
