"""Parsers of verbs, whose help ends in examples, and of amounts on a command line: bytes, percentages, seconds and counts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hotdesk.planning.problem.numbers import parse_bytes


def parser_of(verb: str, description: str, examples: Sequence[str], notes: str = "") -> argparse.ArgumentParser:
    """A parser for `hotdesk VERB`. `examples` are whole command lines; `notes` stand behind them."""
    lines = ["examples:", *(f"  {each}" for each in examples), *(["", notes] if notes else [])]
    made = argparse.ArgumentParser(
        prog=f"hotdesk {verb}",
        description=description,
        epilog="\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--debug", action="store_true", help="show the traceback of an internal error")
    return made


def bytes_of(text: str) -> int:
    """Bytes, such as 24MB or 24MiB."""
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def percent_of(text: str) -> float:
    """A percentage, with or without its sign."""
    return _positive(text.removesuffix("%"), f"a percentage such as 1%, got {text!r}")


def seconds_of(text: str) -> float:
    """Seconds, 0 or more."""
    return _positive(text, f"a number of seconds, 0 or more, got {text!r}")


def count_of(text: str) -> int:
    """A number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
    return int(text)


def _positive(text: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected {expected}")
    return value
