"""`hotdesk check`: runs a program on memrefs, or a model as it is compiled, under the memory checker.

    hotdesk check model.mlir --function main --sizes 8,3
    model.mlir:7:3: error: use after free: reads memref<4xf32> after it was freed
    hotdesk check model.onnx --sizes batch=2

Exit codes: 0 for a program without faults; 1 with a diagnostic for each fault, or where it could not be checked; 2 for a wrong
command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hotdesk._bindings import ir
from hotdesk.checker import CheckReport, Fault, Settings, check_module
from hotdesk.cli.diagnostics import Diagnostic, Input
from hotdesk.cli.exits import UsageError, of_the_system, require_unused
from hotdesk.cli.inputs import add_ways, ready, sizes_of
from hotdesk.cli.models import FORMS, states_its_types
from hotdesk.cli.parsers import parser_of
from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.ir.functions import named_functions
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_tensor
from hotdesk.models.files import load_models

_OF_MEMREFS = (
    *("read_only_arguments", "no_leaks", "carry_undefined", "arenas", "steps"),
    *("allow_unregistered_dialect", "load_models"),
)
_OF_MODELS = ("order", "budget", "dim")
"""Options for programs on memrefs, and for models."""


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk check` and returns its exit code."""
    options = parser().parse_args(arguments)
    if options.file.endswith((".pt2", ".onnx", ".py")) or ".py:" in options.file:
        return _check_model(options)
    if options.file.endswith((".hotdesk", ".json")):
        got = f"{options.file}, which holds no IR"
        raise UsageError("model", expected="MLIR, or a model that is to be compiled", got=got)
    file = "<stdin>" if options.file == "-" else options.file
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
        return _check(options, Input.of(file, text), text)
    except OSError as error:
        print(f"error: {of_the_system(error)}", file=sys.stderr)
    except UnicodeDecodeError as error:
        print(f"error: {file} is not text in UTF-8: {error}", file=sys.stderr)
    return 1


def _check_model(options: argparse.Namespace, text: str = "") -> int:
    """A model, compiled, under the checker: the IR on memrefs with each buffer where the plan has put it."""
    expected = "a program on memrefs in MLIR: a model is checked as it is compiled"
    require_unused(parser(), options, _OF_MEMREFS, options.file, expected)
    is_random = states_its_types(options.file) or options.file == "-"
    if not is_random:
        require_unused(parser(), options, ("function",), options.file, "a program in MLIR")
    sizes: list[int] | dict[str, int] = options.sizes or {}
    given = {**vars(options), "model": options.file, "entry": options.function, "sizes": sizes}
    made = ready(argparse.Namespace(**given, inputs=None, random_inputs=is_random), text)
    return _tell(made.program.check(*made.args, **made.kwargs), Input.of(options.file, text), options.quiet)


def _check(options: argparse.Namespace, source: Input, text: str) -> int:
    context = make_context()
    context.allow_unregistered_dialects = options.allow_unregistered_dialect
    settings = Settings(
        deallocated=not options.no_leaks,
        undefined="carry" if options.carry_undefined else "refuse",
        arenas=options.arenas,
        steps=options.steps,
    )
    try:
        for models in options.load_models:
            load_models(models)
        with context, ir.Location.unknown():
            try:
                module = ir.Module.parse(text)
            except ir.MLIRError as error:
                for found in error.error_diagnostics:
                    _show(source, source.of_mlir(found))
                return 1
            if _is_on_tensors(module):
                return _check_model(options, text)
            _require_memrefs(options)
            report = check_module(
                module,
                options.function,
                sizes=options.sizes,
                seed=options.seed,
                read_only=options.read_only_arguments,
                settings=settings,
            )
    except UsageError:
        raise
    except HotdeskError as error:
        _show(source, source.of_error(error))
        return 1
    return _tell(report, source, options.quiet)


def _is_on_tensors(module: ir.Module) -> bool:
    """Whether a function takes or returns tensors: nobody has said yet where in memory they are."""
    functions = named_functions(module).values()
    return any(is_tensor(each) for function in functions for each in signature(function).types)


def _require_memrefs(options: argparse.Namespace) -> None:
    """Raises UsageError for options of models."""
    require_unused(parser(), options, _OF_MODELS, options.file, "a model: a program on memrefs is checked as it stands")
    if isinstance(options.sizes, dict):
        raise UsageError("option '--sizes'", expected="numbers, such as 8,3: names are for models", got="names")


def _tell(report: CheckReport, source: Input, quiet: bool) -> int:
    for fault in report.faults:
        _show(source, _diagnostic(fault, source))
    if report.stopped:
        print("the run ended at the last fault; what comes behind it was not checked", file=sys.stderr)
    if report.clean and not quiet:
        print(f"{source.file}: {report}")
    return 0 if report.clean else 1


def _diagnostic(fault: Fault, source: Input) -> Diagnostic:
    notes = tuple(Diagnostic("note", source.at(at.location), text) for at, text in fault.notes())
    times = f" ({fault.times} times)" if fault.times > 1 else ""
    return Diagnostic("error", source.at(fault.at.location), f"{fault.kind.value}: {fault.message}{times}", notes)


def _show(source: Input, diagnostic: Diagnostic) -> None:
    print(source.show(diagnostic), file=sys.stderr)


def _sizes(text: str) -> list[int] | dict[str, int]:
    if "=" in text:
        return sizes_of(text)
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected whole numbers with commas between them, got '{text}'") from None


EXAMPLES = ("hotdesk check memrefs.mlir --function main --sizes 8,3", "hotdesk check my_model.py:build")


def parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "check",
        "Runs a program with random arguments, or a model with its examples, and reports each wrong use of memory.",
        EXAMPLES,
        "Exit codes: 0 no faults; 1 faults, or a program that could not be checked; 2 a wrong command line.",
    )
    parser.add_argument("file", help=f"MLIR text; '-' reads stdin; or a model: {FORMS}, or FILE.onnx")
    parser.add_argument(
        "--function", metavar="NAME", help="which function to call (main, or the only one that is not private)"
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=[],
        metavar="N,N,…",
        help="integers among the arguments, and their dynamic sizes where these do not follow from others, in order; "
        "--sizes=-3 where the first one is negative; of a model by name too, such as batch=2",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for the random values of the arguments (0)")
    parser.add_argument(
        "--read-only-arguments",
        action="store_true",
        help="arguments may only be read, but for results and donated ones",
    )
    parser.add_argument(
        "--no-leaks", action="store_true", help="the program is not deallocated yet: no leaks, results may be anybody's"
    )
    parser.add_argument(
        "--carry-undefined", action="store_true", help="allow computing with memory that nobody wrote, and returning it"
    )
    parser.add_argument(
        "--arenas",
        action="store_true",
        help="each memref.view of bytes on the heap is a buffer of its own, as in an arena",
    )
    parser.add_argument("--steps", type=int, default=Settings().steps, metavar="N", help="blocks that may run at most")
    parser.add_argument("--allow-unregistered-dialect", action="store_true", help="for IR with ops that are never run")
    parser.add_argument(
        "--load-models", action="append", default=[], metavar="FILE", help="a Python file with models of ops"
    )
    add_ways(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing of a program without faults")
    return parser
