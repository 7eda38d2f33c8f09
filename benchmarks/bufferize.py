"""Hotdesk's bufferization against MLIR's own passes on the same modules: copies, allocations, peak bytes, seconds.

Prints tables and writes `benchmarks/BUFFERIZE.md`. A run of some cases only writes to `build/benchmarks`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from benchmarks.bufferization.cases import Case, cases
from benchmarks.bufferization.page import TABLE_WIDTH, Page, cells
from benchmarks.bufferization.runs import Row, measure
from benchmarks.publishing import publish, wide_console
from benchmarks.results import commit, surroundings

LIMIT_SECONDS = 120.0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    console = wide_console(TABLE_WIDTH)
    around = surroundings()
    chosen = tuple(case for case in cases() if options.only is None or options.only in case.name)
    rows = tuple(row for case in chosen for row in _measured(case, options.limit, console))
    page = Page(around, commit(), options.limit, chosen, rows)
    publish("BUFFERIZE.md", page.tables(), page.render(), console, partial=bool(options.only))
    return 0


def _measured(case: Case, limit: float, console: Console) -> list[Row]:
    rows: list[Row] = []
    for program in case.programs():
        with tempfile.TemporaryDirectory(prefix="hotdesk-bufferize-") as directory:
            rows += measure(case.name, program, limit, Path(directory))
        for row in rows[-len(program.sides) :]:
            console.print("  ".join(cells(row)), row.note, markup=False, soft_wrap=True)
    return rows


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cases whose names hold this text")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that a run may take (120)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
