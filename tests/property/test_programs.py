"""Random programs: every pipeline makes of them what the reference makes of them, in memory that shows mistakes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.harness import PIPELINES, Compiled, check
from tests.programs import GREATEST_SYMBOL, LEAST_SYMBOL, Program, programs

_SYMBOL = st.integers(LEAST_SYMBOL, GREATEST_SYMBOL)
_SIZES = st.lists(st.tuples(_SYMBOL, _SYMBOL), min_size=1, max_size=3)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def _check(program: Program, sizes: list[tuple[int, int]], name: str) -> None:
    """One compilation, one run for each size: from the second on, tables and arena of the run before must not matter."""
    note(program.text)
    compiled = Compiled(program.text, PIPELINES[name])
    for number, symbols in enumerate(sizes if program.symbolic else sizes[:1]):
        check(compiled, program.inputs(symbols, seed=number), name)


@pytest.mark.parametrize("name", PIPELINES)
@settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_results(name: str, program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES)
@seed(20261)
@settings(max_examples=800, deadline=None, database=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_results_of_many_programs(name: str, program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes, name)
