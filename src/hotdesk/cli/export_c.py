"""`hotdesk export-c`: writes a model of fixed sizes as C: a header, sources, kernels of a target, weights and a CMake file.

    hotdesk export-c my_model.py:build -o exported --name net
    hotdesk export-c model.onnx --sizes batch=1 -o exported --target aarch64

Prints the files with their bytes, and the bytes of the arena. docs/export-c.md describes the files.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hotdesk.cli.exits import UsageError, usage
from hotdesk.cli.inputs import add_compiling, compiled, require_sizes, sizes_of
from hotdesk.cli.models import FORMS
from hotdesk.cli.parsers import parser_of
from hotdesk.cli.progress import shown_progress
from hotdesk.errors import OptionError
from hotdesk.runtime.code.targets import TARGETS
from hotdesk.runtime.program import Program

EXAMPLES = (
    "hotdesk export-c my_model.py:build -o exported --name net",
    "hotdesk export-c model.onnx --sizes batch=1 -o exported --target aarch64",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk export-c` and returns its exit code. Raises NotSavableError for what cannot be C, and OSError."""
    from hotdesk.export_c import require_names

    options = parser().parse_args(arguments)
    with usage():
        require_names(options.target, options.name)
    with shown_progress():
        program = _compiled(options)
    files = program.export_c(options.output, target=options.target, name=options.name)
    width = max(len(str(file)) for file in files)
    for file in files:
        print(f"{file!s:{width}}  {file.stat().st_size:,} bytes")
    print(f"{TARGETS[options.target].triple}, a static arena of {program.memory().arena:,} bytes")
    return 0


def _compiled(options: argparse.Namespace) -> Program:
    """The model, compiled for the sizes of its examples, or those that are given. Raises UsageError where one is missing."""
    if not options.model.endswith(".onnx"):
        if options.sizes:
            expected = "an ONNX model: others have the sizes of their examples, or of their types"
            raise UsageError("option '--sizes'", expected=expected, got=options.model)
        return compiled(options)
    try:
        program = compiled(options, options.sizes)
    except OptionError as error:
        if error.what != "argument 'dynamic_shapes'":
            raise
        raise UsageError("option '--sizes'", expected=error.expected, got=error.got) from error
    require_sizes(program.inputs, {})
    return program


def parser() -> argparse.ArgumentParser:
    made = parser_of(
        "export-c", "Writes a model of fixed sizes as C, for programs without Python (extra 'aot').", EXAMPLES
    )
    made.add_argument("model", metavar="MODEL", help=f"{FORMS}; or FILE.mlir or FILE.onnx; - reads MLIR from stdin")
    made.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="made if it is not there; files of these names are replaced",
    )
    made.add_argument(
        "--target", choices=tuple(TARGETS), default="x86-64", help="what kernels are generated for (x86-64)"
    )
    made.add_argument("--name", default="model", help="what files and functions begin with (model)")
    made.add_argument(
        "--sizes", type=sizes_of, default={}, metavar="NAME=N,…", help="sizes that an ONNX model names, such as batch=1"
    )
    add_compiling(made)
    return made
