"""What reordering does for networks with branches: peaks and arenas before and after, optima where they are proven, seconds.

Prints a table and writes `benchmarks/REORDERING.md`. A run of some networks only writes to `build/benchmarks`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from rich.console import Console
from rich.table import Table
from torch_mlir import ir

from benchmarks.bufferization.cases import annotate
from benchmarks.bufferization.page import table
from benchmarks.measure import ROOT
from benchmarks.reorderings.networks import NETWORKS, Network
from benchmarks.results import surroundings
from hotdesk.analysis.order.schedules import read_stretch, used_in_other_blocks
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.frontends.torch.export import capture
from hotdesk.ir.context import entered
from hotdesk.ir.walking import main_function
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.pipeline import Log, optimize_tensors
from hotdesk.planning.scheduling.problem import Schedule
from hotdesk.planning.scheduling.scheduler import schedule
from hotdesk.search.ordering import LowerPeak

COLUMNS = (
    *("network", "tasks", "peak given", "peak found", "bound", "×", "found by", "states", "search s"),
    *("arena given", "arena found", "×", "pass s"),
)
DEFINITIONS = """\
Networks as `torch.export` captures them, after fusion, with their operations in the order of their authors' code. kB = 10³ bytes.

- **tasks**: operations that make a buffer, which are put in order.
- **peak**: bytes that are live together by the estimate that is ordered by; results and inputs are the caller's. **bound**: no
  order needs less; *optimal* where the peak found is the bound.
- **found by**: the strategy that made the order; **states** are sets of done tasks that the searches looked at (at most
  100,000, which is the limit of the pass), **search** the seconds of the scheduler.
- **arena**: what the plan takes after bufferization, scratch memory of convolutions included. `order="peak"` takes the smaller of
  the two arenas, so where *found* is larger, the given order stays.
- **×**: found over given. **pass**: seconds of the whole pass, reading and moving operations included.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What one network needs, in bytes, and the seconds of the pass."""

    name: str
    tasks: int
    found: Schedule
    before: int
    after: int
    seconds: float

    def cells(self) -> tuple[str, ...]:
        found = self.found
        return (
            *(self.name, str(self.tasks), _kb(found.given), _kb(found.peak)),
            "optimal" if found.proven_optimal else _kb(found.bound),
            *(f"{found.peak / found.given:.2f}", found.strategy, f"{found.nodes:,}", f"{found.seconds:.2f}"),
            *(_kb(self.before), _kb(self.after), f"{self.after / self.before:.2f}", f"{self.seconds:.2f}"),
        )


def measure(network: Network) -> Row:
    """Orders a network and plans it in both orders."""
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    captured: Any = capture(network.make().eval(), (torch.randn(*network.image),), None, dynamic_shapes=None)
    rows: list[Row] = []

    def probe(module: ir.Module, log: Log) -> None:
        rows.append(_measured(network.name, module))

    annotate(captured)
    optimize_tensors(captured.module, Log(), [probe])
    return rows[0]


def _measured(name: str, module: ir.Module) -> Row:
    ordering = LowerPeak({})
    with entered(module.operation):
        record = read_function(main_function(module))
        one = ReorderForPeak()
        stretch = read_stretch(
            record, record.blocks[0], {}, used_in_other_blocks(record), one.assumed_size, returned=False
        )
        found = schedule(stretch.problem, one.max_states)
        changed: Any = module.operation.clone()
        started = time.perf_counter()
        one.run(changed)
        seconds = time.perf_counter() - started
        given: Any = module.operation.clone()
        before, after = ordering.needs(given).at({})[0], ordering.needs(changed).at({})[0]
    return Row(name, len(stretch.tasks), found, before, after, seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="networks whose names hold this text")
    only = parser.parse_args(arguments).only
    around = surroundings()
    console = Console(highlight=False, width=180)
    rows: list[Row] = []
    for network in NETWORKS:
        if only is None or only in network.name:
            rows.append(measure(network))
            console.print("  ".join(rows[-1].cells()), markup=False, soft_wrap=True)
    shown = Table(*COLUMNS)
    for row in rows:
        shown.add_row(*row.cells())
    console.print(shown)
    path = (ROOT / "build" / "benchmarks" if only else ROOT / "benchmarks") / "REORDERING.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(rows, around), encoding="utf-8")
    console.print(f"\nwrote {path}", soft_wrap=True)
    return 0


def page(rows: Sequence[Row], around: dict[str, Any]) -> str:
    """The figures as Markdown; sizes in kB."""
    head = (
        "# Operations in another order\n\n"
        f"Written by `make bench-reordering` on {around['date']}. {around['machine']}; load at the start {around['load']:.1f}.\n"
    )
    return "\n".join((head, DEFINITIONS, table("Sizes in kB.\n", COLUMNS, (row.cells() for row in rows))))


def _kb(size: int) -> str:
    return f"{size / 1e3:,.1f}"


if __name__ == "__main__":
    sys.exit(main())
