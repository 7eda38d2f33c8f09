"""Remarks of a run: functions by place, names of files, and where remarks go."""

from __future__ import annotations

import io
import re

from hotdesk.cli.diagnostics import Diagnostic, FilePosition, Input
from hotdesk.cli.remarks import Functions, Remarks, in_words_of
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.explain.remarks import RemarkFilter
from tests.unit.parsing import parse

TEXT = "func.func @one() {\n  return\n}\nfunc.func @two() {\n  return\n}\n"
SOURCE = Input.of("in.mlir", TEXT)
DECISION = Decision("x", Outcome.IN_PLACE, Reason.DIES_HERE, (Source("return", "-:5"),), 8)


def test_functions_by_place() -> None:
    functions = Functions.of(parse(TEXT).operation, SOURCE)
    assert [functions.at(FilePosition("in.mlir", line)) for line in (1, 2, 5, 0)] == ["one", "one", "two", ""]
    assert functions.at(FilePosition("model.py", 3)) == ""
    single = Functions.of(parse("func.func @one() { return }").operation, SOURCE)
    assert single.at(FilePosition("model.py", 3)) == "one"


def test_sources_name_the_file() -> None:
    decision = in_words_of(SOURCE, DECISION)
    assert decision.because == (Source("return", "in.mlir:5"),)


def test_lines_are_diagnostics_and_yaml_is_not() -> None:
    functions = Functions.of(parse(TEXT).operation, SOURCE)
    said: list[Diagnostic] = []
    everything = RemarkFilter(re.compile(""))
    Remarks(everything, "emitRemark", None, said.append).decided("p", DECISION, SOURCE, functions)
    assert str(said[0].place) == "in.mlir:5:3"
    assert said[0].message.startswith(
        "[Passed] IN_PLACE | Category:bufferize | Function=two | Reason=dies-here, Bytes=8"
    )
    for form, start in (("emitRemark", "in.mlir:5:3: remark: [Passed]"), ("yaml", "--- !Passed\n")):
        file = io.StringIO()
        Remarks(everything, form, file, said.append).decided("p", DECISION, SOURCE, functions)
        assert file.getvalue().startswith(start)
    assert len(said) == 1
