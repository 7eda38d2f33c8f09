# PYTHON_ARGCOMPLETE_OK
"""`hotdesk`: the verbs of the command line.

    hotdesk plan problem.csv --capacity 1MiB

A verb is one line in `VERBS`. Its function takes the arguments behind the verb and returns an exit code; it may raise
`HotdeskError` or `OSError`, which become a line on stderr and exit code 1 (`exits.py`). Its module also has `parser`, which makes
its parser, and `EXAMPLES` for its help. Modules of verbs load when they are used. In a shell's start file,
`eval "$(register-python-argcomplete hotdesk)"` completes verbs, options and files.
Exit codes of every verb: 0; 1 where something was found or failed, with a diagnostic on stderr; 2 for a command line that makes
no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from hotdesk import __version__
from hotdesk.cli.exits import complain, exit_code, let_interrupts_end


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb is defined, as `module:function`, and what it does in a few words."""

    entry: str
    summary: str

    def load(self) -> Callable[[Sequence[str]], int]:
        module, _, function = self.entry.partition(":")
        return getattr(import_module(module), function)

    def parser(self) -> argparse.ArgumentParser:
        """The parser of its command line."""
        return import_module(self.entry.partition(":")[0]).parser()


VERBS = {
    "check": Verb("hotdesk.cli.check:main", "run a program on memrefs and report each wrong use of memory"),
    "diff": Verb("hotdesk.cli.diff:main", "say what differs in the memory of two models or reports"),
    "doctor": Verb("hotdesk.cli.doctor:main", "say what is found on this machine"),
    "explain": Verb("hotdesk.cli.explain:main", "say why memory is as it is, and what would free it"),
    "export-c": Verb("hotdesk.cli.export_c:main", "write a model of fixed sizes as C, for programs without Python"),
    "list-passes": Verb("hotdesk.cli.list_passes:main", "list the passes"),
    "plan": Verb("hotdesk.cli.plan:main", "place buffers with given live ranges and sizes in one arena"),
    "profile": Verb("hotdesk.cli.profile:main", "say where the time of a model goes, kernel by kernel"),
    "report": Verb("hotdesk.cli.report:main", "say what the memory of a model is made of, with limits for CI"),
    "run": Verb("hotdesk.cli.run:main", "run a model and print its results and the report on its memory"),
    "tradeoff": Verb("hotdesk.cli.tradeoff:main", "draw bytes against milliseconds and against work done twice"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    if "_ARGCOMPLETE" in os.environ:
        complete()
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
    code = _run(given[0], given[1:])
    if arguments is None:
        let_interrupts_end()
    return code


def complete() -> None:
    """Answers a shell that asks how its command line may go on, and ends the process. Only the parser of its verb is loaded."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()
    verb = next((word for word in words[1:] if word in VERBS), None)
    whole = argparse.ArgumentParser(prog="hotdesk")
    verbs = whole.add_subparsers()
    for name, each in VERBS.items():
        parents = [each.parser()] if name == verb else []
        verbs.add_parser(name, parents=parents, add_help=not parents)
    argcomplete.autocomplete(whole)


def _run(verb: str, arguments: Sequence[str]) -> int:
    return exit_code(f"hotdesk {verb}", lambda: VERBS[verb].load()(arguments), debug="--debug" in arguments)


def _usage() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:{width}}  {verb.summary}" for name, verb in VERBS.items()]
    return "\n".join(["usage: hotdesk VERB ...", "", *lines, "", "hotdesk VERB --help describes a verb."])


if __name__ == "__main__":
    sys.exit(main())
