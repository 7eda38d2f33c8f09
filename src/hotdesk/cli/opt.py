"""`hotdesk-opt`: runs passes on IR in text, in the manner of mlir-opt; docs/hotdesk-opt.md describes it.

    hotdesk-opt FILE --pass-pipeline='builtin.module(hotdesk-choose-destinations,canonicalize,func.func(cse))'
    hotdesk-opt - --hotdesk-choose-destinations --canonicalize="max-iterations=3" < FILE

Exit codes: 0, or 1 with a diagnostic `file:line:col: error: …` on stderr; 2 for a command line that makes no sense.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

from hotdesk import __version__
from hotdesk.cli.arguments import Options, parse_arguments
from hotdesk.cli.chunks import chunks
from hotdesk.cli.diagnostics import Input
from hotdesk.cli.files import fill, read, write
from hotdesk.cli.processing import Session, complain
from hotdesk.cli.reproducer import read_reproducer
from hotdesk.cli.steps import flag_pipeline, known_dialects, known_to_mlir
from hotdesk.errors import HotdeskError
from hotdesk.passes.registry import pass_names
from hotdesk.passes.textual import parse_pipeline


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        return _main(parse_arguments(given))
    except HotdeskError as error:
        complain(f"error: {error}")
    except UnicodeDecodeError as error:
        complain(f"error: the input is not text in UTF-8: {error}")
    except BrokenPipeError:  # who reads the output has seen enough; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        complain(f"error: {error.filename or 'input or output'}: {error.strerror or error}")
    except Exception as error:
        complain(f"error: internal error in hotdesk-opt: {type(error).__name__}: {error}")
        complain(
            "Please report it on Hotdesk's issue tracker, with the command and the input; --debug shows the traceback."
        )
    if debug:
        complain(traceback.format_exc())
    return 1


def _main(options: Options) -> int:
    if options.list_passes is not None:
        print("\n".join(_listed(options.list_passes)))
        return 0
    if options.show_dialects:
        print("Available Dialects: " + ",".join(known_dialects()))
        return 0
    if options.show_version:
        print(f"hotdesk-opt {__version__}\nMLIR of torch-mlir {version('torch-mlir')}")
        return 0
    text = read(options.file)
    if options.run_reproducer:
        found = read_reproducer(text if isinstance(text, str) else "")
        options = replace(options, pipeline=found.pipeline, verify_each=options.verify_each and found.verify_each)
    with ExitStack() as files:
        session = _session(text, options)
        if options.remark_file not in (None, "-"):
            session.remark_output = files.enter_context(Path(options.remark_file).open("w", encoding="utf-8"))
        return fill(options.output, lambda output: _process(text, session, output))


def _listed(which: str) -> list[str]:
    ours = list(pass_names()) if which != "mlir" else []
    return ours + (known_to_mlir() if which != "hotdesk" else [])


def _session(text: str | bytes, options: Options) -> Session:
    pipeline = None
    if options.pipeline is not None:
        pipeline = parse_pipeline(options.pipeline)
    elif options.implicit_module:
        pipeline = flag_pipeline(options.passes)
    file = "<stdin>" if options.file == "-" else options.file
    return Session(options, Input.of(file, text if isinstance(text, str) else ""), pipeline)


def _process(text: str | bytes, session: Session, output: TextIO) -> int:
    """Every part of the input in turn; one that fails leaves the others alone. Returns the exit code."""
    failed = False
    for number, chunk in enumerate(chunks(text, session.options.split)):
        if number:
            write(output, f"{session.options.output_marker}\n")
        printed, succeeded = session.run(chunk)
        failed |= not succeeded
        if printed is not None:
            write(output, f"{printed}\n" if isinstance(printed, str) else printed)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
