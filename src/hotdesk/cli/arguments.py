"""The command line of `hotdesk-opt`, read as mlir-opt reads its own.

Options may begin with one dash or two, a switch may be given a value (`--mlir-timing=false`), and every pass, Hotdesk's or
MLIR's, is a flag that may carry its options: `--canonicalize="max-iterations=3 top-down=false"`.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.cli.exits import UsageError
from hotdesk.cli.files import MARKER
from hotdesk.cli.printing import DumpOptions, PrintOptions
from hotdesk.errors import HotdeskError
from hotdesk.explain.remarks import FORMATS, RemarkFilter
from hotdesk.passes.manual import manual
from hotdesk.passes.registry import pass_names

ALIASES = {"hotdesk-test-inplace": "hotdesk-annotate-in-place"}

_SWITCHES = {
    "allow-unregistered-dialect": "accept operations of dialects nobody registered",
    "no-implicit-module": "take the one operation of the input as it is, with no builtin.module around it",
    "dump-pass-pipeline": "print the pipeline to stderr, as text that can be given back, before it runs",
    "print-decisions": "print each decision on a line to stderr",
    "mlir-timing": "print a table of the seconds each pass takes to stderr",
    "mlir-disable-threading": "accepted for mlir-opt's sake: hotdesk-opt runs on one thread",
    "mlir-print-op-generic": "print operations in their generic form",
    "mlir-print-debuginfo": "print locations",
    "mlir-print-local-scope": "print attributes, types and locations in place, without aliases",
    "mlir-print-ir-before-all": "print the IR before each pass to stderr",
    "mlir-print-ir-after-all": "print the IR after each pass to stderr",
    "mlir-print-ir-after-change": "after a pass, print the IR only if the pass changed it",
    "mlir-print-ir-after-failure": "print the IR after a pass that failed",
    "mlir-print-ir-module-scope": "print the whole module also for passes that run on less",
    "emit-bytecode": "write MLIR's bytecode, not text; bytecode is also read",
    "list-passes": "print the names of Hotdesk's passes and stop",
    "show-dialects": "print the names of dialects and stop",
    "version": "print the versions of Hotdesk and of MLIR and stop",
    "debug": "show Python's traceback of an error",
}
_VALUES = {
    "load-models": ("FILE", "a Python file with models of ops (docs/models.md); may be given again"),
    "pass-pipeline": ("TEXT", "'builtin.module(…)' with passes of Hotdesk and of MLIR"),
    "mlir-print-ir-before": ("PASSES", "print the IR before these passes to stderr"),
    "mlir-print-ir-after": ("PASSES", "print the IR after these passes to stderr"),
    "output-split-marker": ("MARK", f"what stands between the parts of the output (default: '{MARKER}')"),
    "remarks-filter": ("REGEX", "show the remarks of the categories that match"),
    "remarks-filter-passed": ("REGEX", "the same for remarks of what was achieved"),
    "remarks-filter-missed": ("REGEX", "the same for remarks of copies and allocations"),
    "remarks-filter-failed": ("REGEX", "the same for remarks of errors"),
    "remarks-filter-analysis": ("REGEX", "the same for all other remarks (mlir-opt's -analyse is accepted)"),
    "remarks-output-file": ("FILE", "where remarks go instead of stderr"),
}
_NUMBERS = {
    "mlir-elide-elementsattrs-if-larger": "print ... for attributes of more than N elements",
    "mlir-elide-resource-strings-if-larger": "print no resources of more than N characters",
}
_FORMAT = "remark-format"
# Options that may stand without a value, and the value they have then.
_BARE = {
    **dict.fromkeys(_SWITCHES, "true"),
    "verify-each": "true",
    "mlir-print-op-on-diagnostic": "true",
    "split-input-file": MARKER,
    "verify-diagnostics": "all",
}
_REPEATED = ("load-models", "mlir-print-ir-before", "mlir-print-ir-after")
_WIDTH = 48
_MOST = 2**63 - 1
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class PassFlag:
    """A pass on the command line, with the text of its options."""

    name: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line. `passes` are in the order of their flags; `split` is the marker between parts, or None."""

    file: str
    output: str
    pipeline: str | None
    passes: tuple[PassFlag, ...]
    split: str | None
    output_marker: str
    verify_diagnostics: str | None
    verify_each: bool
    operation_notes: bool
    allow_unregistered: bool
    implicit_module: bool
    dump_pipeline: bool
    print_decisions: bool
    timing: bool
    debug: bool
    list_passes: bool
    show_dialects: bool
    show_version: bool
    bytecode: bool
    printing: PrintOptions
    dumps: DumpOptions
    models: tuple[str, ...]
    remarks: RemarkFilter
    remark_format: str
    remark_file: str | None


def parse_arguments(arguments: Sequence[str]) -> CommandLine:
    """Reads a command line; one that makes no sense ends the process with code 2.

    Raises:
        UsageError: there are flags of passes and --pass-pipeline.
    """
    parser = _parser()
    passes: list[PassFlag] = []
    rest: list[str] = []
    for argument in arguments:
        name, equals, value = argument.lstrip("-").partition("=")
        known = name in _BARE or name in _VALUES or name in _NUMBERS or name in ("help", _FORMAT)
        if not argument.startswith("-") or len(name) < 2:
            rest.append(argument)
        elif known:
            rest.append(f"--{name}={value if equals else _BARE[name]}" if name in _BARE else f"--{name}{equals}{value}")
        elif name == "remarks-filter-analyse":
            rest.append(f"--remarks-filter-analysis{equals}{value}")
        elif _is_pass(name):
            passes.append(PassFlag(name, value))
        elif argument.startswith("-h"):  # argparse would read -hotdesk-x as -h
            parser.error(_unknown(argument))
        else:
            rest.append(argument)
    found, unknown = parser.parse_known_args(rest)
    if unknown:
        parser.error(_unknown(unknown[0]))
    options = _options(found, tuple(passes))
    for option, names in (("before", options.dumps.before), ("after", options.dumps.after)):
        for name in names:
            if not _is_pass(name):
                parser.error(f"argument --mlir-print-ir-{option}: no pass has the name '{name}'{_near(name)}")
    return options


def _unknown(argument: str) -> str:
    if not argument.startswith("-"):
        return f"one input file expected, got also '{argument}'"
    name = argument.lstrip("-").partition("=")[0]
    return f"unknown argument '{argument}'{_near(name, '--', (*_BARE, *_VALUES, *_NUMBERS, _FORMAT))}"


def _near(name: str, dashes: str = "", others: tuple[str, ...] = ()) -> str:
    """A question after one of the others or of the passes, if there is one of nearly that name."""
    close = difflib.get_close_matches(name, (*others, *pass_names(), *ALIASES), n=1)
    return f"; did you mean '{dashes}{close[0]}'?" if close else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hotdesk-opt",
        usage="%(prog)s [options] [passes] [FILE]",
        description="Runs passes on MLIR text, in the manner of mlir-opt.",
        epilog="passes, run in the order of their flags (docs/passes; MLIR's are flags too):\n"
        + "\n".join(line for name in pass_names() for line in _described(name)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="the input; - for standard input")
    add("-o", dest="output", default="-", metavar="FILE", help="the output; - for standard output")
    add("--split-input-file", metavar="MARK", help=f"treat what '{MARKER}', or another MARK, separates as files")
    choices = ("all", "only-expected")
    text = "check diagnostics against comments expected-error@+1 {{…}}; with only-expected, others are let pass"
    add("--verify-diagnostics", choices=choices, help=text)
    add("--verify-each", type=_boolean, default=True, metavar="0|1", help="verify after each pass (default: 1)")
    text = "let diagnostics be followed by the operation that they are about (default: 1)"
    add("--mlir-print-op-on-diagnostic", type=_boolean, default=True, metavar="0|1", help=text)
    add(f"--{_FORMAT}", choices=FORMATS, default=FORMATS[0], help="one line a remark, or one YAML document")
    for name, text in _SWITCHES.items():
        add(f"--{name}", type=_boolean, default=False, metavar="0|1", help=text)
    for name, text in _NUMBERS.items():
        add(f"--{name}", type=_count, metavar="N", help=text)
    for name, (metavar, text) in _VALUES.items():
        kind = _pattern if metavar == "REGEX" else str
        add(f"--{name}", type=kind, metavar=metavar, help=text, action="append" if name in _REPEATED else "store")
    return parser


def _is_pass(name: str) -> bool:
    """Whether Hotdesk or MLIR has a pass or a pipeline of that name."""
    if name in pass_names() or name in ALIASES:
        return True
    from hotdesk.cli.pipelines import is_known_to_mlir  # imports MLIR, which the help does without

    return is_known_to_mlir(name)


def _described(name: str) -> list[str]:
    """A pass and its options as the help shows them, each in one line."""
    try:
        found = manual(name)
    except HotdeskError as error:  # of another package, which is broken
        return [f"  --{name:{_WIDTH}} - {error}"]
    options = [
        (f"{o.name}=<{o.kind}>", f"{o.text.rstrip('.')} (default: {o.default or 'none'})") for o in found.options
    ]
    return [
        f"  --{name:{_WIDTH}} - {found.summary}",
        *(f"    --{option:{_WIDTH - 2}} - {text}" for option, text in options),
    ]


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"expected true or false, got '{text}'")
    return _BOOLEANS[text.lower()]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > _MOST:
        raise argparse.ArgumentTypeError(f"expected a number, got '{text}'")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"expected a regular expression, got '{text}' ({error})") from error


def _options(found: argparse.Namespace, passes: tuple[PassFlag, ...]) -> CommandLine:
    if found.pass_pipeline is not None and passes:
        raise UsageError("pass pipeline", expected="--pass-pipeline or flags of passes", got="both")
    return CommandLine(
        file=found.file,
        output=found.output,
        pipeline=found.pass_pipeline,
        passes=passes,
        split=found.split_input_file,
        output_marker=MARKER if found.output_split_marker is None else found.output_split_marker,
        verify_diagnostics=found.verify_diagnostics,
        verify_each=found.verify_each,
        operation_notes=found.mlir_print_op_on_diagnostic,
        allow_unregistered=found.allow_unregistered_dialect,
        implicit_module=not found.no_implicit_module,
        dump_pipeline=found.dump_pass_pipeline,
        print_decisions=found.print_decisions,
        timing=found.mlir_timing,
        debug=found.debug,
        list_passes=found.list_passes,
        show_dialects=found.show_dialects,
        show_version=found.version,
        bytecode=found.emit_bytecode,
        printing=PrintOptions(
            generic=found.mlir_print_op_generic,
            locations=found.mlir_print_debuginfo,
            local_scope=found.mlir_print_local_scope,
            elements_limit=found.mlir_elide_elementsattrs_if_larger,
            resources_limit=found.mlir_elide_resource_strings_if_larger,
        ),
        dumps=DumpOptions(
            before=_names(found.mlir_print_ir_before),
            after=_names(found.mlir_print_ir_after),
            before_all=found.mlir_print_ir_before_all,
            after_all=found.mlir_print_ir_after_all,
            after_change=found.mlir_print_ir_after_change,
            after_failure=found.mlir_print_ir_after_failure,
            module_scope=found.mlir_print_ir_module_scope,
        ),
        models=tuple(found.load_models or ()),
        remarks=RemarkFilter(
            found.remarks_filter,
            found.remarks_filter_passed,
            found.remarks_filter_missed,
            found.remarks_filter_failed,
            found.remarks_filter_analysis,
        ),
        remark_format=found.remark_format,
        remark_file=found.remarks_output_file,
    )


def _names(texts: list[str] | None) -> tuple[str, ...]:
    """The passes between commas, by their names."""
    names = [name.strip() for text in texts or () for name in text.split(",")]
    return tuple(ALIASES.get(name, name) for name in names if name)
