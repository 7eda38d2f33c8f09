"""The report as one record: what it derives, its JSON, and what is refused."""

from __future__ import annotations

import json

import pytest

from hotdesk.errors import ReportError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.report import BufferLine, Certificate, CertifiedBuffer, Memory
from hotdesk.report.document import Document, Series, document

POINTS = (
    Source("linalg.exp", "model.py:3", "encoder.0"),
    Source("linalg.add", "model.py:4", "encoder.1"),
    Source("end"),
)
LINES = (
    BufferLine("linalg.exp", 64, "model.py:3", 0, 2, "arena", 0, "encoder.0", (4, 4), "f32"),
    BufferLine("linalg.add", 32, "model.py:4", 1, 2, "arena", 64, "encoder.1", (8,), "f32"),
    BufferLine("linalg.add", 16, "model.py:4", 1, 3, "result 0"),
    BufferLine("end", 96, "", 2, 3, "arena", 0),
)
DECISIONS = (
    Decision("result of linalg.exp", Outcome.ALLOCATED, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, POINTS[:1], 64),
    Decision("linalg.exp", Outcome.FREED, Reason.DIES_HERE, POINTS[1:2], 64),
    Decision("copy", Outcome.COPIED, Reason.READ_LATER, (), 8, hint="read it first"),
)
BOUND = Certificate(96, "live", 1, "linalg.add", "model.py:4", (CertifiedBuffer("linalg.exp", 64, 64, "model.py:3"),))
MEMORY = Memory(96, 112, 96, 208, 0, 0, 4, 16, 3, certificate=BOUND)


@pytest.fixture
def made() -> Document:
    return document("main", (("n", 4),), MEMORY, LINES, POINTS, DECISIONS)


def test_bytes_at_each_point(made: Document) -> None:
    assert [point.bytes for point in made.points] == [64, 112, 112]
    assert made.peak_point == 1
    assert [each.name for each in made.at_peak] == ["b0", "b1", "b2"]


def test_places_before_and_after(made: Document) -> None:
    assert [(each.before, each.after) for each in made.buffers] == [((), (3,)), ((), (3,)), ((), ()), ((0, 1), ())]


def test_titles(made: Document) -> None:
    assert [each.title for each in made.buffers] == ["b0 f32[4, 4]", "b1 f32[8]", "b2", "b3"]


def test_decisions_have_their_reason_and_remedy(made: Document) -> None:
    allocated, freed, copied = made.decisions
    assert (allocated.outcome, allocated.reason, allocated.bytes) == ("allocated", "no-dead-operand-of-same-size", 64)
    assert allocated.text == "No operand that dies here has as many bytes as the result."
    assert "budget" in allocated.remedy
    assert (allocated.line, allocated.module) == ("model.py:3", "encoder.0")
    assert freed.remedy == ""
    assert (copied.remedy, copied.line) == ("read it first", "")


def test_json_and_back(made: Document) -> None:
    made = made.with_series([Series("eager", "PyTorch 2", (0.0, 1.0), (0, 80))])
    text = made.to_json()
    assert Document.from_json(text) == made
    assert Document.from_json(text).to_json() == text
    found = json.loads(text)
    assert found["peak"] == {"point": 1, "bytes": 112, "buffers": [0, 1, 2]}
    assert found["series"][0]["peak"] == 80


def test_a_program_without_points() -> None:
    made = document("main", (), Memory(0, 0, 0, 0, 0, 0, 0, 0, 0), (), (), ())
    assert (made.peak_point, made.at_peak) == (0, ())
    assert Document.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("{", "text that is no JSON"),
        ("[]", 'JSON without "format": "hotdesk-report"'),
        ('{"format": "hotdesk-report", "version": 2}', "version 2"),
        ('{"format": "hotdesk-report", "version": 1}', "one that lacks or misspells a field ('name')"),
    ],
)
def test_what_is_no_report(text: str, got: str) -> None:
    with pytest.raises(ReportError, match="old.json: expected a report of version 1") as caught:
        Document.from_json(text, "old.json")
    assert got in str(caught.value)
