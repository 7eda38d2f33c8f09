"""`hotdesk report`: what a model's memory is made of, as text, JSON, a page or a picture; with limits for CI.

    hotdesk report my_model.py:build
    hotdesk report model.onnx --sizes batch=8 --html report.html
    hotdesk report my_model.py:build --max-growth 1% --against main.json

On a terminal tables, in a pipe the twenty lines of `program.report()`. All formats are made of one record, which `--json` writes.
Exit codes: 0; 1 where a limit is broken, with the buffers that did it, or for any error; 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hotdesk.cli.documents import add_reported, bytes_of, percent_of, read_document, reported
from hotdesk.cli.parsers import parser_of
from hotdesk.errors import OptionError
from hotdesk.report.document import Document, Series
from hotdesk.report.limits import require_growth, require_peak

EXAMPLES = (
    "hotdesk report my_model.py:build --max-peak 24MB",
    "hotdesk report my_model.py:build --html report.html --profile",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk report` and returns its exit code. Raises PeakError where a limit is broken."""
    options = parser().parse_args(arguments)
    if (options.max_growth is None) != (options.against is None):
        raise OptionError("option '--max-growth'", expected="both --max-growth and --against", got="one of them")
    made, ready = reported(options)
    if options.profile:
        if ready is None:
            raise OptionError("option '--profile'", expected="a model", got="a report that was saved")
        made = made.with_profile(ready.program.profile(*ready.args, **ready.kwargs))
    made = made.with_series(map(_series, options.trace))
    _write(made, options)
    if options.max_peak is not None:
        require_peak(made, options.max_peak)
    if options.max_growth is not None:
        require_growth(made, read_document(options.against), options.max_growth)
    return 0


def _series(path: str) -> Series:
    """The bytes in use over a trace of another tool. Raises TraceError and OSError."""
    from hotdesk.traces.reading import load_trace

    found = load_trace(Path(path))
    live = found.live
    end = max((moment for moment, _ in live), default=0) or 1
    return Series(found.tool, path, tuple(moment / end for moment, _ in live), tuple(held for _, held in live))


def _write(made: Document, options: argparse.Namespace) -> None:
    if options.json:
        _put(options.json, made.to_json())
    if options.html or options.svg or options.png:
        from hotdesk.report.page import page, png, svg

        if options.html:
            _put(options.html, page(made, options.model))
        if options.svg:
            _put(options.svg, svg(made))
        if options.png:
            Path(options.png).write_bytes(png(made))
    if not (options.json or options.html or options.svg or options.png):
        show(made)


def show(made: Document) -> None:
    """The report on stdout: tables on a terminal, text in a pipe."""
    if not sys.stdout.isatty():
        print(made)
        return
    from rich.console import Console

    from hotdesk.report.tables import tables

    console = Console()
    for each in tables(made):
        console.print(each)


def _put(path: str, text: str) -> None:
    if path == "-":
        print(text, end="")
    else:
        Path(path).write_text(text, encoding="utf-8")


def parser() -> argparse.ArgumentParser:
    made = parser_of("report", "Says what the memory of a model is made of.", EXAMPLES)
    add_reported(made)
    made.add_argument("--json", nargs="?", const="-", metavar="FILE", help="the whole record; without FILE on stdout")
    made.add_argument("--html", metavar="FILE", help="a page that needs no network (extra 'report')")
    made.add_argument("--svg", metavar="FILE", help="the charts as a picture")
    made.add_argument("--png", metavar="FILE", help="the charts as a picture")
    made.add_argument(
        "--trace",
        action="append",
        default=[],
        metavar="FILE",
        help="a trace of another tool beside it (docs/traces.md)",
    )
    made.add_argument("--profile", action="store_true", help="also measure the time of each kernel")
    made.add_argument("--max-peak", type=bytes_of, metavar="SIZE", help="fail where the peak is above, such as 24MB")
    made.add_argument(
        "--max-growth",
        type=percent_of,
        metavar="PERCENT",
        help="fail where the peak is so much above that of --against",
    )
    made.add_argument("--against", metavar="FILE", help="a report that was saved with --json")
    return made
