"""Records of a benchmark run, and the two files they become: `RESULTS.md` to read, `results.json` to compute with."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib import metadata
from math import comb
from pathlib import Path
from statistics import geometric_mean
from statistics import median as median_of
from typing import Any

from .material import Facts
from .measure import Latency

BASELINE, OURS = "eager", "hotdesk"
PACKAGES = (
    *("hotdesk", "torch-mlir", "torch", "transformers", "numpy"),
    *("onnx", "onnxruntime", "openvino", "executorch"),
)
NONE = "–"
SMALL = 1e6

DEFINITIONS = """\
All float32, random weights. MB = 10⁶ bytes. One allocation interposer (`benchmarks/interposer`) counts the malloc family and
anonymous mappings of every contender, each in a process of its own; bytes are exact, times depend on the machine.

- **T**, transient: peak of one steady call above the level just before it, results included.
- **R**, retained: held between calls, while no result is alive, above the level at which just the weights and inputs exist.
  Arenas, repacked weights, code, caches, thread pools, what compiling leaves behind. Before that level is read, all modules are
  imported that preparing and running import, and nothing has run; Python objects come from malloc (`PYTHONMALLOC=malloc`). Less
  than 0 where a contender gives back more of the weights than it adds.
- An arena moves bytes from T to R (onnxruntime's holds the results too): **T+R** compares contenders of both kinds.
- **allocations**: of 1 KiB and more, in one steady call.
- **latency**: median of steady calls, and the best of them; the contenders take turns in small bursts, in random order.
- **×**: that figure over eager PyTorch's; below 1 is better.
- **difference**: the largest from eager results, and that over the largest eager value; ✗ where it exceeds the tolerance of
  the model.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One contender on one model. `memory` is what `worker.measure_memory` answered; errors name the measurement."""

    model: str
    contender: str
    memory: dict[str, Any] | None = None
    latency: Latency | None = None
    errors: tuple[str, ...] = ()

    @property
    def transient(self) -> float | None:
        return self.memory["transient"] if self.memory else None

    @property
    def total(self) -> float | None:
        return self.memory["transient"] + self.memory["retained"] if self.memory else None

    @property
    def median(self) -> float | None:
        return self.latency.median if self.latency else None

    @property
    def best(self) -> float | None:
        return self.latency.best if self.latency else None


@dataclass(frozen=True, slots=True)
class Run:
    """Everything one run measured, and on what."""

    date: str
    machine: str
    threads: int
    load: float
    versions: dict[str, str]
    facts: dict[str, Facts]
    rows: tuple[Row, ...]

    def row(self, model: str, contender: str) -> Row | None:
        return next((row for row in self.rows if (row.model, row.contender) == (model, contender)), None)


def surroundings() -> dict[str, Any]:
    """Date, machine, load and versions, as `Run` takes them."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory_gb():.0f} GB, {platform.system()} {platform.release()}",
        "load": os.getloadavg()[0],
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def commit() -> str:
    """The checkout's commit; `-dirty` after it when files differ from it."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def write(run: Run, directory: Path) -> Path:
    """Writes both files; returns the path of the Markdown one."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "results.json").write_text(json.dumps(asdict(run), indent=1) + "\n")
    page = directory / "RESULTS.md"
    page.write_text(render(run))
    return page


def render(run: Run) -> str:
    """The Markdown page."""
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    head = (
        "# Benchmarks\n\n"
        f"Written by `make bench` on {run.date}. {run.machine}; {run.threads} threads; load at the start {run.load:.1f}.\n"
        f"{versions}.\n"
    )
    parts = [head, DEFINITIONS, _summary(run), _beside_the_best(run), _models(run), _hotdesk(run), _slowest(run)]
    return "\n".join(part for part in parts if part)


def _summary(run: Run) -> str:
    contenders = list(dict.fromkeys(row.contender for row in run.rows))
    figures = (("transient", SMALL), ("total", SMALL), ("median", 0.0))
    lines = [_line(name, *(_mean_ratio(run, name, *figure) for figure in figures)) for name in contenders]
    title = (
        "## Against eager PyTorch\n\n"
        "Geometric means over the models that both ran, and how many these are. For T and T+R without the models where eager\n"
        f"PyTorch needs less than {SMALL / 1e6:.0f} MB: there a runtime's fixed cost would outweigh what the models need.\n"
    )
    return _table(title, ("contender", "T ×", "T+R ×", "latency ×"), lines)


def _beside_the_best(run: Run) -> str:
    """Hotdesk over whichever of the others is best at a figure, model by model."""
    ours = [row for row in run.rows if row.contender == OURS]
    others = {row.model: [each for each in run.rows if each.model == row.model and not _is_ours(each)] for row in ours}
    lines = [_line(row.model, *_beside(row, others[row.model])) for row in ours if others[row.model]]
    title = (
        "## Beside the best of the others\n\n"
        "Hotdesk's figure over that of the contender that is best at it, whose name follows; below 1 is better. *Turns* is\n"
        "the median of the ratios of two turns in one round, and an interval that holds it in 95 of 100 such runs; *best*\n"
        "is the quickest call of each.\n"
    )
    columns = ("model", "median ×", "turns ×", "of", "best ×", "of", "T+R ×", "of")
    return _table(title, columns, lines) if lines else ""


def _beside(row: Row, others: list[Row]) -> tuple[str, ...]:
    median, quickest = _over_the_best(row, others, "median")
    other = next((each for each in others if each.contender == quickest), None)
    turns = _turn_by_turn(row.latency, other.latency if other else None)
    return (median, turns, quickest, *_over_the_best(row, others, "best"), *_over_the_best(row, others, "total"))


def _turn_by_turn(ours: Latency | None, theirs: Latency | None) -> str:
    ratios = sorted(a / b for a, b in zip(ours.turns, theirs.turns, strict=False)) if ours and theirs else []
    if not ratios:
        return NONE
    low, high = (ratios[place] for place in median_interval(len(ratios)))
    return f"{median_of(ratios):.2f} ({low:.2f} to {high:.2f})"


def median_interval(count: int) -> tuple[int, int]:
    """Places, in ascending order of so many values, between which their distribution's median lies in 95 of 100 cases.

    Whatever the distribution: how many values are below its median is binomial (Conover, "Practical Nonparametric
    Statistics", 1999, section 3.2). With fewer than six values they are the first and the last, and hold it less often.
    """
    below, lowest = 0.0, 0
    for place in range(count // 2):
        below += comb(count, place) / 2**count
        if below > 0.025:
            break
        lowest = place
    return lowest, count - 1 - lowest


def _is_ours(row: Row) -> bool:
    """Whether a contender is Hotdesk, by one of its doors."""
    return row.contender.split("-")[0] == OURS


def _over_the_best(row: Row, others: Iterable[Row], figure: str) -> tuple[str, str]:
    known = [other for other in others if getattr(other, figure) is not None]
    if not known:
        return NONE, NONE
    best = min(known, key=lambda other: getattr(other, figure))
    return _ratio(getattr(row, figure), getattr(best, figure)), best.contender


def _models(run: Run) -> str:
    columns = (
        *("model", "contender", "T", "R", "T+R", "T ×", "T+R ×"),
        *("allocations", "latency ms", "latency ×", "difference"),
    )
    lines = [_model_line(run, row) for row in run.rows]
    sizes = "\n".join(
        f"- {model}: weights {_mb(facts.weights)}, inputs {_mb(facts.inputs)}, results {_mb(facts.results)} MB"
        for model, facts in run.facts.items()
    )
    errors = "\n".join(f"- {row.model}, {row.contender}: {error}" for row in run.rows for error in row.errors)
    table = _table("## Models\n", columns, lines)
    return "\n".join((table, sizes, "", *(("Errors:\n", errors, "") if errors else ())))


def _model_line(run: Run, row: Row) -> str:
    baseline = run.row(row.model, BASELINE) or Row(row.model, BASELINE)
    memory = row.memory or {}
    difference = NONE
    if memory:
        mark = "" if memory["close"] else " ✗"
        difference = f"{memory['absolute']:.1e}, {memory['relative']:.1e}{mark}"
    return _line(
        row.model,
        f"{row.contender} (error)" if row.errors else row.contender,
        _mb(row.transient),
        _mb(memory.get("retained")),
        _mb(row.total),
        _ratio(row.transient, baseline.transient),
        _ratio(row.total, baseline.total),
        str(memory.get("large_allocations", NONE)),
        f"{_ms(row.latency.median)} ({_ms(row.latency.best)})" if row.latency else NONE,
        _ratio(row.median, baseline.median),
        difference,
    )


def _hotdesk(run: Run) -> str:
    reported = [row for row in run.rows if row.memory and "memory" in row.memory]
    columns = (
        *("model", "arena", "lower bound", "arena ÷ bound", "no reuse", "prepared", "weights"),
        *("T, `out=`", "allocations, `out=`", "R − arena − prepared", "code", "compile s", "of which"),
    )
    title = (
        "## What Hotdesk says of itself\n\n"
        "MB, from `program.memory()`; the columns with `out=` are measured on a steady call that is given its results' places.\n"
        "Compile time is taken without the interposer.\n"
    )
    return _table(title, columns, [_hotdesk_line(row) for row in reported]) if reported else ""


def _hotdesk_line(row: Row) -> str:
    memory = row.memory or {}
    record, timings = memory["memory"], memory["timings"]
    longest = sorted(timings.items(), key=lambda item: -item[1])[:4]
    return _line(
        row.model,
        _mb(record["arena"]),
        _mb(record["lower_bound"]),
        _ratio(record["arena"], record["lower_bound"]),
        _mb(record["no_reuse"]),
        _mb(record["prepared"]),
        _mb(record["weights"]),
        _mb(memory["out_peak"]),
        str(memory["out_allocations"]),
        _mb(memory["retained"] - record["arena"] - record["prepared"]),
        _mb(memory.get("code")),
        f"{row.latency.prepare:.1f}" if row.latency else NONE,
        ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in longest) or NONE,
    )


def _slowest(run: Run) -> str:
    """Where Hotdesk's time goes: the slowest kernels of each model."""
    columns = ("model", "ms", "calls", "GF/s", "GB/s", "of roof", "kernel", "line")
    lines = [
        _line(
            row.model,
            _ms(kernel["seconds"]),
            str(kernel["calls"]),
            f"{kernel['gflops']:.0f}",
            f"{kernel['gbytes']:.1f}",
            f"{kernel['share']:.0%}",
            f"`{kernel['kernel']}`",
            Path(kernel["line"].rpartition(":")[0]).name + kernel["line"][kernel["line"].rfind(":") :],
        )
        for row in run.rows
        for kernel in (row.memory or {}).get("slowest", ())
    ]
    title = "## Where the time goes\n\nThe slowest kernels of each model, from `program.profile()` (docs/profile.md).\n"
    return _table(title, columns, lines) if lines else ""


def _mean_ratio(run: Run, contender: str, figure: str, smallest: float) -> str:
    pairs = [(row, run.row(row.model, BASELINE)) for row in run.rows if row.contender == contender]
    both = [(row, baseline) for row, baseline in pairs if baseline and (baseline.total or smallest) >= smallest]
    figures = [(getattr(row, figure), getattr(baseline, figure)) for row, baseline in both]
    ratios = [mine / theirs for mine, theirs in figures if mine and theirs and mine > 0 and theirs > 0]
    return f"{geometric_mean(ratios):.2f} ({len(ratios)})" if ratios else NONE


def _table(title: str, columns: Iterable[str], lines: Iterable[str]) -> str:
    columns = tuple(columns)
    return "\n".join((title, _line(*columns), "|" + "---|" * len(columns), *lines, ""))


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _mb(size: float | None) -> str:
    if size is None:
        return NONE
    return f"{size / 1e6:.1f}" if abs(size) >= 1e6 else f"{size / 1e6:.3f}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def _ratio(mine: float | None, theirs: float | None) -> str:
    return f"{mine / theirs:.2f}" if mine is not None and theirs is not None and theirs > 0 else NONE


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
