"""Where IR text defines a value: parsing forgets the names, so they are looked up in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hotdesk.explain.answers import Spot

_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?\s*,\s*)*%[\w$.-]+(?::\d+)?)\s*=\s*")
_ARGUMENT = re.compile(r"%([\w$.-]+)\s*(?:=\s*%[\w$.#-]+|:)")
_FUNCTION = re.compile(r"\bfunc\.func\b[^@]*@([\w$.-]+)")


def definitions(lines: Sequence[str], name: str, file: str) -> list[tuple[Spot, str]]:
    """The places where values of that name are defined, each with the function around it.

    A result is where its op's name is, an argument where its own name is; what a loop carries has only a line.
    """
    wanted, _, number = name.lstrip("%").partition("#")
    found: list[tuple[Spot, str]] = []
    function = ""
    for line_number, line in enumerate(lines, 1):
        text = line.partition("//")[0]
        around = _FUNCTION.search(text)
        function = around[1] if around is not None else function
        results = _RESULTS.match(text)
        start = results.end() if results is not None else 0
        if results is not None and wanted in (counts := _counts(results[1])):
            if not number or (number.isdigit() and int(number) < counts[wanted]):
                found.append((Spot(file, line_number, start + 1), function))
            continue
        for argument in _ARGUMENT.finditer(text, start):
            carried = "=" in argument[0]
            if (
                argument[1] == wanted
                and not number
                and (carried or text[: argument.start()].rstrip()[-1:] in ("(", ","))
            ):
                found.append((Spot(file, line_number, 0 if carried else argument.start() + 1), function))
    return found


def all_names(lines: Sequence[str]) -> list[str]:
    """Every name of a value that the text has, once, with its percent sign."""
    found = (name for line in lines for name in re.findall(r"%[\w$.-]+", line.partition("//")[0]))
    return list(dict.fromkeys(found))


def _counts(results: str) -> dict[str, int]:
    """How many results each name stands for."""
    parts = [each.strip().lstrip("%").partition(":") for each in results.split(",")]
    return {name: int(count or 1) for name, _, count in parts}
