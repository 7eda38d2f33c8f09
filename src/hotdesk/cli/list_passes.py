"""`hotdesk list-passes`: the passes by name, each with what it does in a sentence.

hotdesk list-passes
hotdesk list-passes buffer
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hotdesk.cli.parsers import parser_of
from hotdesk.errors import OptionError
from hotdesk.passes.manual import manual
from hotdesk.passes.registry import pass_names

EXAMPLES = ("hotdesk list-passes", "hotdesk list-passes buffer")


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk list-passes` and returns its exit code."""
    options = parser().parse_args(arguments)
    names = [name for name in pass_names() if options.part in name]
    if not names:
        raise OptionError("part of a name", expected="one that some pass has", got=repr(options.part))
    width = max(map(len, names))
    for name in names:
        print(f"{name:{width}}  {manual(name).summary}")
    return 0


def parser() -> argparse.ArgumentParser:
    made = parser_of("list-passes", "Lists the passes; hotdesk-opt runs them, docs/passes explains them.", EXAMPLES)
    made.add_argument("part", nargs="?", default="", metavar="PART", help="only passes with this in their name")
    return made
