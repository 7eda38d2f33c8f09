"""Decisions and errors as remarks, in one line and as YAML."""

from __future__ import annotations

import re

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.explain.remarks import RemarkFilter, RemarkKind, as_line, as_yaml, failure_of, remark_of

COPIED = Decision(
    "result of linalg.add",
    Outcome.COPIED,
    Reason.READ_LATER,
    (Source("linalg.add", "in.mlir:4"),),
    64,
    read=Source("linalg.exp", "in.mlir:6"),
    definition=Source("linalg.fill", "in.mlir:2"),
    path=(Source("tensor.extract_slice"), Source("linalg.add", "in.mlir:4")),
    hint='Read "x" before.',
)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_kind_and_a_category(outcome: Outcome) -> None:
    made = remark_of(Decision("x", outcome, Reason.DIES_HERE))
    kinds = {
        Outcome.COPIED: RemarkKind.MISSED,
        Outcome.ALLOCATED: RemarkKind.MISSED,
        Outcome.NOT_FUSED: RemarkKind.MISSED,
        Outcome.NOT_PREPARED: RemarkKind.MISSED,
        Outcome.CALLED: RemarkKind.MISSED,
        Outcome.IN_SEQUENCE: RemarkKind.MISSED,
        Outcome.ORDER_KEPT: RemarkKind.ANALYSIS,
    }
    assert made.kind is kinds.get(outcome, RemarkKind.PASSED)
    known = "bufferize share prepare fuse fold deallocate place copy order split recompute parallel lower"
    assert made.category in known.split()
    assert made.name == outcome.name


def test_one_line() -> None:
    made = remark_of(COPIED, function="main")
    assert as_line(made) == (
        "[Missed] COPIED | Category:bufferize | Function=main | Reason=read-later, Bytes=64, "
        'Subject="result of linalg.add", Because="linalg.add at in.mlir:4", Read="linalg.exp at in.mlir:6", '
        'Definition="linalg.fill at in.mlir:2", Path="tensor.extract_slice -> linalg.add at in.mlir:4", '
        'Remark="The operand\'s old value is read after this operation.", Hint="Read \\"x\\" before."'
    )


def test_yaml() -> None:
    made = remark_of(Decision("x", Outcome.FREED, Reason.DIES_HERE, (), 8), pass_name="p", file="a b", line=3, column=5)
    assert as_yaml(made).split("\n") == [
        "--- !Passed",
        'Pass:            "p"',
        "Name:            FREED",
        'DebugLoc:        { File: "a b", Line: 3, Column: 5 }',
        'Function:        ""',
        "Args:",
        '  - Category:        "deallocate"',
        '  - Reason:          "dies-here"',
        "  - Bytes:           8",
        '  - Subject:         "x"',
        '  - Remark:          "The operand is not read after this operation."',
        "...",
        "",
    ]
    assert "DebugLoc" not in as_yaml(remark_of(COPIED))


def test_errors_fail() -> None:
    made = failure_of(BufferizationError("op `x`", got="y", where="-:3"), pass_name="hotdesk-one-shot-bufferize")
    assert as_line(made) == '[Failed] BUFFERIZATION | Category:bufferize | Error=HD302, Remark="op `x`: got y. [HD302]"'


def test_filters_name_categories() -> None:
    made = remark_of(COPIED)
    assert not RemarkFilter().accepts(made)
    assert RemarkFilter(re.compile("buf.*")).accepts(made)
    assert not RemarkFilter(re.compile("share")).accepts(made)
    assert RemarkFilter(missed=re.compile("bufferize")).accepts(made)
    assert not RemarkFilter(passed=re.compile(".")).accepts(made)


def test_yaml_escapes_what_it_does_not_print() -> None:
    text = as_yaml(remark_of(COPIED, function='a "b"\n\x7f\x80\udc80 ü 🙂', file="\ufeffin.mlir", line=1, column=1))
    assert 'Function:        "a \\"b\\"\\n\\u007f\\u0080\\udc80 ü 🙂"' in text
    assert 'File: "\\ufeffin.mlir"' in text
