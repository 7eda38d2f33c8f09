"""`hotdesk`: the verbs of the command line.

    hotdesk plan problem.csv --capacity 1MiB

A verb is one line in `VERBS`. Its function takes the arguments behind the verb and returns an exit code; it may raise
`HotdeskError` or `OSError`, which become a line on stderr and exit code 1. Modules of verbs load when they are used.
Exit codes: 0; 1 with a diagnostic on stderr; 2 for a command line that makes no sense. A verb may define further ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from hotdesk import __version__
from hotdesk.cli.exits import complain, exit_code


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb is defined, as `module:function`, and what it does in a few words."""

    entry: str
    summary: str

    def load(self) -> Callable[[Sequence[str]], int]:
        module, _, function = self.entry.partition(":")
        return getattr(import_module(module), function)


VERBS = {
    "check": Verb("hotdesk.cli.check:main", "run a program on memrefs and report each wrong use of memory"),
    "explain": Verb("hotdesk.cli.explain:main", "say why a value of a program is copied or allocated"),
    "plan": Verb("hotdesk.cli.plan:main", "place buffers with given live ranges and sizes in one arena"),
    "profile": Verb("hotdesk.cli.profile:main", "say where the time of a model goes, kernel by kernel"),
    "run": Verb("hotdesk.cli.run:main", "run a model and print its results and the report on its memory"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        complain(_usage())
        return 2
    if given[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0
    if given[0] in ("-V", "--version"):
        print(f"hotdesk {__version__}")
        return 0
    if given[0] not in VERBS:
        near = get_close_matches(given[0], VERBS, n=1)
        complain(f"hotdesk: error: unknown verb '{given[0]}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        complain(_usage())
        return 2
    return _run(given[0], given[1:])


def _run(verb: str, arguments: Sequence[str]) -> int:
    return exit_code(f"hotdesk {verb}", lambda: VERBS[verb].load()(arguments), debug="--debug" in arguments)


def _usage() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:{width}}  {verb.summary}" for name, verb in VERBS.items()]
    return "\n".join(["usage: hotdesk VERB ...", "", *lines, "", "hotdesk VERB --help describes a verb."])


if __name__ == "__main__":
    sys.exit(main())
