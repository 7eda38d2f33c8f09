"""Diagnostics: places from locations, and their print."""

from __future__ import annotations

import pytest

from hotdesk.cli.diagnostics import Diagnostic, FilePosition, Input
from hotdesk.cli.files import Chunk, chunks
from hotdesk.errors import LoweringError

SOURCE = Input.of("in.mlir", "first\n\t second")


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('loc("-":2:3)', "in.mlir:2:3"),
        ('loc("model.py":7:1)', "model.py:7:1"),
        ('loc("name"("-":2:3))', "in.mlir:2:3"),
        ('loc(callsite("a.py":1:2 at "b.py":3:4))', "a.py:1:2"),
        ("loc(unknown)", "in.mlir"),
        ('loc("-":0:0)', "in.mlir"),
    ],
)
def test_places_of_locations(location: str, place: str) -> None:
    assert str(SOURCE.place(location)) == place


def test_the_line_and_a_caret_stand_below() -> None:
    note = Diagnostic("note", FilePosition("in.mlir", 1, 1), "there")
    same = Diagnostic("note", FilePosition("in.mlir", 2, 3), "here")
    found = Diagnostic("error", FilePosition("in.mlir", 2, 3), "bad", (same, note))
    assert SOURCE.show(found).split("\n") == [
        "in.mlir:2:3: error: bad",
        "\t second",
        "\t ^",
        "in.mlir:2:3: note: here",
        "in.mlir:1:1: note: there",
        "first",
        "^",
    ]


@pytest.mark.parametrize(
    "place", [FilePosition("other.py", 2, 3), FilePosition("in.mlir", 9, 1), FilePosition("in.mlir")]
)
def test_text_that_is_not_at_hand(place: FilePosition) -> None:
    assert SOURCE.show(Diagnostic("error", place, "bad")) == f"{place}: error: bad"


def test_errors_say_their_place_first() -> None:
    found = SOURCE.of_error(LoweringError("op `x`", got="y", where="-:2", hint="Try z."))
    assert (str(found.place), found.message) == ("in.mlir:2:3", "op `x`: got y. Try z. [HD303]")
    assert str(SOURCE.of_error(LoweringError("op", where="model.py:4")).place) == "model.py:4"
    assert str(SOURCE.of_error(LoweringError("op")).place) == "in.mlir"


def test_parts_of_an_input() -> None:
    text = "a\n// -----\nb\nc\n// ----- more\n"
    assert list(chunks(text, "// -----")) == [Chunk("a", 0), Chunk("b\nc", 2), Chunk("", 5)]
    assert list(chunks(text, None)) == [Chunk(text)]
    assert Chunk("b", 2).padded == "\n\nb"
