"""`hotdesk-opt`: runs passes on IR in text, in the manner of mlir-opt; docs/hotdesk-opt.md describes it.

    hotdesk-opt FILE --pass-pipeline='builtin.module(hotdesk-choose-destinations,canonicalize,func.func(cse))'
    hotdesk-opt - --hotdesk-choose-destinations --canonicalize="max-iterations=3" < FILE

Exit codes: 0, or 1 with a diagnostic `file:line:col: error: …` on stderr; 2 for a command line that makes no sense.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version

from hotdesk import __version__
from hotdesk.cli.arguments import CommandLine, parse_arguments
from hotdesk.cli.exits import exit_code, let_interrupts_end
from hotdesk.passes.registry import pass_names


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    code = exit_code("hotdesk-opt", lambda: _main(parse_arguments(given)), debug="--debug" in given)
    if arguments is None:
        let_interrupts_end()
    return code


def _main(options: CommandLine) -> int:
    if options.list_passes:
        print("\n".join(pass_names()))
        return 0
    if options.show_version:
        print(f"hotdesk-opt {__version__}\nMLIR of torch-mlir {version('torch-mlir')}")
        return 0
    # These import MLIR, which takes longer than all that is printed without it.
    from hotdesk.cli.pipelines import dialects
    from hotdesk.cli.session import transform

    if options.show_dialects:
        print("Available Dialects: " + ",".join(dialects()))
        return 0
    return transform(options)


if __name__ == "__main__":
    sys.exit(main())
