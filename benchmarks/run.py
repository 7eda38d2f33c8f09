"""Measures every example model under every contender and writes `benchmarks/RESULTS.md` and `benchmarks/results.json`.

A run of everything writes beside this file. A partial or quick one writes to `build/benchmarks`, so that it never
replaces a whole one; `--output` names another place.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from benchmarks.contenders import CONTENDERS
from benchmarks.interposer import InterposerError
from benchmarks.material import Facts
from benchmarks.measure import ROOT, Bench, ChildError, Latency
from benchmarks.results import Row, Run, surroundings, write
from examples.models import MODELS

LATENCY_BUDGET = 240.0
QUICK_LATENCY_BUDGET = 20.0
FEWEST_ROUNDS = 40
QUICK_FEWEST_ROUNDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    console = Console(highlight=False)
    around = surroundings()
    rows: list[Row] = []
    facts: dict[str, Facts] = {}
    budget = (QUICK_LATENCY_BUDGET if options.quick else LATENCY_BUDGET) / len(MODELS)
    for model in options.models:
        with tempfile.TemporaryDirectory(prefix=f"hotdesk-{model}-") as directory:
            bench = Bench(Path(directory), options.threads)
            rows += _measure(bench, model, options, budget, facts, console)
            _keep_log(Path(directory) / f"{model}.log")
    run = Run(**around, threads=options.threads, facts=facts, rows=tuple(rows))
    page = write(run, options.output)
    console.print(f"\nwrote {page}", soft_wrap=True)
    return 1 if any(row.errors for row in rows) else 0


def _measure(
    bench: Bench,
    model: str,
    options: argparse.Namespace,
    budget: float,
    facts: dict[str, Facts],
    console: Console,
) -> list[Row]:
    """The rows of one model. What the model is goes to `facts`."""
    console.print(f"[bold]{model}[/bold]")
    rows = {contender: Row(model, contender) for contender in options.contenders}
    try:
        facts[model] = bench.material(model)
    except ChildError as error:
        rows = {contender: replace(row, errors=(f"model: {error}",)) for contender, row in rows.items()}
        options = argparse.Namespace(memory=False, latency=False)
    if options.memory:
        rows = {contender: _with_memory(bench, row) for contender, row in rows.items()}
    if options.latency:
        rounds = QUICK_FEWEST_ROUNDS if options.quick else FEWEST_ROUNDS
        found = bench.latencies(model, list(rows), budget, rounds)
        rows = {contender: _with_latency(row, found[contender]) for contender, row in rows.items()}
    for row in rows.values():
        console.print(_progress(row), markup=False, soft_wrap=True)
    return list(rows.values())


def _with_memory(bench: Bench, row: Row) -> Row:
    try:
        return replace(row, memory=bench.memory(row.model, row.contender))
    except (ChildError, InterposerError) as error:
        return replace(row, errors=(*row.errors, f"memory: {error}"))


def _with_latency(row: Row, found: Latency | ChildError) -> Row:
    if isinstance(found, Latency):
        return replace(row, latency=found)
    return replace(row, errors=(*row.errors, f"latency: {found}"))


def _progress(row: Row) -> str:
    memory = f"T {row.memory['transient'] / 1e6:.1f} MB, R {row.memory['retained'] / 1e6:.1f} MB" if row.memory else ""
    latency = f"{row.latency.median * 1e3:.3g} ms" if row.latency else ""
    return f"  {row.contender}: {', '.join(filter(None, (memory, latency, *row.errors)))}"


def _keep_log(log: Path) -> None:
    """What the children printed stays readable after the run."""
    kept = ROOT / "build" / "benchmarks" / "logs" / log.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(log.read_bytes())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=_names(MODELS), default=list(MODELS), help="comma-separated; all without it")
    parser.add_argument("--contenders", type=_names(CONTENDERS), default=list(CONTENDERS), help="comma-separated")
    parser.add_argument("--memory", action="store_true", help="only bytes")
    parser.add_argument("--latency", action="store_true", help="only times")
    parser.add_argument("--quick", action="store_true", help="fewer calls for the times; the bytes are the same")
    parser.add_argument("--threads", type=int, default=2, help="of each contender (2)")
    parser.add_argument("--output", type=Path, help="directory of the two files")
    options = parser.parse_args(arguments)
    if not options.memory and not options.latency:
        options.memory = options.latency = True
    whole = (
        options.memory
        and options.latency
        and not options.quick
        and options.models == list(MODELS)
        and options.contenders == list(CONTENDERS)
    )
    options.output = options.output or (ROOT / "benchmarks" if whole else ROOT / "build" / "benchmarks")
    return options


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    names = list(known)

    def parse(text: str) -> list[str]:
        chosen = [name.strip() for name in text.split(",") if name.strip()]
        if unknown := [name for name in chosen if name not in names]:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(names)}; got {', '.join(unknown)}")
        return chosen

    return parse


if __name__ == "__main__":
    sys.exit(main())
