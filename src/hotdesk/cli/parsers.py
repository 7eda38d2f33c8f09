"""How verbs describe themselves: a parser of a command line whose help ends in examples."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


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
