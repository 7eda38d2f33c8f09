"""`hotdesk-opt`: runs passes on IR in text, in the manner of mlir-opt.

    hotdesk-opt FILE --pass-pipeline='builtin.module(hotdesk-choose-destinations,canonicalize,func.func(cse))'
    hotdesk-opt - --hotdesk-choose-destinations --hotdesk-one-shot-bufferize < FILE

Exit codes: 0, or 1 with a diagnostic `file:line:col: error: …` on stderr; 2 for a command line that makes no sense.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError, OptionError
from hotdesk.explain import Decision
from hotdesk.ir.context import make_context
from hotdesk.passes.registry import pass_names
from hotdesk.passes.textual import PassPipeline, parse_pipeline

_SPLIT = "// -----"
_ALIASES = {"hotdesk-test-inplace": "hotdesk-annotate-in-place"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    options = _parser().parse_args(arguments)
    if options.list_passes:
        print("\n".join(pass_names()))
        return 0
    try:
        pipeline = _pipeline(options)
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
        if options.output == "-":
            return _process(text, options, pipeline, sys.stdout)
        with Path(options.output).open("w", encoding="utf-8") as output:
            return _process(text, options, pipeline, output)
    except HotdeskError as error:
        _complain(f"error: {error}")
    except (OSError, UnicodeDecodeError) as error:
        _complain(f"error: {options.file}: {error}")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hotdesk-opt", description="Runs passes on MLIR text.", allow_abbrev=False)
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the input; - for standard input")
    parser.add_argument("-o", dest="output", default="-", metavar="FILE", help="the output; - for standard output")
    parser.add_argument(
        "--pass-pipeline", metavar="TEXT", help="'builtin.module(…)' with passes of Hotdesk and of MLIR"
    )
    parser.add_argument("--split-input-file", action="store_true", help=f"treat what '{_SPLIT}' separates as files")
    parser.add_argument("--print-decisions", action="store_true", help="print each decision on a line to stderr")
    parser.add_argument("--list-passes", action="store_true", help="print the names of Hotdesk's passes and stop")
    flags = parser.add_argument_group("passes, run in the order of their flags")
    for name in (*pass_names(), *_ALIASES):
        flags.add_argument(f"--{name}", action="append_const", dest="passes", const=_ALIASES.get(name, name))
    return parser


def _pipeline(options: Any) -> PassPipeline:
    if options.pass_pipeline is None:
        return parse_pipeline(f"builtin.module({','.join(options.passes or ())})")
    if options.passes:
        raise OptionError("pass pipeline", expected="--pass-pipeline or flags of passes", got="both")
    return parse_pipeline(options.pass_pipeline)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A part of the input that is a module of its own. `lines` are those before it."""

    text: str
    lines: int


def _chunks(text: str, split: bool) -> Iterator[_Chunk]:
    if not split:
        yield _Chunk(text, 0)
        return
    lines: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(_SPLIT):
            yield _Chunk("\n".join(lines), start)
            lines, start = [], number
        else:
            lines.append(line)
    yield _Chunk("\n".join(lines), start)


def _process(text: str, options: Any, pipeline: PassPipeline, output: TextIO) -> int:
    """Every chunk in turn; one that fails leaves the others alone. Returns the exit code."""
    file = "<stdin>" if options.file == "-" else str(options.file)
    failed = False
    for number, chunk in enumerate(_chunks(text, options.split_input_file)):
        if number:
            print(f"{_SPLIT}\n", file=output)
        module = _run(chunk, pipeline, file, options.print_decisions, output)
        failed |= module is None
        if module is not None:
            print(module, file=output)
    return int(failed)


def _run(chunk: _Chunk, pipeline: PassPipeline, file: str, decisions: bool, output: TextIO) -> ir.Module | None:
    context = make_context()
    try:
        module = ir.Module.parse("\n" * chunk.lines + chunk.text, context)
        taken = pipeline.run(module)
    except ir.MLIRError as error:
        _diagnose(error, file)
        return None
    except HotdeskError as error:
        if isinstance(error.__cause__, ir.MLIRError):
            _diagnose(error.__cause__, file)
        _complain(_located(error, file, chunk.text.splitlines(), chunk.lines))
        return None
    output.flush()
    for decision in taken if decisions else ():
        _complain(_spelled(decision, file))
    return module


# What stderr gets


def _complain(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _diagnose(error: ir.MLIRError, file: str) -> None:
    for diagnostic in error.error_diagnostics:
        _complain(f"{_position(diagnostic.location, file)}: error: {diagnostic.message}")
        for note in diagnostic.notes:
            _complain(f"{_position(note.location, file)}: note: {note.message}")


def _position(location: ir.Location, file: str) -> str:
    """`file:line:col` of a location in the input; parsed text has no file name of its own."""
    text = str(location).removeprefix("loc(").removesuffix(")")
    name, quote, place = text[1:].partition('"') if text.startswith('"') else ("", "", "")
    if not quote:
        return file
    return f"{file if name == '-' else name}{place}"


def _located(error: HotdeskError, file: str, lines: Sequence[str], before: int) -> str:
    """The error as a diagnostic: where it is comes first, not in brackets. Its column is that of the statement."""
    got = None if isinstance(error.__cause__, ir.MLIRError) else error.got  # MLIR's own words came before
    bare = type(error)(error.what, expected=error.expected, got=got, hint=error.hint)
    where = (error.where or "").removeprefix("-:")
    if not where.isdigit():
        return f"{error.where or file}: error: {bare}"
    line = lines[int(where) - before - 1]
    return f"{file}:{where}:{len(line) - len(line.lstrip()) + 1}: error: {bare}"


def _spelled(decision: Decision, file: str) -> str:
    because = ", ".join(str(source) for source in decision.because).replace(" at -:", f" at {file}:")
    ending = f" ({because})" if because else ""
    return f"decision: {decision.subject}: {decision.outcome}: {decision.reason}, {decision.bytes} bytes{ending}"


if __name__ == "__main__":
    sys.exit(main())
