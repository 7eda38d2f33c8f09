"""Remarks: decisions as compiler people read them, by kind and category, as text or YAML.

    [Missed] COPIED | Category:bufferize | Function=main | Reason=read-later, Bytes=64, Subject="result of linalg.add", …

    --- !Missed
    Pass:            hotdesk-one-shot-bufferize
    Name:            COPIED
    DebugLoc:        { File: "in.mlir", Line: 4, Column: 3 }
    Function:        "main"
    Args:
      - Category:        "bufferize"
      - Reason:          "read-later"
      …

A remark is *passed* where memory was saved, *missed* where a buffer was copied or allocated, *failed* for an error, and
*analysis* otherwise. Categories say what was at work: bufferize, share, fuse, fold, prepare, deallocate, place, copy. What only
one kind of pass does names its category; what many do, as leaving a copy or an allocation, has that of the pass it comes from,
as errors have.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum

from hotdesk.errors import HotdeskError
from hotdesk.explain.decision import Decision, Outcome, Source

_UNPRINTED = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
FORMATS = ("emitRemark", "yaml")
OTHER = "other"


class RemarkKind(str, Enum):
    """What a remark reports."""

    PASSED = "Passed"
    MISSED = "Missed"
    FAILED = "Failed"
    ANALYSIS = "Analysis"

    def __str__(self) -> str:
        return self.value


_KINDS = {
    Outcome.IN_PLACE: RemarkKind.PASSED,
    Outcome.COPIED: RemarkKind.MISSED,
    Outcome.ALLOCATED: RemarkKind.MISSED,
    Outcome.SHARED: RemarkKind.PASSED,
    Outcome.LENT: RemarkKind.PASSED,
    Outcome.PREPARED: RemarkKind.PASSED,
    Outcome.FUSED: RemarkKind.PASSED,
    Outcome.NOT_FUSED: RemarkKind.MISSED,
    Outcome.NOT_PREPARED: RemarkKind.MISSED,
    Outcome.CALLED: RemarkKind.MISSED,
    Outcome.FOLDED: RemarkKind.PASSED,
    Outcome.FREED: RemarkKind.PASSED,
    Outcome.MOVED: RemarkKind.PASSED,
    Outcome.ON_STACK: RemarkKind.PASSED,
    Outcome.REMOVED: RemarkKind.PASSED,
    Outcome.REORDERED: RemarkKind.PASSED,
    Outcome.SPLIT: RemarkKind.PASSED,
    Outcome.RECOMPUTED: RemarkKind.PASSED,
    Outcome.IN_PARALLEL: RemarkKind.PASSED,
    Outcome.IN_SEQUENCE: RemarkKind.MISSED,
}
_CATEGORIES = {
    Outcome.SHARED: "share",
    Outcome.CALLED: "lower",
    Outcome.PREPARED: "prepare",
    Outcome.FUSED: "fuse",
    Outcome.NOT_FUSED: "fuse",
    Outcome.NOT_PREPARED: "prepare",
    Outcome.FOLDED: "fold",
    Outcome.FREED: "deallocate",
    Outcome.MOVED: "place",
    Outcome.ON_STACK: "place",
    Outcome.REMOVED: "copy",
    Outcome.REORDERED: "order",
    Outcome.ORDER_KEPT: "order",
    Outcome.SPLIT: "split",
    Outcome.RECOMPUTED: "recompute",
    Outcome.IN_PARALLEL: "parallel",
    Outcome.IN_SEQUENCE: "parallel",
}
"""Of outcomes that one kind of pass has; the others have the category of their pass, `_OF_ANY` if that names none."""
_OF_ANY = "bufferize"
_PASS_WORDS = {
    "bufferize": "bufferize",
    "in-place": "bufferize",
    "destinations": "bufferize",
    "deallocation": "deallocate",
    "hoisting": "place",
    "promote": "place",
    "workspaces": "place",
    "copy-removal": "copy",
    "share": "share",
    "merge": "share",
    "fuse": "fuse",
    "prepare": "prepare",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark. Lines and columns count from 1; 0 is unknown. `arguments` are names and values in their order."""

    kind: RemarkKind
    category: str
    name: str
    pass_name: str = ""
    function: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RemarkFilter:
    """Which remarks to show: those whose category matches the expression for all kinds or the one for theirs."""

    all: re.Pattern[str] | None = None
    passed: re.Pattern[str] | None = None
    missed: re.Pattern[str] | None = None
    failed: re.Pattern[str] | None = None
    analysis: re.Pattern[str] | None = None

    def accepts(self, remark: Remark) -> bool:
        own = {
            RemarkKind.PASSED: self.passed,
            RemarkKind.MISSED: self.missed,
            RemarkKind.FAILED: self.failed,
            RemarkKind.ANALYSIS: self.analysis,
        }[remark.kind]
        return any(one is not None and one.search(remark.category) is not None for one in (self.all, own))


def remark_of(
    decision: Decision,
    *,
    pass_name: str = "",
    function: str = "",
    file: str = "",
    line: int = 0,
    column: int = 0,
    condition: str = "",
) -> Remark:
    """A decision as a remark about a place; `condition` is the one of the pass's page that does not hold."""
    return Remark(
        _KINDS.get(decision.outcome, RemarkKind.ANALYSIS),
        _CATEGORIES.get(decision.outcome) or _category_of(pass_name) or _OF_ANY,
        decision.outcome.name,
        pass_name,
        function,
        file,
        line,
        column,
        (*_arguments(decision), *([("Condition", condition)] if condition else [])),
    )


def failure_of(
    error: HotdeskError, *, pass_name: str = "", function: str = "", file: str = "", line: int = 0, column: int = 0
) -> Remark:
    """An error of a pass as a remark about a place."""
    name = error.slug.upper().replace("-", "_")
    bare = type(error)(error.what, expected=error.expected, got=error.got, hint=error.hint)  # its place is the remark's
    arguments = (("Error", error.code), ("Remark", str(bare)))
    return Remark(
        RemarkKind.FAILED, _category_of(pass_name) or OTHER, name, pass_name, function, file, line, column, arguments
    )


def _category_of(pass_name: str) -> str:
    """The category of a pass; empty if its name tells none."""
    return next((name for word, name in _PASS_WORDS.items() if word in pass_name), "")


def as_line(remark: Remark) -> str:
    """The remark in one line, without its place. Values that hold more than a word are quoted."""
    parts = [f"[{remark.kind}] {remark.name}", f"Category:{remark.category}"]
    if remark.function:
        parts.append(f"Function={remark.function}")
    parts.append(", ".join(f"{name}={_quoted(value)}" for name, value in remark.arguments))
    return " | ".join(parts)


def as_yaml(remark: Remark) -> str:
    """The remark as a YAML document that ends in a newline."""
    lines = [f"--- !{remark.kind}", f"{'Pass:':16} {_yaml_string(remark.pass_name)}", f"{'Name:':16} {remark.name}"]
    if remark.line:
        file = _yaml_string(remark.file)
        lines.append(f"{'DebugLoc:':16} {{ File: {file}, Line: {remark.line}, Column: {remark.column} }}")
    lines += [f"{'Function:':16} {_yaml_string(remark.function)}", "Args:"]
    for name, value in (("Category", remark.category), *remark.arguments):
        lines.append(f"  - {name + ':':16} {value if value.isdigit() else _yaml_string(value)}")
    return "\n".join([*lines, "..."]) + "\n"


def _yaml_string(text: str) -> str:
    """A string in quotes, with what YAML does not print escaped."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _arguments(decision: Decision) -> tuple[tuple[str, str], ...]:
    """What a decision says beyond its outcome; what it does not say is left out."""
    others: tuple[tuple[str, Source | None], ...] = (
        ("Read", decision.read),
        ("Write", decision.write),
        ("Definition", decision.definition),
    )
    found = [("Reason", str(decision.reason)), ("Bytes", decision.size), ("Subject", decision.subject)]
    found += [("Because", str(source)) for source in decision.because]
    found += [(name, str(source)) for name, source in others if source is not None]
    if decision.path:
        found.append(("Path", " -> ".join(map(str, decision.path))))
    found.append(("Remark", decision.reason.text))
    if decision.hint:
        found.append(("Hint", decision.hint))
    return tuple(found)


def _quoted(value: str) -> str:
    plain = re.fullmatch(r"[\w.+*/-]+", value) is not None
    return value if plain else json.dumps(value, ensure_ascii=False)
