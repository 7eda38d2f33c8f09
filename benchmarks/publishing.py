"""Where the pages of a benchmark go, and the terminal that it talks to."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from benchmarks.measure import ROOT


def wide_console(width: int) -> Console:
    """A terminal of at least this many columns, so that no table is folded."""
    console = Console(highlight=False)
    console.width = max(console.width, width)
    return console


def publish(name: str, tables: Iterable[Table], text: str, console: Console, *, partial: bool) -> None:
    """Prints the tables and writes the page: beside the benchmark, or to `build/benchmarks` if a part of it was run."""
    for table in tables:
        console.print(table)
    path = (ROOT / "build" / "benchmarks" if partial else ROOT / "benchmarks") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    console.print(f"\nwrote {path}", soft_wrap=True)
