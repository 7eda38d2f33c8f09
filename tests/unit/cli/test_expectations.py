"""Comments that expect diagnostics: where they point, what they match, what is left."""

from __future__ import annotations

import pytest

from hotdesk.cli.diagnostics import Diagnostic, FilePosition, Input
from hotdesk.cli.expectations import expectations, unmet


def _errors(text: str, *found: Diagnostic, before: int = 0, strict: bool = True) -> list[str]:
    lines = text.split("\n")
    source = Input.of("in.mlir", "\n" * before + text)
    return [f"{one.place}: {one.message}" for one in unmet(found, source, lines, before, strict)]


def _error(line: int, message: str, severity: str = "error", *notes: Diagnostic) -> Diagnostic:
    return Diagnostic(severity, FilePosition("in.mlir", line, 1), message, notes)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x // expected-error {{bad}}", 1),
        ("\n\n// expected-error@+2 {{bad}}", 5),
        ("\n\n// expected-error@-1 {{bad}}", 2),
        ("\n// expected-error @above {{bad}}", 1),
        ("// expected-error@below {{bad}}\n// expected-note@below {{other}}\nx", 3),
        ("// expected-error@unknown {{bad}}", 0),
    ],
)
def test_the_line_that_a_comment_speaks_of(text: str, line: int) -> None:
    found, _ = expectations(text.split("\n"), "in.mlir")
    assert found[0].line == line


def test_lines_are_counted_from_the_start_of_the_file() -> None:
    assert _errors("x // expected-error {{bad}}", _error(8, "very bad"), before=7) == []


@pytest.mark.parametrize("severity", ["error", "warning", "remark", "note"])
def test_severities_must_agree(severity: str) -> None:
    assert _errors(f"x // expected-{severity} {{{{bad}}}}", _error(1, "bad", severity)) == []
    other = "note" if severity == "error" else "error"
    assert len(_errors(f"x // expected-{severity} {{{{bad}}}}", _error(1, "bad", other))) == 2


def test_expressions_stand_in_inner_braces_and_the_rest_is_literal() -> None:
    text = "x // expected-error-re {{op '{{.*}}' (bad) {{[0-9]+}}}}"
    assert _errors(text, _error(1, "op 'a.b' (bad) 12")) == []
    assert len(_errors(text, _error(1, "op 'a.b' bad 12"))) == 2


def test_an_expression_that_is_none() -> None:
    assert _errors("x // expected-error-re {{{{(}}}}")[0].startswith("in.mlir:1:6: invalid regular expression")
    assert _errors("x // expected-error-re {{a {{b}}")[0].endswith("no '}}' ends what '{{' begins")


def test_words_may_stand_before_what_is_expected() -> None:
    assert _errors("x // TODO: expected-error {{bad}}", _error(1, "bad")) == []


def test_each_comment_takes_one_diagnostic() -> None:
    assert _errors("x // expected-error {{bad}}", _error(1, "bad"), _error(1, "bad")) == [
        "in.mlir:1:1: unexpected error: bad"
    ]


def test_notes_count_but_not_those_that_print_the_operation() -> None:
    note, operation = _error(1, "here", "note"), _error(1, "see current operation: x", "note")
    assert _errors("x // expected-error {{bad}}", _error(1, "bad", "error", note, operation)) == [
        "in.mlir:1:1: unexpected note: here"
    ]


def test_what_did_not_come_and_what_was_not_expected() -> None:
    text = "x // expected-warning {{never}}"
    unmet = 'in.mlir:1:6: expected warning "never" was not produced'
    assert _errors(text, _error(2, "bad")) == ["in.mlir:2:1: unexpected error: bad", unmet]
    assert _errors(text, _error(2, "bad"), strict=False) == [unmet]
