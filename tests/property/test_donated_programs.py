"""Random programs with all their inputs donated: the results of the reference, and no fault under the memory checker."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from hotdesk.checker.report import FaultKind
from tests.harness import PIPELINES, Compiled, check
from tests.programs import GREATEST_SYMBOL, LEAST_SYMBOL, Program, programs
from tests.running.checked import planned

_SYMBOL = st.integers(LEAST_SYMBOL, GREATEST_SYMBOL)
_SIZES = st.lists(st.tuples(_SYMBOL, _SYMBOL), min_size=1, max_size=2)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_KEPT = re.compile(r'hotdesk\.kind = "input"(?![^}]*hotdesk\.donated)')


def _check(program: Program, sizes: list[tuple[int, int]], *, checked: bool) -> None:
    text = _KEPT.sub('hotdesk.kind = "input", hotdesk.donated', program.text)
    note(text)
    compiled = Compiled(text, PIPELINES["everything"])
    assert all(argument.donated for argument in compiled.arguments if argument.kind == "input")
    for number, symbols in enumerate(sizes if program.symbolic else sizes[:1]):
        inputs = program.inputs(symbols, seed=number)
        check(compiled, inputs)
        if checked and all(want.defined.all() for want in compiled.expected(inputs)):
            report = planned(compiled, inputs)
            assert not [fault for fault in report.faults if fault.kind is not FaultKind.UNWRITTEN], str(report)


@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_donated_programs(program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes, checked=False)


@pytest.mark.slow
@seed(20262)
@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_many_donated_programs(program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes, checked=True)
