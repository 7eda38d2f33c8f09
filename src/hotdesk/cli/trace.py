"""`hotdesk plan trace`: how far another tool's memory is from the least possible, and what a plan would save.

hotdesk plan trace snapshot.pickle
hotdesk plan trace module_0008.jit_f.cpu_after_optimizations-buffer-assignment.txt
hotdesk plan trace trace.json --csv problem.csv
hotdesk plan trace onnxruntime_profile.json --model run.onnx
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hotdesk.cli.parsers import parser_of
from hotdesk.planning import Plan, Problem, plan, write_csv
from hotdesk.report.text import counted, size
from hotdesk.runtime.plans.problems import checked
from hotdesk.traces.reading import FORMATS, load_trace
from hotdesk.traces.trace import Trace

EXAMPLES = ("hotdesk plan trace snapshot.pickle", "hotdesk plan trace trace.json --csv problem.csv")


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk plan trace` and returns its exit code."""
    options = parser().parse_args(arguments)
    found = load_trace(Path(options.file), None if options.model is None else Path(options.model))
    problem = Problem(found.buffers)
    made = checked(problem, plan(problem))
    if options.csv:
        Path(options.csv).write_text(write_csv(problem, made), encoding="utf-8")
    print(json.dumps(_figures(found, made), indent=1) if options.json else "\n".join(_lines(found, made)))
    return 0


def _figures(found: Trace, made: Plan) -> dict[str, Any]:
    return {
        "tool": found.tool,
        "buffers": len(found.buffers),
        "left_out": found.left_out,
        "total": found.total,
        "peak": found.peak,
        "taken": found.taken,
        "bound": made.bound.bytes,
        "plan": made.arena,
    }


def _lines(found: Trace, made: Plan) -> Iterator[str]:
    left_out = f", {counted(found.left_out, 'event')} left out" if found.left_out else ""
    yield f"tool       {found.tool}: {counted(len(found.buffers), 'buffer')}{left_out}"
    yield f"no reuse   {size(found.total)}"
    yield f"in use     {size(found.peak)} at most"
    if found.taken is not None:
        yield f"taken      {size(found.taken)} by the tool's allocator{_above(found.taken, made.bound.bytes)}"
    yield f"bound      {size(made.bound.bytes)}: no plan can be smaller"
    proven = "the least possible" if made.proven_optimal else f"{made.gap:.2%} above the bound"
    yield f"plan       {size(made.arena)}, {proven}"
    before = found.taken
    if before is not None and before > made.arena:
        yield f"saved      {size(before - made.arena)}, {(before - made.arena) / before:.1%} of what is taken"
    elif before is not None:
        yield "saved      nothing"


def _above(taken: int, bound: int) -> str:
    return f", {taken / bound - 1:.1%} above the bound" if bound and taken > bound else ""


def parser() -> argparse.ArgumentParser:
    made = parser_of("plan trace", "Says how far another tool's memory is from the least possible.", EXAMPLES)
    made.add_argument("file", metavar="FILE", help=f"{FORMATS}; told by what is in it")
    text = "the graph that was run, of a session profile of onnxruntime: what optimized_model_filepath has written"
    made.add_argument("--model", metavar="FILE", help=text)
    made.add_argument("--csv", metavar="FILE", help="where to write the buffers with the plan's offsets")
    made.add_argument("--json", action="store_true", help="the figures as JSON")
    return made
