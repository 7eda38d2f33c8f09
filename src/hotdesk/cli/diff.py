"""`hotdesk diff`: what a change does to memory: two models, two saved reports, or one model with other options.

    hotdesk diff main.json my_model.py:build
    hotdesk diff my_model.py:build --order-of-second peak
    hotdesk diff main.json branch.json --markdown

Exit codes: 0, whatever differs; 1 for an error; 2 for a wrong command line. `hotdesk report --max-growth` fails on growth.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from hotdesk.cli.documents import add_reported, is_saved, reported
from hotdesk.cli.exits import UsageError
from hotdesk.cli.parsers import parser_of
from hotdesk.report.diff import diff
from hotdesk.report.document import Document

EXAMPLES = ("hotdesk diff main.json branch.json --markdown", "hotdesk diff my_model.py:build --order-of-second peak")


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk diff` and returns its exit code."""
    options = parser().parse_args(arguments)
    other = {name: given for name in ("order", "budget") if (given := getattr(options, f"second_{name}")) is not None}
    if options.second is None and not other:
        expected = "a second model or report, or an option of the second, such as --order-of-second peak"
        raise UsageError("arguments of diff", expected=expected, got="one model")
    second = options.second or options.model
    if options.model == second == "-":
        raise UsageError("arguments of diff", expected="one model from stdin", got="two: it can be read once")
    names = _names(options.model, second, other)
    before = _reported(options, options.model, {})
    found = diff(before, _reported(options, second, other), names)
    if options.json:
        print(json.dumps(found.to_dict(), indent=1))
    elif options.markdown:
        print(found.markdown(), end="")
    elif sys.stdout.isatty():
        from rich.console import Console

        from hotdesk.report.tables import diff_table

        Console().print(diff_table(found))
        print("\n".join(str(found).splitlines()[1 + len(found.figures) :]))
    else:
        print(found)
    return 0


def _names(first: str, second: str, other: dict[str, str]) -> tuple[str, str]:
    options = " ".join(f"{name}={value}" for name, value in other.items())
    return first, f"{second} {options}" if options else second


def _reported(options: argparse.Namespace, model: str, other: dict[str, str]) -> Document:
    """The report of one side: options for models are no concern of a saved report beside one."""
    given = {**vars(options), "model": model, **other}
    if is_saved(model) and not (is_saved(options.model) and is_saved(options.second or options.model)):
        given.update(dict.fromkeys(("entry", "order", "budget", "inputs"), None), random_inputs=False)
        given.update(sizes={}, dim={}, **other)
    return reported(argparse.Namespace(**given))[0]


def parser() -> argparse.ArgumentParser:
    made = parser_of("diff", "Says what differs in the memory of two models or reports.", EXAMPLES)
    add_reported(made)
    made.add_argument("second", nargs="?", metavar="SECOND", help="another model or report; the same one if left out")
    for name, metavar in (("order", "ORDER"), ("budget", "SIZE")):
        text = f"--{name} of the second, if another"
        made.add_argument(f"--{name}-of-second", dest=f"second_{name}", metavar=metavar, help=text)
    made.add_argument("--markdown", action="store_true", help="as a comment for GitHub")
    made.add_argument("--json", action="store_true", help="as JSON")
    return made
