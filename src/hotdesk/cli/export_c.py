"""`hotdesk export-c`: writes a model of fixed sizes as C: a header, sources, kernels of a target, weights and a CMake file.

    hotdesk export-c my_model.py:build -o exported --name net
    hotdesk export-c model.onnx --dim batch=1 -o exported --target aarch64

Prints the files with their bytes, and the bytes of the arena. docs/export-c.md describes the files.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hotdesk.cli.exits import UsageError, usage
from hotdesk.cli.inputs import add_compiling, compiled, named_sizes, spelled_dims
from hotdesk.cli.models import FORMS
from hotdesk.cli.parsers import parser_of
from hotdesk.cli.progress import shown_progress
from hotdesk.runtime.code.targets import TARGETS
from hotdesk.runtime.program import Program

EXAMPLES = (
    "hotdesk export-c my_model.py:build -o exported --name net",
    "hotdesk export-c model.onnx --dim batch=1 -o exported --target aarch64",
)


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk export-c` and returns its exit code. Raises NotSavableError for what cannot be C, and OSError."""
    from hotdesk.saved.export_c import require_names

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
    """The model, compiled. Raises UsageError where a size is left open that an ONNX model names."""
    program = compiled(options)
    if options.model.endswith(".onnx"):
        left = named_sizes(program.inputs)
        if left:
            hint = f"Write --dim {spelled_dims({**options.dim, **dict.fromkeys(left, 1)})}."
            expected = f"a number for each of {', '.join(left)}"
            raise UsageError("option '--dim'", expected=expected, got="sizes that vary", hint=hint)
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
    add_compiling(made)
    return made
