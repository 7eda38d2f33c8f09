"""Steps of training at batch 4: bytes, times and losses of Hotdesk's beside those of eager PyTorch, checkpointing and inductor.

    python benchmarks/training.py [--models NAME …] [--steps 50] [--rounds 7] [--rows NAME …]

Prints a table for each model and writes `benchmarks/TRAINING.md` and `benchmarks/training.json`; a run of some models replaces
theirs in both, and one of some rows those of each model, whose times stay.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from benchmarks.interposer import preloaded
from benchmarks.measure import ROOT, THREAD_VARIABLES, Child, ChildError, start
from benchmarks.results import surroundings

MODELS = ("resnet50", "unet", "vit_b16", "gpt2", "gpt2_long")
CHAOTIC = ("resnet50",)
"""Models whose losses rounding decides: compared in other steps too, and with eager PyTorch's own difference from itself."""
PERTURBED, ONE_THREAD = "eager, perturbed", "eager, one thread"
OF_BAR, OF_OWN = "hotdesk, half of the bar", "hotdesk, half of its own"
CONTENDERS = ("eager", PERTURBED, ONE_THREAD, "checkpoint", "inductor", "hotdesk", OF_BAR, OF_OWN)
IN_DOUBLE, FROM_ZERO = ", float64", ", from zero"
OTHERWISE: Mapping[str, Sequence[str]] = {
    IN_DOUBLE: ("--dtype", "float64"),
    FROM_ZERO: ("--from-zero", "--rate", "1e-4"),
}
"""What is behind the name of a contender that makes other steps, and how its child is told."""
LOSSES_ALONE = (
    *(f"{contender}{IN_DOUBLE}" for contender in ("eager", "hotdesk")),
    *(f"{contender}{FROM_ZERO}" for contender in ("eager", PERTURBED, ONE_THREAD, "inductor", "hotdesk", OF_BAR)),
)
OVER_EAGER, OVER_INDUCTOR = 0.6, 0.8
"""Bars of a step's peak."""
RESULTS, PAGE = ROOT / "benchmarks" / "training.json", ROOT / "benchmarks" / "TRAINING.md"

DEFINITIONS = """\
Batch 4 (`gpt2_long`: one sequence of 1,024 words), SGD with momentum, cross entropy, dropout off, random weights and data.
MB = 10⁶ bytes. Each contender is a process of its own on two threads.

- **peak**: bytes at once during a step, above parameters, buffers, momentum and the example: activations, gradients, workspaces
  and the loss. The allocation interposer (`benchmarks/interposer`) counts from the level between two steps, when no gradient is
  alive; what an arena keeps between steps is added.
- **seconds**: median of steps that take turns in random order; **compile** includes the first step.
- **checkpoint**: eager PyTorch that keeps only what goes into each block (`torch.utils.checkpoint`). **inductor**:
  `torch.compile` as it comes, whose partitioner chooses what is kept by a minimum cut. **half of the bar**: `budget=` is half of
  what the bars allow, 0.6 times eager's peak or 0.8 times inductor's. **half of its own**: half of the peak that Hotdesk has
  without a budget.
- **losses**: how far those of the first steps are from eager PyTorch's, at most, by the larger of 1 and eager's loss.
  **perturbed** is eager PyTorch whose images are one part in a million larger, **one thread** eager PyTorch that adds up in
  another order: what rounding does to these losses.
- **from zero**: the last batch norm of each residual block starts with weight 0, so that a block begins as what it adds to,
  and the learning rate is 1e-4, a tenth of that of all other steps: the usual start of training such a network, with a warm-up
  (Goyal et al., "Accurate, Large Minibatch SGD", 2017, sections 2.2 and 5.1). `transformers` starts them with 1, and then each
  step of ResNet-50 makes a difference about ten times as large, so that eager PyTorch's losses are as far from its own,
  perturbed, as from anybody's: they say nothing of who is right. The bar of losses is asked of both.
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one contender needs: bytes, seconds, and its losses from the start."""

    losses: tuple[float, ...]
    transient: int
    arena: int
    prepare: float
    seconds: tuple[float, ...] = ()

    @property
    def peak(self) -> int:
        return self.transient + self.arena

    @property
    def step(self) -> float | None:
        return median(self.seconds) if self.seconds else None


Found = dict[str, "Figures | str"]
"""By contender, with what stands behind its name for other steps, what it needs, or why that is not known."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--steps", type=int, default=50, help="whose losses are compared (50)")
    parser.add_argument("--rounds", type=int, default=7, help="steps of each contender that are timed (7)")
    parser.add_argument("--rows", nargs="*", default=[], help="rows to measure again, but for their times; others stay")
    options = parser.parse_args(arguments)
    console = Console(highlight=False, soft_wrap=True)
    around = surroundings()
    for model in options.models:
        if options.rows:
            again(model, options.rows, options.steps, console)
            continue
        found = measure(model, options.steps, options.rounds, console)
        write(model, {"around": around, "found": _plain(found)})
    console.print(PAGE.read_text(), markup=False)
    return 0


def measure(model: str, steps: int, rounds: int, console: Console) -> Found:
    """All contenders on one model. Those that are timed stay until all have got ready."""
    found: Found = {}
    ready: dict[str, Child] = {}
    try:
        for contender in CONTENDERS:
            if contender in (PERTURBED, ONE_THREAD) and model not in CHAOTIC:
                continue
            untold = ("checkpoint", OF_OWN) if model in CHAOTIC else ("checkpoint", "inductor", OF_OWN)
            child = _ready(found, contender, model, 0 if contender in untold else steps)
            console.print(f"{model}: {contender}: {_brief(found[contender])}", markup=False)
            if child is not None and contender not in (PERTURBED, ONE_THREAD):
                ready[contender] = child
            elif child is not None:
                child.stop()
        for name in LOSSES_ALONE if model in CHAOTIC else ():
            child = _ready(found, name, model, steps)
            console.print(f"{model}: {name}: {_brief(found[name])}", markup=False)
            if child is not None:
                child.stop()
        return _timed(found, ready, rounds)
    finally:
        for child in ready.values():
            child.stop()


def again(model: str, names: Sequence[str], steps: int, console: Console) -> None:
    """Measures some rows of a model's table again, but for their times; the page has all others as they were."""
    entry = json.loads(RESULTS.read_text())[model]
    found: Found = {name: told if isinstance(told, str) else _figures(told) for name, told in entry["found"].items()}
    for name in names:
        known = found.get(name)
        child = _ready(found, name, model, steps)
        console.print(f"{model}: {name}: {_brief(found[name])}", markup=False)
        if child is not None:
            child.stop()
        told = found[name]
        if isinstance(told, Figures) and isinstance(known, Figures):
            found[name] = replace(told, seconds=known.seconds, prepare=known.prepare)
    write(model, {**entry, "found": _plain(found)})


def _split(name: str) -> tuple[str, str]:
    """A contender, and what stands behind its name."""
    behind = next((each for each in OTHERWISE if name.endswith(each)), "")
    return name.removesuffix(behind), behind


def _ready(found: Found, name: str, model: str, steps: int) -> Child | None:
    """A child that has made its first steps; what it tells goes to `found`."""
    budget = None
    contender, behind = _split(name)
    if contender in (OF_BAR, OF_OWN):
        whole = allowed(found) if contender == OF_BAR else _peak(found, "hotdesk")
        if whole is None:
            found[name] = "no peak to halve"
            return None
        budget = whole // 2
    command = [sys.executable, "-m", "benchmarks.steps.worker", contender, model, *OTHERWISE.get(behind, ())]
    command += ["--losses", str(steps)] if steps else []
    command += ["--budget", str(budget)] if budget else []
    threads = dict.fromkeys(THREAD_VARIABLES, "2")
    # Python's own allocator keeps what is freed; without it every byte that is counted is in use.
    environment = {**os.environ, **threads, **preloaded(), "PYTHONMALLOC": "malloc"}
    log = Path(tempfile.gettempdir()) / f"hotdesk-training-{os.getpid()}.log"
    child = start(command, environment, log)
    try:
        told = child.answer(CHILD_SECONDS)
    except ChildError as error:
        found[name] = str(error)
        child.stop()
        return None
    losses = tuple(told["losses"]) if steps else ()
    found[name] = Figures(losses, told["transient"], told["arena"], told["prepare"])
    return child


def allowed(found: Mapping[str, Figures | str]) -> int | None:
    """Bytes that the bars allow a step, if eager's peak is known."""
    eager, inductor = _peak(found, "eager"), _peak(found, "inductor")
    if eager is None:
        return None
    most = OVER_EAGER * eager
    return int(most if inductor is None else min(most, OVER_INDUCTOR * inductor))


def _peak(found: Mapping[str, Figures | str], contender: str) -> int | None:
    known = found.get(contender)
    return known.peak if isinstance(known, Figures) else None


CHILD_SECONDS = 7200.0
"""Within which a child has to be ready: with a budget, compiling plans many ways."""


def _timed(found: Found, ready: Mapping[str, Child], rounds: int) -> Found:
    """One step of each contender in each round, in random order."""
    seconds: dict[str, list[float]] = {contender: [] for contender in ready}
    dice = random.Random(0)
    for _ in range(rounds):
        for contender in dice.sample(list(ready), len(ready)):
            seconds[contender] += ready[contender].ask("1")["seconds"]
    for contender, times in seconds.items():
        known = found[contender]
        assert isinstance(known, Figures)
        found[contender] = Figures(known.losses, known.transient, known.arena, known.prepare, tuple(times))
    return found


def write(model: str, entry: Mapping[str, Any]) -> None:
    """Puts a model's figures into the record, and writes the page of all that are there."""
    record: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    record[model] = entry
    RESULTS.write_text(json.dumps({name: record[name] for name in MODELS if name in record}, indent=1) + "\n")
    PAGE.write_text(page(record))


def page(record: Mapping[str, Mapping[str, Any]]) -> str:
    """The record as Markdown."""
    parts = ["# Steps of training\n", "Written by `make bench-training`.\n", DEFINITIONS]
    for model in (name for name in MODELS if name in record):
        entry = record[model]
        around = entry["around"]
        found = {name: told if isinstance(told, str) else _figures(told) for name, told in entry["found"].items()}
        parts.append(f"## {model}\n\n{around['date']}, {around['machine']}; load at the start {around['load']:.1f}.\n")
        parts.append("\n".join(rows(found)) + "\n")
        parts.append("\n".join(bars(found)) + "\n")
    return "\n".join(parts)


def rows(found: Mapping[str, Figures | str]) -> list[str]:
    """A table of what each contender needs."""
    lines = ["| | peak MB | × eager | seconds | × eager | compile s | losses |", "|---|---|---|---|---|---|---|"]
    eager = found.get("eager")
    for name, told in found.items():
        if isinstance(told, str):
            lines.append(f"| {name} | {told} | | | | | |")
            continue
        like = found.get(f"eager{_split(name)[1]}", eager)
        by = like if isinstance(like, Figures) else None
        cells = (
            f"{told.peak / 1e6:,.1f}",
            f"{told.peak / by.peak:.2f}" if by else "",
            f"{told.step:.2f}" if told.step else "",
            f"{told.step / by.step:.2f}" if told.step and by and by.step else "",
            "" if _split(name)[1] else f"{told.prepare:.0f}",
            f"{distance(told, by):.1e}, {len(told.losses)} steps" if by and told.losses and told is not by else "",
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def bars(found: Mapping[str, Figures | str]) -> list[str]:
    """What is asked of a step, and whether it holds."""
    known = {name: told for name, told in found.items() if isinstance(told, Figures)}
    if "hotdesk" not in known:
        return ["No step of Hotdesk's."]
    ours, half, eager = known["hotdesk"], known.get(OF_BAR), known.get("eager")
    most = allowed(found)
    asked: list[tuple[str, float | None, float]] = [
        ("peak over eager's", _over(ours.peak, eager), OVER_EAGER),
        ("peak over inductor's", _over(ours.peak, known.get("inductor")), OVER_INDUCTOR),
        ("half of the bar, peak over it", half.peak / most if half and most else None, 0.5),
        (
            "half of the bar, time over that without",
            half.step / ours.step if half and half.step and ours.step else None,
            1.35,
        ),
    ]
    for contender, told in (("hotdesk", "losses"), (OF_BAR, "half of the bar, losses")):
        for behind in ("", *OTHERWISE):
            mine, like = known.get(f"{contender}{behind}"), known.get(f"eager{behind}")
            if mine and like:
                asked.append((f"{told}{behind}", distance(mine, like), 1e-4))
    lines = ["| bar | at most | found | |", "|---|---|---|---|"]
    for name, value, most in asked:
        verdict = "not known" if value is None else "holds" if value <= most else "**does not hold**"
        lines.append(f"| {name} | {most:g} | {'' if value is None else f'{value:.2g}'} | {verdict} |")
    return lines


def distance(one: Figures, like: Figures) -> float:
    """How far losses are from those of `like`, at most, by the larger of 1 and that loss."""
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(one.losses, like.losses, strict=False))


def _over(peak: int, other: Figures | None) -> float | None:
    return peak / other.peak if other else None


def _figures(told: dict[str, Any]) -> Figures:
    losses, seconds = tuple(told["losses"]), tuple(told["seconds"])
    return Figures(losses, told["transient"], told["arena"], told["prepare"], seconds)


def _plain(found: Found) -> dict[str, Any]:
    return {name: told if isinstance(told, str) else asdict(told) for name, told in found.items()}


def _brief(told: Figures | str) -> str:
    return told if isinstance(told, str) else f"{told.peak / 1e6:,.1f} MB, ready in {told.prepare:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
