"""`hotdesk tradeoff`: bytes against milliseconds and against work done twice, for budgets, orders, and others that run the model.

    hotdesk tradeoff my_model.py:build
    hotdesk tradeoff in.mlir --budgets 24MiB,12MiB --html tradeoff.html
    hotdesk tradeoff model.onnx --dim batch=8

Prints a table of the ways, each with the command line that gives it. Searches are kept in the cache on disk: an interrupted one
goes on where it was. Exit codes: 0; 1 for any error; 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from hotdesk.cli.exits import UsageError, usage
from hotdesk.cli.formats import Formats, add_formats, require_formats
from hotdesk.cli.inputs import (
    add_dims,
    add_model_alone,
    add_random,
    dims_by_option,
    given_dims,
    random_arguments,
    refuse_given,
    spelled_dims,
)
from hotdesk.cli.models import read_model, states_its_types
from hotdesk.cli.parsers import bytes_of, count_of, parser_of, seconds_of
from hotdesk.cli.progress import shown_progress
from hotdesk.comparing.others import OTHERS
from hotdesk.comparing.tradeoff import tradeoff
from hotdesk.report.tradeoff import Tradeoff, command_line
from hotdesk.report.tradeoff_page import tradeoff_page, tradeoff_png, tradeoff_svg

EXAMPLES = (
    "hotdesk tradeoff my_model.py:build --beside eager,onnxruntime",
    "hotdesk tradeoff in.mlir --budgets 24MiB,12MiB --html tradeoff.html",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk tradeoff` and returns its exit code."""
    options = parser().parse_args(arguments)
    require_formats(options)
    with shown_progress() as progress:
        settings: dict[str, Any] = {
            "budgets": options.budgets,
            "most": options.most,
            "beside": options.beside,
            "seconds": options.seconds,
            "progress": progress,
        }
        if states_its_types(options.model) or options.model == "-":
            with usage("entry"), dims_by_option():
                made = _of_file(options, settings)
        else:
            made = _of_pytorch(options, settings)
    drawn = partial(tradeoff_page, made, options.model), partial(tradeoff_svg, made), partial(tradeoff_png, made)
    Formats(made.__str__, made.to_json, *drawn, partial(_tables, made)).write(options)
    return 0


def _of_file(options: argparse.Namespace, settings: dict[str, Any]) -> Tradeoff:
    """Of a program whose types say all, with random arguments."""
    if options.model.endswith(".hotdesk"):
        got = f"{options.model}, which is compiled already"
        raise UsageError("model", expected="one that can be compiled in several ways", got=got)
    dims = given_dims(options)
    model = sys.stdin.read() if options.model == "-" else options.model
    sizes = ",".join(f"{name}={size}" for name, size in options.sizes.items())
    given = {"entry": options.entry, "dim": spelled_dims(options.dim)}
    given |= {"sizes": sizes, "random-inputs": not sizes, "seed": options.seed}
    return tradeoff(
        model,
        lambda inputs: random_arguments(inputs, options.sizes, options.seed),
        dynamic_shapes=dims,
        entry=options.entry,
        command=command_line("run", options.model, given),
        **settings,
    )


def _of_pytorch(options: argparse.Namespace, settings: dict[str, Any]) -> Tradeoff:
    for name in ("entry", "dim", "sizes"):
        refuse_given(options, name)
    given = read_model(options.model)
    command = command_line("run", options.model, {})
    return tradeoff(given.model, given.args, given.kwargs, command=command, **settings)


def _tables(made: Tradeoff) -> Iterator[Any]:
    from hotdesk.report.tables import tradeoff_table

    return tradeoff_table(made)


def _budgets(text: str) -> list[int]:
    return [bytes_of(each) for each in text.split(",")]


def _others(text: str) -> list[str]:
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in OTHERS:
            raise argparse.ArgumentTypeError(f"expected none, or some of {','.join(OTHERS)}, got {text!r}")
    return names


def parser() -> argparse.ArgumentParser:
    made = parser_of("tradeoff", "Draws bytes against milliseconds and against work done twice.", EXAMPLES)
    add_model_alone(made)
    add_dims(made)
    add_random(made)
    add = made.add_argument
    add("--entry", metavar="NAME", help="the function of a program in MLIR: the only public one, or main")
    which = made.add_mutually_exclusive_group()
    text = "budgets to look for, such as 24MiB,12MiB; by default the peak and part by part below it"
    which.add_argument("--budgets", type=_budgets, metavar="SIZE,…", help=text)
    which.add_argument(
        "--most", type=count_of, default=8, metavar="N", help="how many budgets are looked for at most (8)"
    )
    text = f"who is measured besides: some of {','.join(OTHERS)}, or none (all)"
    add("--beside", type=_others, default=list(OTHERS), metavar="NAME,…", help=text)
    text = "for the time of calls, of all together (10); 0 measures no time, and nobody else"
    add("--seconds", type=seconds_of, default=10.0, metavar="S", help=text)
    add_formats(made)
    return made
