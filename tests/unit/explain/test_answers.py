"""Decisions in sentences, with the lines they rest on."""

from __future__ import annotations

import pytest

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.explain.answers import Spot, concerns, excerpt, sentence, touches

LINES = (
    "func.func @main(%x: tensor<8xf32>) {",
    "  %v = tensor.extract_slice %x[0] [4] [1]",
    "\t%1 = tensor.insert %c into %x[%n]",
    "",
    "  %2 = linalg.exp ins(%v) outs(%e)",
)
COPIED = Decision(
    "result of tensor.insert",
    Outcome.COPIED,
    Reason.READ_LATER,
    (Source("tensor.insert", "in.mlir:3:7"), Source("linalg.exp", "in.mlir:5:8")),
    32,
    read=Source("linalg.exp", "in.mlir:5:8"),
    write=Source("tensor.insert", "in.mlir:3:7"),
    definition=Source("argument 0", "in.mlir:1:17"),
    path=(Source("tensor.extract_slice", "in.mlir:2:8"), Source("argument 0", "in.mlir:1:17")),
    hint="Move it.",
)


def test_a_conflict_in_three_sentences() -> None:
    assert sentence(COPIED).split("\n") == [
        "32 bytes are copied for the result of `tensor.insert`.",
        (
            "The operand's old value is read after this operation: `linalg.exp` (in.mlir:5:8) reads what argument 0 "
            "(in.mlir:1:17) holds, and `tensor.insert` (in.mlir:3:7) would overwrite it. [read-later]"
        ),
        "Move it.",
    ]


@pytest.mark.parametrize(
    ("outcome", "first"),
    [
        (Outcome.ALLOCATED, "The result of `a.b` gets 8 bytes of its own."),
        (Outcome.IN_PLACE, "The result of `a.b` (8 bytes) is written over an operand."),
        (Outcome.LENT, "The result of `a.b` (8 bytes) lies in the caller's memory."),
        (Outcome.IN_PARALLEL, "The result of `a.b`: threads share its iterations, and the peak grows by 8 bytes."),
        (Outcome.IN_SEQUENCE, "The result of `a.b`: its iterations run one after the other."),
        (Outcome.FUSED, "The result of `a.b` (8 bytes): fused."),
    ],
)
def test_other_outcomes(outcome: Outcome, first: str) -> None:
    decision = Decision("result of a.b", outcome, Reason.DIES_HERE, (), 8)
    assert sentence(decision) == f"{first}\nThe operand is not read after this operation. [dies-here]"


def test_the_lines_with_what_they_do() -> None:
    assert excerpt(COPIED, lambda file: LINES if file == "in.mlir" else ()).split("\n") == [
        "  1 | func.func @main(%x: tensor<8xf32>) {",
        "    |                 ^ definition: argument 0",
        "  2 |   %v = tensor.extract_slice %x[0] [4] [1]",
        "    |        ^ alias: tensor.extract_slice",
        "> 3 | \t%1 = tensor.insert %c into %x[%n]",
        "    | \t     ^ write: tensor.insert",
        "  5 |   %2 = linalg.exp ins(%v) outs(%e)",
        "    |        ^ read: linalg.exp",
    ]


def test_lines_of_several_files_and_of_none() -> None:
    decision = Decision(
        "x", Outcome.COPIED, Reason.READ_LATER, (Source("a", "b.py:1"),), read=Source("r", "a.py:2"), write=Source("w")
    )
    files = {"a.py": ["", "y = x + 1"], "b.py": ["x = 1"]}
    assert excerpt(decision, lambda file: files[file]).split("\n") == [
        "  a.py",
        "  2 | y = x + 1",
        "    | ^ read: r",
        "  b.py",
        "> 1 | x = 1",
        "    | ^ decided: a",
    ]
    assert excerpt(decision, lambda file: ()) == ""


@pytest.mark.parametrize(
    ("asked", "about", "part"),
    [
        ("in.mlir:3", True, True),
        ("in.mlir:3:7", True, True),
        ("in.mlir:3:8", False, False),
        ("in.mlir:5", False, True),
        ("in.mlir:2:8", False, True),
        ("other.mlir:3", False, False),
        ("mlir:3", False, False),
    ],
)
def test_what_a_place_has_to_do_with_a_decision(asked: str, about: bool, part: bool) -> None:
    spot = Spot.of(asked)
    assert spot is not None
    assert (concerns(COPIED, spot), touches(COPIED, spot)) == (about, part)


def test_a_file_may_be_named_by_the_end_of_its_path() -> None:
    assert Spot("model.py", 3).holds(Spot("/home/me/model.py", 3, 0))
    assert not Spot("model.py", 3).holds(Spot("/home/me/my_model.py", 3))
    assert Spot.of("C:\\me\\model.py:2") == Spot("C:\\me\\model.py", 2)
    assert Spot.of("model.py") is None
