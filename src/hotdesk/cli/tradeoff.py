"""`hotdesk tradeoff`: bytes against milliseconds and against work done twice, for budgets, orders, and others that run the model.

    hotdesk tradeoff my_model.py:build
    hotdesk tradeoff model.onnx --sizes batch=8 --budgets 24MiB,12MiB --html tradeoff.html

Prints a table of the ways, each with the command line that gives it. Searches are kept in the cache on disk: an interrupted one
goes on where it was. Exit codes: 0; 1 for any error; 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hotdesk.beside import OTHERS
from hotdesk.cli.exits import UsageError, usage
from hotdesk.cli.inputs import add_model_alone, add_random, random_arguments
from hotdesk.cli.models import read_model, states_its_types
from hotdesk.cli.parsers import parser_of
from hotdesk.cli.progress import shown_progress
from hotdesk.planning.problem.numbers import parse_bytes
from hotdesk.report.tradeoff import Tradeoff, command_line
from hotdesk.tradeoffs import tradeoff

EXAMPLES = (
    "hotdesk tradeoff my_model.py:build --beside eager,onnxruntime",
    "hotdesk tradeoff model.onnx --sizes batch=8 --budgets 24MiB,12MiB --html tradeoff.html",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk tradeoff` and returns its exit code."""
    options = parser().parse_args(arguments)
    with shown_progress() as progress:
        settings: dict[str, Any] = {
            "budgets": options.budgets,
            "most": options.most,
            "beside": options.beside,
            "seconds": options.seconds,
            "progress": progress,
        }
        if states_its_types(options.model) or options.model == "-":
            with usage("entry"):
                made = _of_file(options, settings)
        else:
            made = _of_pytorch(options, settings)
    _write(made, options)
    return 0


def _of_file(options: argparse.Namespace, settings: dict[str, Any]) -> Tradeoff:
    """Of a program whose types say all, with random arguments."""
    if options.model.endswith(".hotdesk"):
        got = f"{options.model}, which is compiled already"
        raise UsageError("model", expected="one that can be compiled in several ways", got=got)
    model = sys.stdin.read() if options.model == "-" else options.model
    sizes = ",".join(f"{name}={size}" for name, size in options.sizes.items())
    given = {"entry": options.entry, "sizes": sizes, "random-inputs": not sizes}
    return tradeoff(
        model,
        lambda inputs: random_arguments(inputs, options.sizes, options.seed),
        entry=options.entry,
        command=command_line("run", options.model, given),
        **settings,
    )


def _of_pytorch(options: argparse.Namespace, settings: dict[str, Any]) -> Tradeoff:
    for name in ("entry", "sizes"):
        if getattr(options, name):
            expected = "a program in MLIR or an ONNX model: a PyTorch model has its examples"
            raise UsageError(f"option '--{name}'", expected=expected, got=options.model)
    given = read_model(options.model)
    command = command_line("run", options.model, {})
    return tradeoff(given.model, given.args, given.kwargs, command=command, **settings)


def _write(made: Tradeoff, options: argparse.Namespace) -> None:
    if options.json:
        _put(options.json, made.to_json())
    if options.html or options.svg or options.png:
        from hotdesk.report.tradeoff_page import tradeoff_page, tradeoff_png, tradeoff_svg

        if options.html:
            _put(options.html, tradeoff_page(made, options.model))
        if options.svg:
            _put(options.svg, tradeoff_svg(made))
        if options.png:
            Path(options.png).write_bytes(tradeoff_png(made))
    if options.json or options.html or options.svg or options.png:
        return
    if not sys.stdout.isatty():
        print(made)
        return
    from rich.console import Console

    from hotdesk.report.tables import tradeoff_table

    console = Console()
    for each in tradeoff_table(made):
        console.print(each)


def _put(path: str, text: str) -> None:
    if path == "-":
        print(text, end="")
    else:
        Path(path).write_text(text, encoding="utf-8")


def _budgets(text: str) -> list[int]:
    try:
        return [parse_bytes(each) for each in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _others(text: str) -> list[str]:
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in OTHERS:
            raise argparse.ArgumentTypeError(f"expected none, or some of {','.join(OTHERS)}, got {text!r}")
    return names


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, 0 or more, got {text!r}")
    return seconds


def parser() -> argparse.ArgumentParser:
    made = parser_of("tradeoff", "Draws bytes against milliseconds and against work done twice.", EXAMPLES)
    add_model_alone(made)
    add_random(made)
    add = made.add_argument
    add("--entry", metavar="NAME", help="the function of a program in MLIR: the only public one, or main")
    which = made.add_mutually_exclusive_group()
    text = "budgets to look for, such as 24MiB,12MiB; by default the peak and part by part below it"
    which.add_argument("--budgets", type=_budgets, metavar="SIZE,…", help=text)
    which.add_argument(
        "--most", type=_count, default=8, metavar="N", help="how many budgets are looked for at most (8)"
    )
    text = f"who is measured besides: some of {','.join(OTHERS)}, or none (all)"
    add("--beside", type=_others, default=list(OTHERS), metavar="NAME,…", help=text)
    text = "for the time of calls, of all together (10); 0 measures no time, and nobody else"
    add("--seconds", type=_seconds, default=10.0, metavar="S", help=text)
    add("--json", nargs="?", const="-", metavar="FILE", help="the whole record; without FILE on stdout")
    add("--html", metavar="FILE", help="a page that needs no network (extra 'report')")
    add("--svg", metavar="FILE", help="the charts as a picture")
    add("--png", metavar="FILE", help="the charts as a picture")
    return made
