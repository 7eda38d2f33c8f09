"""`hotdesk explain`: why memory is as it is, in sentences with the lines they rest on.

    hotdesk explain my_model.py:build --peak
    hotdesk explain my_model.py:build --module encoder.layer.3
    hotdesk explain in.mlir --value %5
    hotdesk explain in.mlir --at model.py:12 --pass-pipeline='builtin.module(cse,hotdesk-one-shot-bufferize)'

A model is compiled, and its report is asked: what the peak is made of, why a buffer is where it is, what a line or a submodule
holds, and what would free it. IR in text runs through the pipeline, and what was decided about the value or the line is printed;
without either, every copy and allocation.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from hotdesk._bindings import ir
from hotdesk.cli.diagnostics import Input
from hotdesk.cli.exits import UsageError, require_unused, usage
from hotdesk.cli.inputs import add_inputs
from hotdesk.cli.parsers import parser_of
from hotdesk.cli.remarks import in_words_of
from hotdesk.cli.written import Written, all_names, definitions, read_written
from hotdesk.errors import HotdeskError, InvalidIRError, OptionError
from hotdesk.explain import Decision, Outcome
from hotdesk.explain.answers import Spot, concerns, excerpt, sentence, touches
from hotdesk.ir.context import make_context
from hotdesk.models.files import load_models
from hotdesk.passes.textual import parse_pipeline

PIPELINE = "builtin.module(hotdesk-one-shot-bufferize)"
_NEAR = 3
_OF_MODELS = ("entry", "order", "budget", "dim", "random_inputs", "seed", "sizes", "inputs")
_OF_IR = ("function", "pass_pipeline", "allow_unregistered_dialect", "load_models")
"""Options for models, and for IR in text."""


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk explain` and returns its exit code."""
    options = parser().parse_args(arguments)
    if (
        options.peak
        or options.module
        or (options.value is not None and _is_buffer(options.value))
        or not _is_ir(options.file)
    ):
        return _explain_model(options)
    require_unused(
        parser(), options, _OF_MODELS, options.file, "a model: IR in text goes through passes, and does not run"
    )
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    source = Input.of("<stdin>" if options.file == "-" else options.file, text)
    try:
        for models in options.load_models:
            load_models(models)
        with usage():
            passes = parse_pipeline(options.pass_pipeline)
        written = _read(text, options.allow_unregistered_dialect)
        spots = _asked(options.value, options.at, options.function, source, written)
        decisions = [in_words_of(source, decision) for decision in passes.run(written.module)]
        answers = _answers(decisions, spots, options.value or options.at, written, source)
    except HotdeskError as error:
        print(source.show(source.of_error(error)), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    print("\n\n".join(answers))
    return 0


def _is_ir(text: str) -> bool:
    """Whether passes run on it: IR in text. Anything else is a model, or a report of one."""
    return text == "-" or (not text.endswith((".pt2", ".onnx", ".json", ".hotdesk", ".py")) and ".py:" not in text)


def _is_buffer(text: str) -> bool:
    return text[:1] == "b" and text[1:].isdecimal()


def _explain_model(options: argparse.Namespace) -> int:
    from hotdesk.cli.documents import reported
    from hotdesk.report.explaining import explain

    require_unused(parser(), options, _OF_IR, options.file, "IR in text, which goes through passes")
    options.model = options.file
    made, _ = reported(options)
    print(explain(made, options.value or options.at or options.module or "peak"))
    return 0


_TOLD_UNASKED = (Outcome.COPIED, Outcome.ALLOCATED, Outcome.IN_PARALLEL, Outcome.IN_SEQUENCE)

EXAMPLES = ("hotdesk explain my_model.py:build --peak", "hotdesk explain in.mlir --value %5")


def parser() -> argparse.ArgumentParser:
    parser = parser_of("explain", "Says why memory is as it is: of a model, or of a value of IR in text.", EXAMPLES)
    parser.add_argument(
        "file", metavar="FILE", help="a model, a report that was saved as JSON, or IR in text; '-' reads stdin"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--peak", action="store_true", help="what the peak is made of (of a model, if nothing is asked)")
    asked.add_argument(
        "--value", metavar="NAME", help="a buffer of the report, such as b12, or a value by its name in FILE"
    )
    asked.add_argument("--at", metavar="FILE:LINE[:COLUMN]", help="a line of FILE, or of the Python file it came from")
    asked.add_argument("--module", metavar="PATH", help="a submodule of the model, such as encoder.layer.3")
    add_inputs(parser)
    parser.add_argument("--function", metavar="NAME", help="the function that --value is in, if several have the name")
    parser.add_argument("--pass-pipeline", default=PIPELINE, metavar="TEXT", help=f"what to run (default: {PIPELINE})")
    parser.add_argument("--allow-unregistered-dialect", action="store_true", help="accept ops of unknown dialects")
    parser.add_argument(
        "--load-models", action="append", default=[], metavar="FILE", help="a Python file with models of ops"
    )
    return parser


def _read(text: str, unregistered: bool) -> Written:
    """The module in a text. Raises InvalidIRError for text that is no IR."""
    context = make_context()
    context.allow_unregistered_dialects = unregistered
    try:
        return read_written(text, context)
    except ir.MLIRError as error:
        first = next(iter(error.error_diagnostics), None)
        where = None if first is None else str(Input.of("-", text).of_mlir(first).place)
        got = str(error) if first is None else str(first.message)
        raise InvalidIRError("the input", expected="a module", got=got, where=where) from error


def _asked(value: str | None, at: str | None, function: str | None, source: Input, written: Written) -> list[Spot]:
    """The places in the text, or elsewhere, that are asked for; none if everything is."""
    if at is not None:
        spot = Spot.of(at if ":" in at else f"{source.file}:{at}")
        if spot is None:
            raise UsageError("option '--at'", expected="FILE:LINE or FILE:LINE:COLUMN", got=repr(at))
        if _is_same_file(spot.file, source.file):
            spot = replace(spot, file=source.file)
        return [spot, *written.places(spot, source.file)]
    if value is None:
        return []
    found = definitions(source.lines, value, source.file)
    spots = [spot for spot, around in found if function in (None, around)]
    if not spots:
        names = all_names(source.lines)
        near = get_close_matches("%" + value.lstrip("%"), names, n=_NEAR, cutoff=0.3)
        inside = "" if function is None else f" in @{function}"
        hint = f"Near ones: {', '.join(near)}." if near else None
        raise OptionError(
            "option '--value'", expected=f"a name that {source.file} defines{inside}", got=value, hint=hint
        )
    return spots


def _answers(
    decisions: Sequence[Decision], spots: Sequence[Spot], asked: str | None, written: Written, source: Input
) -> list[str]:
    """The decisions about any of the places, else those in which one has a part, else those about what gets a value from there.

    Raises:
        OptionError: the place is none.
    """
    if not spots:
        found = [d for d in decisions if d.outcome in _TOLD_UNASKED]
        return _told(found, written, source) or ["Nothing is copied, and nothing gets memory of its own."]
    tests: tuple[Callable[[Decision, Spot], bool], ...] = (concerns, touches)
    for test in tests:
        found = [d for d in decisions if any(test(d, spot) for spot in spots)]
        if found:
            return _told(found, written, source)
    _require_place(spots, source, written)
    own = [spot for spot in spots if spot.file == source.file]
    for level in written.following(own):
        places = [Spot(source.file, *at) for at in level]
        found = [d for d in decisions if any(concerns(d, spot) for spot in places)]
        if found:
            return [
                f"Nothing was decided about {asked} itself, but about what gets it:",
                *_told(found, written, source),
            ]
    near = _places([(d, written.told(d, source.file)) for d in decisions])
    near.sort(key=lambda entry: (entry[0].file != spots[0].file, _distance(entry[0], spots[0])))
    listed = list(dict.fromkeys(f"{told.subject} at {told.because[0].location}" for _, told in near))[:_NEAR]
    rest = f"Nearest: {'; '.join(listed)}." if listed else "The pipeline decided nothing."
    return [f"Nothing was decided about {asked}. {rest}"]


def _told(decisions: Sequence[Decision], written: Written, source: Input) -> list[str]:
    return [_answer(written.told(decision, source.file), source) for decision in decisions]


def _require_place(spots: Sequence[Spot], source: Input, written: Written) -> None:
    """Raises OptionError for a place that is asked for and is none."""
    asked, last = spots[0], len("\n".join(source.lines).splitlines())
    if asked.file == source.file and asked.line > last:
        raise OptionError("option '--at'", expected=f"a line of {source.file}, which has {last}", got=str(asked.line))
    named = written.named()
    known = asked.file == source.file or len(spots) > 1 or any(asked.is_in(spot.file) for spot in named)
    if not known:
        files = sorted({spot.file for spot in named} - {"-"})[:_NEAR]
        hint = f"They name {', '.join(files)}." if files else None
        raise OptionError(
            "option '--at'", expected=f"a file that locations in {source.file} name", got=asked.file, hint=hint
        )


def _is_same_file(asked: str, file: str) -> bool:
    return os.path.normpath(asked) == os.path.normpath(file) or os.path.realpath(asked) == os.path.realpath(file)


def _places(decisions: Sequence[tuple[Decision, Decision]]) -> list[tuple[Spot, Decision]]:
    """Decisions by the places of what they are about, in the text and in the file that it came from."""
    about = [(Spot.of(form.because[0].location), told) for d, told in decisions if d.because for form in (d, told)]
    return [(spot, decision) for spot, decision in about if spot is not None]


def _distance(a: Spot, b: Spot) -> int:
    return abs(a.line - b.line)


def _answer(decision: Decision, source: Input) -> str:
    place = decision.because[0].location if decision.because else source.file
    told, shown = sentence(decision), excerpt(decision, lambda file: _lines(file, source))
    return f"{place}: {told}" + (f"\n\n{shown}" if shown else "")


def _lines(file: str, source: Input) -> Sequence[str]:
    """The lines of a file, or none if it cannot be read: IR may name files of another machine."""
    if file == source.file:
        return source.lines
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return ()
