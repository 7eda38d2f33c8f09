"""`hotdesk profile`: where the time of a model goes, kernel by kernel.

    hotdesk profile model.pt2
    hotdesk profile my_model.py:build --top 5
    hotdesk profile model.mlir --sizes n=1000

Compiles the model, runs it on its example arguments, or on random ones where it is in MLIR, and prints for each kernel its
time, calls, operations and bytes a second, the share of what the machine could do, and the line in Python. docs/profile.md
explains the figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from hotdesk.cli.inputs import add_model, ready
from hotdesk.cli.parsers import count_of, parser_of
from hotdesk.report.profile import render_profile


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk profile` and returns its exit code."""
    options = parser().parse_args(arguments)
    made = ready(options)
    profile = made.program.profile(*made.args, **made.kwargs)
    print(json.dumps(profile.to_dict(), indent=1) if options.json else render_profile(profile, options.top or None))
    return 0


EXAMPLES = ("hotdesk profile model.pt2", "hotdesk profile my_model.py:build --top 5")


def parser() -> argparse.ArgumentParser:
    parser = parser_of("profile", "Says where the time of a model goes.", EXAMPLES)
    add_model(parser)
    parser.add_argument(
        "--top", type=count_of, default=20, metavar="N", help="the slowest kernels to show (20); 0 for all"
    )
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    return parser
