"""The child process of one side on one module. Each line on standard input is a run; answers are lines of JSON.

{"seconds": {pass: seconds}, "wall": seconds, "counts": {…} on the first run}      or      {"error": "HD302 …"}
"""

from __future__ import annotations

import gc
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.bufferization.sides import SIDES, Finished
from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context, run_mlir_passes

# It loads the dialects that a lowered model may hold and a fresh context does not know.
_LOADS_DIALECTS = "torch-backend-to-linalg-on-tensors-backend-pipeline"


def parse_module(text: str) -> ir.Module:
    """A module in a context of its own."""
    with make_context():
        run_mlir_passes(ir.Module.parse("module {}"), _LOADS_DIALECTS)
        return ir.Module.parse(text)


def run(side: str, text: str) -> Finished:
    """One run of a side on a program."""
    module = parse_module(text)
    gc.collect()
    return SIDES[side](module)


def _answer(side: str, text: str, symbols: dict[str, int], counted: bool) -> dict[str, Any]:
    try:
        finished = run(side, text)
    except HotdeskError as error:
        return {"error": f"{error.code} {' '.join(str(error).split())}"}
    answer: dict[str, Any] = {"seconds": dict(finished.seconds), "wall": finished.wall}
    if counted:
        try:
            counts, peak = finished.measure(symbols)
            answer["counts"] = {**asdict(counts), "peak": peak}
        except ValueError as error:
            answer["counts_error"] = " ".join(str(error).split())
    return answer


def main() -> int:
    side, path, symbols = sys.argv[1:]
    text = Path(path).read_text()
    for number, _ in enumerate(sys.stdin):
        print(json.dumps(_answer(side, text, json.loads(symbols), number == 0)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
