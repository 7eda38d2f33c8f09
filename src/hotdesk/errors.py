"""Every exception Hotdesk raises.

Each class has a `code` that never changes meaning, a `slug` made for searching, and a page `docs/errors/<code>.md`. A
message has one form::

    <what>: expected <expected>, got <got> (<where>). <hint> [<code>]

Parts that are not known are left out. The first digit of a code is its group: 1 front ends, 2 calls, 3 compilation,
4 execution, 5 planning, 6 reports, 7 saved programs. The group classes (`FrontendError`, `CallError`, `CompileError`, `RunError`,
`FileError`) are there to be caught. Where Python has a class for the same mistake (`TypeError`, `ValueError`,
`ImportError`), the class derives from it too.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar


class HotdeskError(Exception):
    """Anything Hotdesk refuses to do. `what` names the thing at fault; the keyword fields are kept as attributes.

    `where` may be empty, which says that no place is known.
    """

    code: ClassVar[str] = "HD001"
    slug: ClassVar[str] = "error"

    def __init__(
        self,
        what: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        where: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.expected = expected
        self.got = got
        self.where = where or None
        self.hint = hint
        super().__init__(_render(self.code, what, expected, got, where, hint))

    @property
    def page(self) -> str:
        """Where the documentation of this error is, from the root of the project."""
        return f"docs/errors/{self.code}.md"

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {"expected": self.expected, "got": self.got, "where": self.where, "hint": self.hint}
        return partial(type(self), **fields), (self.what,)


def _render(code: str, what: str, expected: str | None, got: str | None, where: str | None, hint: str | None) -> str:
    found = [f"expected {expected}"] if expected is not None else []
    found += [f"got {got}"] if got is not None else []
    text = what.rstrip(". ")
    if found:
        text = f"{text}: {', '.join(found)}"
    if where:
        text = f"{text} ({where})"
    if hint:
        text = f"{text}. {hint}"
    elif text[-1:] not in ".!?":
        text = f"{text}."
    return f"{text} [{code}]"


# Front ends


class FrontendError(HotdeskError):
    """A program could not be read from its framework or file."""

    code = "HD100"
    slug = "frontend"


class ExportError(FrontendError):
    """The framework itself could not capture the model."""

    code = "HD101"
    slug = "export-failed"


class UnsupportedOpError(FrontendError):
    """The model holds an operation that has no lowering."""

    code = "HD102"
    slug = "unsupported-op"


class DataDependentShapeError(FrontendError):
    """A size follows from the values in a tensor, so no buffer can be planned for it."""

    code = "HD103"
    slug = "data-dependent-shape"


class UnsupportedMutationError(FrontendError):
    """The model changes a tensor of its own that shares memory with another one, or has gaps."""

    code = "HD104"
    slug = "unsupported-mutation"


class MissingExtraError(FrontendError, ImportError):
    """A front end or format needs an optional package; the hint gives the line that installs it."""

    code = "HD105"
    slug = "missing-extra"

    @classmethod
    def of(cls, what: str, extra: str, package: str) -> MissingExtraError:
        """`what` needs `package`, which comes with the extra `extra`."""
        hint = f"Install it with: pip install 'hotdesk[{extra}]'"
        return cls(what, expected=f"the package '{package}'", got="no such package", hint=hint)


# Calls


class CallError(HotdeskError):
    """A program was called with arguments it cannot take."""

    code = "HD200"
    slug = "call"


class ArgumentCountError(CallError, TypeError):
    """Too few or too many arguments or outputs, or a keyword that no input has."""

    code = "HD201"
    slug = "argument-count"


class ArgumentTypeError(CallError, TypeError):
    """An argument is no tensor, or is a kind of tensor whose memory cannot be read as it lies."""

    code = "HD202"
    slug = "argument-type"


class DtypeError(CallError, TypeError):
    """A tensor has another element type than the program was compiled for."""

    code = "HD203"
    slug = "dtype"


class RankError(CallError, ValueError):
    """A tensor has another number of dimensions than the program was compiled for."""

    code = "HD204"
    slug = "rank"


class ShapeError(CallError, ValueError):
    """A size differs from the compiled one, leaves its declared range, or contradicts another argument."""

    code = "HD205"
    slug = "shape"


class DeviceError(CallError, ValueError):
    """A tensor is not in the memory of the CPU."""

    code = "HD206"
    slug = "device"


class LayoutError(CallError, ValueError):
    """A tensor does not lie in memory as it must: an output with gaps or read-only, or a sparse argument."""

    code = "HD207"
    slug = "layout"


class OutputOverlapError(CallError, ValueError):
    """An output shares memory with an argument, a weight or another output."""

    code = "HD208"
    slug = "output-overlap"


class DonatedOverlapError(CallError, ValueError):
    """A donated argument shares memory with another argument or a weight."""

    code = "HD209"
    slug = "donated-overlap"


# Compilation


class CompileError(HotdeskError):
    """A program was read but could not be compiled."""

    code = "HD300"
    slug = "compile"


class InvalidIRError(CompileError, ValueError):
    """The text or module does not parse or verify."""

    code = "HD301"
    slug = "invalid-ir"


class BufferizationError(CompileError):
    """A tensor could not be turned into a buffer."""

    code = "HD302"
    slug = "bufferization"


class LoweringError(CompileError):
    """An operation on buffers could not be lowered to LLVM."""

    code = "HD303"
    slug = "lowering"


class PassError(CompileError):
    """A pass is unknown, failed, or left a module that does not verify."""

    code = "HD304"
    slug = "pass"


class OptionError(CompileError, ValueError):
    """An option, stage or pipeline text has no such name or value."""

    code = "HD305"
    slug = "option"


# Execution


class RunError(HotdeskError):
    """A compiled program could not run to its end."""

    code = "HD400"
    slug = "run"


class ExecutionError(RunError, RuntimeError):
    """An assertion of the program failed while it ran, such as an index outside its range."""

    code = "HD401"
    slug = "execution"


class OutOfMemoryError(RunError, MemoryError):
    """The system has no memory for a program's arena, or for its results."""

    code = "HD402"
    slug = "out-of-memory"


# Planning


class PlanError(HotdeskError):
    """No arena could be planned, or a plan did not pass its check."""

    code = "HD501"
    slug = "plan"


class TraceError(PlanError, ValueError):
    """A trace of another tool cannot be read."""

    code = "HD502"
    slug = "trace"


# Reports


class ReportError(HotdeskError, ValueError):
    """A file is no report, or one of another version."""

    code = "HD601"
    slug = "report"


class PeakError(HotdeskError, AssertionError):
    """A call takes more memory at its peak than was allowed."""

    code = "HD602"
    slug = "peak"


# Saved programs


class FileError(HotdeskError):
    """A program could not be saved, exported or loaded."""

    code = "HD700"
    slug = "file"


class ArtifactError(FileError, ValueError):
    """A file is no saved program, is damaged, or says what does not go together. Nothing of it was run."""

    code = "HD701"
    slug = "damaged-file"


class ArtifactVersionError(FileError):
    """A program was saved in another version of the format."""

    code = "HD702"
    slug = "file-version"


class ArtifactMachineError(FileError):
    """The machine code of a saved program is for another system or processor, or code was asked for one that is not known."""

    code = "HD703"
    slug = "other-machine"


class WeightsError(FileError):
    """The weights that a saved program wants are not there, or are others."""

    code = "HD704"
    slug = "weights"


class NotSavableError(FileError):
    """A program has a part that cannot be saved or exported."""

    code = "HD705"
    slug = "not-savable"


__all__ = [
    "ArgumentCountError",
    "ArgumentTypeError",
    "ArtifactError",
    "ArtifactMachineError",
    "ArtifactVersionError",
    "BufferizationError",
    "CallError",
    "CompileError",
    "DataDependentShapeError",
    "DeviceError",
    "DonatedOverlapError",
    "DtypeError",
    "ExecutionError",
    "ExportError",
    "FileError",
    "FrontendError",
    "HotdeskError",
    "InvalidIRError",
    "LayoutError",
    "LoweringError",
    "MissingExtraError",
    "NotSavableError",
    "OptionError",
    "OutOfMemoryError",
    "OutputOverlapError",
    "PassError",
    "PeakError",
    "PlanError",
    "RankError",
    "ReportError",
    "RunError",
    "ShapeError",
    "TraceError",
    "UnsupportedMutationError",
    "UnsupportedOpError",
    "WeightsError",
]
