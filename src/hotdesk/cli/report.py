"""`hotdesk report`: what a model's memory is made of, as text, JSON, a page or a picture; with limits for CI.

    hotdesk report my_model.py:build
    hotdesk report model.onnx --sizes batch=8 --html report.html
    hotdesk report my_model.py:build --max-growth 1% --against main.json

On a terminal tables, in a pipe the twenty lines of `program.report()`. All formats are made of one record, which `--json` writes.
Exit codes: 0; 1 where a limit is broken, with the buffers that did it, or for any error; 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hotdesk.cli.documents import add_reported, read_document, reported
from hotdesk.cli.exits import UsageError, complain
from hotdesk.cli.formats import Formats, add_formats, require_formats
from hotdesk.cli.inputs import Ready
from hotdesk.cli.parsers import bytes_of, parser_of, percent_of
from hotdesk.errors import TraceError
from hotdesk.report.document import Document, Series
from hotdesk.report.limits import require_growth, require_peak
from hotdesk.report.page import page, png, svg
from hotdesk.traces.reading import load_trace
from hotdesk.traces.trace import Trace

EXAMPLES = (
    "hotdesk report my_model.py:build --max-peak 24MB",
    "hotdesk report my_model.py:build --html report.html",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk report` and returns its exit code. Raises PeakError where a limit is broken."""
    options = parser().parse_args(arguments)
    if (options.max_growth is None) != (options.against is None):
        raise UsageError("option '--max-growth'", expected="both --max-growth and --against", got="one of them")
    require_formats(options)
    against = None if options.against is None else read_document(options.against)
    traces = [(path, load_trace(Path(path))) for path in options.trace]
    made, ready = reported(options)
    made = _measured(made, ready, options)
    made = made.with_series(_series(path, trace) for path, trace in traces)
    drawn = partial(page, made, options.model), partial(svg, made), partial(png, made)
    Formats(made.__str__, made.to_json, *drawn, partial(_tables, made)).write(options)
    if options.max_peak is not None:
        require_peak(made, options.max_peak)
    if against is not None:
        require_growth(made, against, options.max_growth)
    return 0


def _measured(made: Document, ready: Ready | None, options: argparse.Namespace) -> Document:
    """The report with the time of each kernel, and the bytes of eager PyTorch: on a page wherever they can be measured.

    Raises UsageError where one is asked for of what cannot be measured.
    """
    kinds = {"profile": "a model that is compiled", "eager": "a PyTorch model"}
    possible = {"profile": ready is not None and not options.model.endswith(".hotdesk")}
    possible["eager"] = ready is not None and ready.model is not None
    for name, kind in kinds.items():
        if getattr(options, name) and not possible[name]:
            raise UsageError(f"option '--{name}'", expected=kind, got=options.model)
    wanted = {name for name in kinds if getattr(options, name) or (getattr(options, name) is None and options.html)}
    if ready is not None and possible["profile"] and "profile" in wanted:
        made = made.with_profile(ready.program.profile(*ready.args, **ready.kwargs))
    if ready is not None and possible["eager"] and "eager" in wanted:
        try:
            made = made.with_series([_eager(ready)])
        except TraceError as error:
            if options.eager:
                raise
            complain(f"note: without a line of eager PyTorch: {error}")
    return made


def _eager(ready: Ready) -> Series:
    """The bytes that a call of the model allocates by itself, over that call. Raises TraceError where these are none."""
    from hotdesk.frontends.torch.eager import allocations, eager_call

    call = eager_call(ready.model, ready.args, ready.kwargs)
    call()  # what PyTorch sets up once is no part of it
    return replace(_series("measured by PyTorch's profiler", allocations(call)), name="eager PyTorch")


def _series(source: str, found: Trace) -> Series:
    """The bytes in use over a trace of another tool."""
    live = found.live
    end = max((moment for moment, _ in live), default=0) or 1
    return Series(found.tool, source, tuple(moment / end for moment, _ in live), tuple(held for _, held in live))


def _tables(made: Document) -> Iterator[Any]:
    from hotdesk.report.tables import tables

    return tables(made)


def parser() -> argparse.ArgumentParser:
    made = parser_of("report", "Says what the memory of a model is made of.", EXAMPLES)
    add_reported(made)
    add_formats(made)
    made.add_argument(
        "--trace",
        action="append",
        default=[],
        metavar="FILE",
        help="a trace of another tool beside it (docs/traces.md)",
    )
    for name, text in (
        ("profile", "the time of each kernel"),
        ("eager", "what PyTorch allocates for its model by itself"),
    ):
        action = argparse.BooleanOptionalAction
        made.add_argument(f"--{name}", action=action, help=f"measure {text}; with --html as long as it can be")
    made.add_argument("--max-peak", type=bytes_of, metavar="SIZE", help="fail where the peak is above, such as 24MB")
    made.add_argument(
        "--max-growth",
        type=percent_of,
        metavar="PERCENT",
        help="fail where the peak is so much above that of --against",
    )
    made.add_argument("--against", metavar="FILE", help="a report that was saved with --json")
    return made
