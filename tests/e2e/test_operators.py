"""PyTorch's own samples of its operators: what became of each is kept in `tests/data/operators.json`, and may not get worse.

`make coverage` writes that file; a letter stands for a sample: `r` compiled and right, `c` right with a foreign call, `f`
refused, `x` not exported by `torch.export`, `-` without a result to compare.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.operators import KEPT, LETTERS, SAMPLES, letters, operators, outcomes

RECORDED: dict[str, dict[str, str]] = json.loads(Path(KEPT).read_text())
RIGHT_OR_CALLED, RIGHT = 0.98, 0.85
"""Shares of the samples that `torch.export` exports."""
EVERY = 60
"""Of the operators one in so many is tried each time; the others only where slow tests run."""

_ORDER = "rcf"
ALL = [(dtype, name) for dtype, by_name in RECORDED.items() for name in by_name]
FEW = [each for each in ALL[::EVERY] if "r" in RECORDED[each[0]][each[1]]]


@pytest.mark.parametrize("dtype", RECORDED)
def test_bars(dtype: str) -> None:
    said = "".join(RECORDED[dtype].values())
    assert set(said) <= set(LETTERS.values())  # nothing wrong, nothing that crashes, hangs or raises raw
    right, called, refused = (said.count(letter) for letter in _ORDER)
    total = right + called + refused
    assert total > 900
    assert (right + called) / total >= RIGHT_OR_CALLED
    assert right / total >= RIGHT


def _is_no_worse(now: str, kept: str) -> bool:
    return len(now) == len(kept) and all(
        old not in _ORDER or (new in _ORDER and _ORDER.index(new) <= _ORDER.index(old))
        for new, old in zip(now, kept, strict=True)
    )


def _try(dtype: str, name: str) -> None:
    op: Any = dict(operators()).get(name)
    if op is None or getattr(torch, dtype) not in op.supported_dtypes("cpu"):
        return
    found = list(outcomes(op, dtype, SAMPLES))
    assert _is_no_worse(letters(found), RECORDED[dtype][name]), (RECORDED[dtype][name], found)


@pytest.mark.unchecked
@pytest.mark.parametrize(("dtype", "name"), FEW)
def test_a_few(dtype: str, name: str) -> None:
    _try(dtype, name)


@pytest.mark.slow
@pytest.mark.unchecked
@pytest.mark.parametrize(("dtype", "name"), ALL)
def test_all(dtype: str, name: str) -> None:
    _try(dtype, name)


def test_what_is_worse_is_seen() -> None:
    assert _is_no_worse("rrr", "rcf")
    assert _is_no_worse("rx-", "r--")
    for now, kept in (("rcr", "rrr"), ("rf", "rc"), ("r?", "rr"), ("rr", "rrr"), ("rx", "rr")):
        assert not _is_no_worse(now, kept)
