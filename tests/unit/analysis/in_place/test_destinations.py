"""Destinations of functions with loops: how often a function is analysed for them, and that what copies more is not taken."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from hotdesk.analysis.in_place import destinations, premise_trials
from hotdesk.analysis.in_place.copied_bytes import copied_bytes
from hotdesk.analysis.in_place.inplace import Premises, analyse_in_place
from hotdesk.analysis.tensors.reading import read_function
from tests.unit.parsing import function, parse

_FILE = Path(__file__).parents[3] / "filecheck" / "tensor" / "choose-destinations-loops.mlir"
"""Shows what each of its functions becomes."""


@pytest.mark.parametrize(
    ("name", "chosen", "again"),
    [("dies_in_an_iteration", 1, 1), ("the_loop_keeps_its_own", 1, 2), ("the_function_keeps_its_own", 0, 1)],
)
def test_each_trial_is_one_analysis(name: str, chosen: int, again: int) -> None:
    (text,) = (each for each in _FILE.read_text(encoding="utf-8").split("// -----") if f"@{name}(%" in each)
    module = parse(text)
    record = read_function(function(module))
    with patch.object(premise_trials, "analyse_again", wraps=premise_trials.analyse_again) as tried:
        found = destinations.choose_destinations(record)
    assert (len(found), tried.call_count) == (chosen, again)
    own = analyse_in_place(record)
    taken = premise_trials.analyse_again(own, Premises(destinations=found))
    assert sum(copied_bytes(taken).values()) <= sum(copied_bytes(own).values())
