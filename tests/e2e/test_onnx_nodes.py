"""ONNX's tests of operators and models, as `benchmarks/onnx_nodes.py` found them: what was right stays so, none is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.onnx_nodes import KEPT, outcome

FOUND: dict[str, str] = {
    name: each for tests in json.loads(Path(KEPT).read_text()).values() for name, each in tests.items()
}
RIGHT = sorted(name for name, each in FOUND.items() if each == "right")
REFUSED = sorted(name for name, each in FOUND.items() if each.startswith("HD"))
_EVERY = 24  # in the tests that always run


def test_none_is_wrong() -> None:
    assert set(FOUND.values()) - {"right"} == {each for each in FOUND.values() if each.startswith("HD")}
    assert len(RIGHT) >= 1927


@pytest.mark.parametrize("name", RIGHT[::_EVERY])
def test_right_ones_stay_right(name: str) -> None:
    assert outcome(name) == ("right", "")


@pytest.mark.parametrize("name", REFUSED[:: 4 * _EVERY])
def test_refused_ones_are_refused_or_right(name: str) -> None:
    found, _ = outcome(name)
    assert found == "right" or found.startswith("HD")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for number, name in enumerate(RIGHT) if number % _EVERY])
def test_all_right_ones_stay_right(name: str) -> None:
    assert outcome(name) == ("right", "")
