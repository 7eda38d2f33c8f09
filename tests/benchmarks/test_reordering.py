"""The networks are wired as they should be, and what is measured is what the compiler does."""

from __future__ import annotations

import random

import pytest
import torch

import hotdesk
from benchmarks.reordering import COLUMNS, measure, page
from benchmarks.reorderings.networks import NETWORKS, BranchedUNet, Network, watts_strogatz
from benchmarks.results import surroundings


def test_a_ring_rewired() -> None:
    wired = watts_strogatz(20, 4, 0.75, random.Random(1))
    assert all(before == sorted(set(before)) and all(j < i for j in before) for i, before in enumerate(wired))
    assert sum(map(len, wired)) == 40
    ring = watts_strogatz(8, 2, 0.0, random.Random(1))
    assert ring == [[], [0], [1], [2], [3], [4], [5], [0, 6]]


def test_names_are_unique() -> None:
    assert len({network.name for network in NETWORKS}) == len(NETWORKS)


SMALL = Network("small", lambda: BranchedUNet(2, 2), (1, 3, 16, 16))


def test_measured() -> None:
    row = measure(SMALL)
    assert row.found.proven_optimal
    assert row.found.peak < row.found.given
    assert row.after < row.before
    assert "| small | " in page([row], surroundings())
    assert len(row.cells()) == len(COLUMNS)


@pytest.mark.slow
def test_measured_as_compiled() -> None:
    row = measure(SMALL)
    model, x = SMALL.make().eval(), torch.randn(*SMALL.image)
    given, program = hotdesk.compile(model, (x,)), hotdesk.compile(model, (x,), order="peak")
    assert (row.before, row.after) == (given.memory().arena, program.memory().arena)
    assert torch.equal(given(x), program(x))
