"""Hotdesk's passes on buffers against MLIR's on the same modules: peak bytes, deallocations, checks at run time, copies, seconds.

Prints tables and writes `benchmarks/BUFFERS.md`. A run of some programs only writes to `build/benchmarks`.
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

from benchmarks.bufferization.page import TABLE_WIDTH
from benchmarks.deallocation.page import Page
from benchmarks.deallocation.programs import GROUPS, programs
from benchmarks.deallocation.rows import Bench, Row
from benchmarks.publishing import publish, wide_console
from benchmarks.results import commit, surroundings

LIMIT_SECONDS = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    console = wide_console(TABLE_WIDTH)
    around = surroundings()
    groups = (options.group,) if options.group else GROUPS
    rows = _measured(groups, options.only, options.limit, console)
    page = Page(around, commit(), rows)
    publish("BUFFERS.md", page.tables(), page.render(), console, partial=bool(options.only or options.group))
    return 0


def _measured(groups: tuple[str, ...], only: str | None, limit: float, console: Console) -> tuple[Row, ...]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="hotdesk-buffers-") as directory:
        bench = Bench(Path(directory), limit)
        try:
            for program in programs(groups, only):
                found = bench.measure(program)
                rows += found
                peaks = ", ".join(f"{row.side}: {row.figures.peak:,}" for row in found if row.figures)
                console.print(f"{program.group}: {program.name}  {peaks}", markup=False, soft_wrap=True)
        finally:
            bench.stop()
    return tuple(rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="programs whose names hold this text")
    parser.add_argument("--group", choices=GROUPS, help="programs of this group")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds that an answer may take (600)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
