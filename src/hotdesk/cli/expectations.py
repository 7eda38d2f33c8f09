"""`--verify-diagnostics`: comments in the input say which diagnostics must come, and none other may.

    return %r : f32  // expected-error {{undeclared SSA value name}}
    // expected-error@+2 {{…}}    two lines below; @-1 is the line above
    // expected-note@below {{…}}  the next line without such a comment; @above the one before
    // expected-warning-re@+1 {{op {{.*}} is unused}}    what stands in inner braces is a regular expression
    // expected-error@unknown {{…}}  a diagnostic without a place

Severities are error, warning, remark and note; a text must occur in the message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.cli.diagnostics import Diagnostic, FilePosition, Input, without_operations

_EXPECTED = re.compile(
    r"(?P<start>expected-(?P<severity>error|warning|note|remark))(?P<re>-re)?"
    r"\s*(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A diagnostic that a comment at `comment` wants on line `line`; 0 for one without a place."""

    severity: str
    line: int
    pattern: re.Pattern[str]
    text: str
    comment: FilePosition

    def matches(self, diagnostic: Diagnostic, file: str) -> bool:
        place = diagnostic.place
        there = place.line == self.line and (place.file == file or not self.line)
        return there and diagnostic.severity == self.severity and self.pattern.search(diagnostic.message) is not None


def expectations(lines: Sequence[str], file: str, before: int = 0) -> tuple[list[Expectation], list[Diagnostic]]:
    """What the comments of some lines want, and errors for comments that make no sense. `before` lines precede them."""
    comments = [_EXPECTED.search(line) for line in lines]
    found: list[Expectation] = []
    wrong: list[Diagnostic] = []
    for index, comment in enumerate(comments):
        if comment is None:
            continue
        place = FilePosition(file, before + index + 1, comment.start("start") + 1)
        line = _line(comment["where"], index, comments)
        try:
            pattern = _pattern(comment["text"], comment["re"] is not None)
        except re.error as error:
            wrong.append(Diagnostic("error", place, f"invalid regular expression: {error}"))
            continue
        number = 0 if comment["where"] == "unknown" else before + line + 1
        found.append(Expectation(comment["severity"], number, pattern, comment["text"], place))
    return found, wrong


def unmet(
    diagnostics: Sequence[Diagnostic], source: Input, lines: Sequence[str], before: int, strict: bool
) -> list[Diagnostic]:
    """The errors: expectations that were not met and, when `strict`, diagnostics and notes that nobody expected."""
    open_, errors = expectations(lines, source.file, before)
    for diagnostic in _flat(without_operations(diagnostics)):
        met = next((one for one in open_ if one.matches(diagnostic, source.file)), None)
        if met is not None:
            open_.remove(met)
        elif strict:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            errors.append(Diagnostic("error", diagnostic.place, message))
    for one in open_:
        message = f'expected {one.severity} "{one.text}" was not produced'
        errors.append(Diagnostic("error", one.comment, message))
    return errors


def _flat(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    return [part for one in diagnostics for part in (one, *_flat(one.notes))]


def _line(where: str | None, index: int, comments: Sequence[re.Match[str] | None]) -> int:
    """The line, from 0, that a comment on line `index` speaks of."""
    if where in (None, "unknown"):
        return index
    if where not in ("above", "below"):
        return index + int(where)
    step = 1 if where == "below" else -1
    line = index + step
    while 0 <= line < len(comments) and comments[line] is not None:
        line += step
    return line


def _pattern(text: str, has_expressions: bool) -> re.Pattern[str]:
    if not has_expressions:
        return re.compile(re.escape(text))
    parts = _INNER.split(text)
    if any("{{" in part for part in parts[::2]):
        raise re.error("no '}}' ends what '{{' begins")
    return re.compile("".join(part if i % 2 else re.escape(part) for i, part in enumerate(parts)))
