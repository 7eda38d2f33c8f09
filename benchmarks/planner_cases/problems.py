"""Problems that others publish, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from hotdesk.planning import Buffer, Problem, Tie, read_csv

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CAPACITY = 1_048_576
"""What the eleven instances of MiniMalloc are asked to fit into."""

MINIMALLOC_SECONDS = dict(zip("ABCDEFGHIJK", (4.9, 3.7, 0.6, 2.7, 3.7, 5.4, 1.2, 1.8, 3.9, 0.9, 0.6), strict=True))
"""MiniMalloc's own solver in C++, as published with the instances (ASPLOS 2024), on another machine."""

MOST_LONG = 300
"""Steps that the long live ranges of a random problem span at most."""


def minimalloc() -> Iterator[tuple[str, Problem]]:
    """The eleven challenging instances that are there, by letter."""
    for letter in MINIMALLOC_SECONDS:
        path = _find(f"{letter}.{CAPACITY}.csv", "minimalloc")
        if path is not None:
            yield letter, read_csv(path.read_text())


def traces() -> Iterator[tuple[str, Problem]]:
    """Real programs' buffers, those that are there: in the checkout, or in `../shared/traces`."""
    for name in ("resnet50", "G_1", "pangu_2.6B", "S_1"):
        path = _find(f"{name}.csv", "traces")
        if path is not None:
            yield name, read_csv(path.read_text())


def _find(name: str, folder: str) -> Path | None:
    places = (ROOT / "tests" / "data" / "planning" / name, SHARED / folder / name)
    return next((path for path in places if path.exists()), None)


def random_problem(count: int, seed: int = 0) -> Problem:
    """`count` buffers of 64 bytes to 1 MiB, sizes uniform in their logarithm, over `count` steps.

    Nine in ten live for 1 to 20 steps, the others for up to `MOST_LONG`.
    """
    rng = random.Random(seed)
    buffers: list[Buffer] = []
    for i in range(count):
        lower = rng.randrange(count)
        lifetime = rng.randint(1, 20) if rng.random() < 0.9 else rng.randint(20, MOST_LONG)
        buffers.append(Buffer(i, lower, lower + lifetime, int(2 ** rng.uniform(6, 20))))
    return Problem(tuple(buffers))


def tied_problem(count: int, seed: int = 0) -> Problem:
    """`count` buffers of up to 12,800 bytes over about `count` steps, of which some three in ten have a gap.

    As many are half of the one before, where this lies, from when it ends.
    """
    rng = random.Random(seed)
    buffers: list[Buffer] = []
    ties: list[Tie] = []
    for i in range(count):
        lower = rng.randrange(count)
        upper = lower + rng.randint(4, 30)
        gaps = ((lower + 1, upper - 2),) if rng.random() < 0.3 else ()
        buffers.append(Buffer(i, lower, upper, 64 * rng.randint(1, 200), gaps=gaps))
    for before, after in pairwise(range(count)):
        if rng.random() < 0.3:
            host = buffers[before]
            half = max(64, host.size // 128 * 64)
            buffers[after] = Buffer(after, host.upper, host.upper + rng.randint(1, 20), half)
            ties.append(Tie(after, before))
    return Problem(tuple(buffers), (), tuple(ties))
