"""The report that a command line names: of a model, which is compiled, or one that was saved as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hotdesk.cli.exits import UsageError
from hotdesk.cli.inputs import Ready, add_model, ready
from hotdesk.cli.models import states_its_types
from hotdesk.report.document import Document


def add_reported(parser: argparse.ArgumentParser) -> None:
    """Adds a model, or a saved report, to a command line."""
    add_model(parser)
    action = next(each for each in parser._actions if each.dest == "model")  # pyright: ignore[reportPrivateUsage]
    action.help = f"{action.help}; FILE.json is a report that was saved"


def is_saved(text: str) -> bool:
    """Whether a model is the name of a saved report."""
    return text.endswith(".json")


def read_document(path: str) -> Document:
    """A saved report; `-` is stdin. Raises ReportError and OSError."""
    text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    return Document.from_json(text, "<stdin>" if path == "-" else path)


def reported(options: argparse.Namespace, text: str = "") -> tuple[Document, Ready | None]:
    """The report, and the program where it is not a saved one. `text` is the program of stdin, if it was read already.

    Raises:
        HotdeskError: the model does not compile, the file is no report, or options do not go with it (UsageError).
    """
    if is_saved(options.model):
        for name in ("entry", "random_inputs", "sizes", "inputs", "order", "budget", "dim"):
            if getattr(options, name):
                option = f"option '--{name.replace('_', '-')}'"
                raise UsageError(option, expected="a model", got=f"{options.model}, a report that was saved")
        return read_document(options.model), None
    if (states_its_types(options.model) or options.model == "-") and not options.inputs:
        options.random_inputs = True  # memory follows from sizes alone
    made = ready(options, text)
    return made.program.document(*made.args, **made.kwargs), made
