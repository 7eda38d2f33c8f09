"""Decisions in sentences, with the lines of the source that they rest on.

in.mlir:3: 32 bytes are copied for the result of `tensor.insert`.
The operand's old value is read after this operation: `linalg.exp` (in.mlir:5:8) reads …

   1 | func.func @main(%x: tensor<8xf32> …
     |                 ^ definition: argument 0
>  3 |   %1 = tensor.insert %c into %x[%n] : tensor<8xf32>
     |        ^ write: tensor.insert
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hotdesk.explain.decision import Decision, Outcome, Source
from hotdesk.explain.reason import Reason

_LOCATION = re.compile(r"(.+?):(\d+)(?::(\d+))?")
_WORDS: Mapping[Outcome, str] = {
    Outcome.COPIED: "{bytes} are copied for {subject}.",
    Outcome.ALLOCATED: "{subject} gets {bytes} of its own.",
    Outcome.IN_PLACE: "{subject} ({bytes}) is written over an operand.",
    Outcome.LENT: "{subject} ({bytes}) lies in the caller's memory.",
    Outcome.IN_PARALLEL: "{subject}: threads share its iterations, and the peak grows by {bytes}.",
    Outcome.IN_SEQUENCE: "{subject}: its iterations run one after the other.",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a source file; column 0 is the whole line."""

    file: str
    line: int
    column: int = 0

    @classmethod
    def of(cls, location: str) -> Spot | None:
        """The place that text such as `in.mlir:3:8` or `model.py:12` names."""
        found = _LOCATION.fullmatch(location)
        return None if found is None else cls(found[1], int(found[2]), int(found[3] or 0))

    def holds(self, other: Spot) -> bool:
        """Whether another place is this one, or in this line; a path may be given from any directory above the file."""
        return other.line == self.line and self.column in (0, other.column) and self.is_in(other.file)

    def is_in(self, file: str) -> bool:
        """Whether that is the file; a path may be given from any directory above it."""
        return os.path.abspath(file) == os.path.abspath(self.file) or file.endswith(f"/{os.path.normpath(self.file)}")


def concerns(decision: Decision, spot: Spot) -> bool:
    """Whether a decision is about what stands there."""
    return any(spot.holds(found) for found in _spots(decision.because[:1]))


def touches(decision: Decision, spot: Spot) -> bool:
    """Whether what stands there has a part in a decision."""
    involved = [*decision.because, *(source for _, source in _roles(decision))]
    return any(spot.holds(found) for found in _spots(involved))


def sentence(decision: Decision) -> str:
    """What was done and why, and what would change it."""
    subject = _named_subject(decision.subject)
    words = _WORDS.get(decision.outcome, f"{{subject}} ({{bytes}}): {decision.outcome}.")
    text = words.format(subject=subject, bytes=f"{decision.size} bytes")
    parts = [text[0].upper() + text[1:], _reason(decision)]
    return "\n".join([*parts, *([decision.hint] if decision.hint else [])])


def excerpt(decision: Decision, lines_of: Callable[[str], Sequence[str]]) -> str:
    """The lines that a decision rests on, in the order of the files, each with what it does; `lines_of` has a file's lines."""
    notes: dict[tuple[str, int], dict[tuple[int, str], None]] = {}
    for role, source in _roles(decision):
        spot = Spot.of(source.location)
        if spot is not None and 0 < spot.line <= len(lines_of(spot.file)):
            notes.setdefault((spot.file, spot.line), {})[spot.column, f"{role}: {source.op}"] = None
    about = next(iter(_spots(decision.because[:1])), None)
    files = sorted({file for file, _ in notes})
    width = max((len(str(line)) for _, line in notes), default=1)
    shown: list[str] = []
    for (file, line), marks in sorted(notes.items()):
        if len(files) > 1 and file in files:
            shown.append(f"  {file}")
            files.remove(file)
            files.append("")
        text = lines_of(file)[line - 1].rstrip()
        here = about is not None and (about.file, about.line) == (file, line)
        shown.append(f"{'>' if here else ' '} {line:>{width}} | {text}")
        shown += [f"  {'':>{width}} | {_caret(text, column)}{note}" for column, note in sorted(marks)]
    return "\n".join(shown)


def _reason(decision: Decision) -> str:
    text = decision.reason.text.rstrip(".")
    read, write, definition = decision.read, decision.write, decision.definition
    if read is not None and write is not None and definition is not None:
        holds = (
            f"what {_named(definition)} makes" if not _is_argument(definition) else f"what {_named(definition)} holds"
        )
        return f"{text}: {_named(read)} reads {holds}, and {_named(write)} would overwrite it. [{decision.reason}]"
    if definition is not None and decision.outcome in (Outcome.COPIED, Outcome.ALLOCATED):
        return f"{text}: {_named(definition)}. [{decision.reason}]"
    if decision.reason is Reason.FRAMES_RAISE_PEAK:
        text += f": by {decision.size}"
    return f"{text}. [{decision.reason}]"


def _roles(decision: Decision) -> list[tuple[str, Source]]:
    """The sources of a decision, each with its part in it."""
    found = [("definition", decision.definition), ("write", decision.write), ("read", decision.read)]
    roles = [(role, source) for role, source in found if source is not None]
    told = {source for _, source in roles}
    roles += [("alias", source) for source in decision.path if source not in told]
    told |= set(decision.path)
    return roles + [("decided", source) for source in decision.because if source not in told]


def _spots(sources: Sequence[Source]) -> list[Spot]:
    return [spot for spot in (Spot.of(source.location) for source in sources) if spot is not None]


def _caret(text: str, column: int) -> str:
    if not column:
        return "^ "
    return "".join("\t" if c == "\t" else " " for c in text[: column - 1]) + "^ "


def _is_argument(source: Source) -> bool:
    return source.op.startswith("argument ")


def _named(source: Source) -> str:
    name = source.op if _is_argument(source) else f"`{source.op}`"
    return f"{name} ({source.location})" if source.location else name


def _named_subject(subject: str) -> str:
    """`result of linalg.add` as the result of `linalg.add`."""
    what, of, name = subject.partition(" of ")
    return f"the {what} of `{name}`" if of and what == "result" else f"{what} of `{name}`" if of else subject
