"""`hotdesk plan`: places the buffers of a CSV file and prints the file with their offsets."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hotdesk.errors import PlanError
from hotdesk.planning import STRATEGIES, plan, read_csv, write_csv


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk plan` and returns its exit code."""
    options = _parser().parse_args(arguments)
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    try:
        problem = read_csv(text)
    except ValueError as error:
        raise PlanError(f"{options.file}: {error}") from error
    print(write_csv(problem, plan(problem, strategy=options.strategy)), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hotdesk plan", description="Places buffers in one arena.")
    parser.add_argument("file", help="CSV with the columns id,lower,upper,size; '-' reads stdin")
    parser.add_argument("--strategy", default="portfolio", choices=STRATEGIES)
    return parser
