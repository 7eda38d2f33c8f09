"""`hotdesk plan`: places the buffers of a CSV file and prints the file with their offsets.

The rows go to stdout, in the form of `planning/problem/csvform.py`, which allocator benchmarks exchange; stderr gets one line
about the plan: its arena, the bound that no plan can beat, what proves it, with the bytes of the largest buffers in that and of
all others together, what it costs if anything does, and the strategy. Exit codes: 0; 1 where the plan needs more than
the capacity that was asked for, or for an error; 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hotdesk.cli.exits import require_unused
from hotdesk.cli.inputs import add_compiling, add_random
from hotdesk.cli.parsers import bytes_of, parser_of, seconds_of
from hotdesk.cli.progress import shown_progress
from hotdesk.errors import HotdeskError, PlanError
from hotdesk.planning import NO_REUSE, STRATEGIES, Buffer, Plan, Pool, Problem, plan, read_csv, write_csv
from hotdesk.planning.problem.bounds import BoundCertificate, certificate, certificate_text
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.runtime.plans.problems import checked


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk plan` and returns its exit code."""
    if arguments[:1] == ["trace"]:
        from hotdesk.cli.trace import main as trace

        return trace(arguments[1:])
    options = parser().parse_args(arguments)
    try:
        problem = _problem(options)
        with shown_progress(options.time_limit):
            made = plan(problem, strategy=options.strategy, capacity=options.capacity, time_limit=options.time_limit)
    except HotdeskError:
        raise
    except (ValueError, ImportError) as error:
        raise PlanError(f"{options.file}: {error}") from error
    print(write_csv(problem, checked(problem, made)), end="")
    proof = certificate(problem, made.bound)
    print(_summary(made, proof), file=sys.stderr)
    if options.capacity is None or made.arena <= options.capacity:
        return 0
    print(_refusal(made, proof, options.capacity), file=sys.stderr)
    return 1


def _problem(options: argparse.Namespace) -> Problem:
    """The buffers of a file, or those that a model has in its arena."""
    text = sys.stdin.read() if options.file == "-" else ""
    ending = (".pt2", ".onnx", ".mlir", ".mlirbc", ".py", ".json", ".hotdesk")
    if options.file.endswith(ending) or ".py:" in options.file or "func.func" in text:
        expected = "a file of buffers: those of a model are aligned and in one arena"
        require_unused(parser(), options, ("alignment", "pin", "pool"), options.file, expected)
        return _of_model(options, text)
    require_unused(parser(), options, _OF_MODELS, options.file, "a model: buffers in a file have their bytes")
    if options.file != "-":
        text = Path(options.file).read_text(encoding="utf-8")
    return read_csv(text, alignment=options.alignment, pin=options.pin, pools=options.pool)


def _of_model(options: argparse.Namespace, text: str) -> Problem:
    from hotdesk.cli.documents import reported

    given = argparse.Namespace(**vars(options), model=options.file, random_inputs=False, inputs=None)
    made, _ = reported(given, text)
    in_arena = [each for each in made.buffers if each.where == "arena"]
    return Problem(tuple(Buffer(each.name, each.lower, each.upper, each.bytes, ALIGNMENT) for each in in_arena))


def _summary(made: Plan, proof: BoundCertificate) -> str:
    quality = "optimal" if made.proven_optimal else f"{made.gap:.2%} above the bound"
    paid = f"cost {made.cost:,}, at least {made.least_cost:,}; " if made.cost or made.least_cost else ""
    return (
        f"arena {made.arena:,} bytes, {quality}; bound {made.bound.bytes:,} bytes ({made.bound.kind}, "
        f"{_named(made, proof)}); {paid}without reuse {made.no_reuse:,} bytes; "
        f"{made.strategy}, {made.seconds:.2f} s"
    )


def _named(made: Plan, proof: BoundCertificate) -> str:
    count = "1 buffer" if len(proof.buffers) == 1 else f"{len(proof.buffers):,} buffers"
    named = f": {certificate_text(proof)}" if proof.buffers else ""
    return f"{count} at step {made.bound.step}{named}"


def _refusal(made: Plan, proof: BoundCertificate, capacity: int) -> str:
    if made.bound.bytes <= capacity:
        return f"error: no plan below {capacity:,} bytes was found; none is known to be impossible: try a longer --time-limit"
    return f"error: no plan fits {capacity:,} bytes: {made.bound.bytes:,} bytes are needed by {_named(made, proof)}"


def _alignment(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1 or value & (value - 1):
        raise argparse.ArgumentTypeError(f"expected a power of two, got {text!r}")
    return value


def _pool(text: str) -> Pool:
    """A pool that is free all the time: `NAME=SIZE`, or `NAME=SIZE,COST` with a cost for each byte placed there."""
    name, _, rest = text.partition("=")
    size, comma, cost = rest.partition(",")
    if not (name and size) or (comma and not cost.strip().isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a pool such as sram=64KiB or psram=8MiB,3, got {text!r}")
    return Pool(name, bytes_of(size), ((-sys.maxsize, sys.maxsize),), int(cost or 0))


_OF_MODELS = ("entry", "order", "budget", "dim", "seed", "sizes")
"""Options for models."""

EXAMPLES = ("hotdesk plan problem.csv --capacity 1MiB", "hotdesk plan my_model.py:build")


def parser() -> argparse.ArgumentParser:
    parser = parser_of("plan", "Places buffers in one arena.", EXAMPLES)
    parser.add_argument(
        "file",
        help="CSV with the columns id,lower,upper,size and, if need be, alignment, gaps, host and at; or a model, whose "
        "arena is planned; '-' reads CSV or MLIR from stdin; `trace FILE` reads a trace of another tool (hotdesk plan trace "
        "--help)",
    )
    parser.add_argument(
        "--capacity",
        type=bytes_of,
        metavar="SIZE",
        help="search until a plan fits or none can, and fail where none is found",
    )
    parser.add_argument("--strategy", default="portfolio", choices=(*STRATEGIES, NO_REUSE))
    parser.add_argument(
        "--time-limit",
        type=seconds_of,
        metavar="SECONDS",
        help="improve the plan for so long, or until none is smaller; plans may differ by run",
    )
    parser.add_argument("--alignment", type=_alignment, default=1, metavar="BYTES", help="of every offset (1)")
    parser.add_argument(
        "--pool",
        type=_pool,
        action="append",
        default=[],
        metavar="NAME=SIZE[,COST]",
        help="memory beside the arena; where it has a cost a byte, it is used as little as --capacity allows",
    )
    parser.add_argument("--pin", action="store_true", help="keep the offsets that the file states")
    add_compiling(parser)
    add_random(parser)
    return parser
