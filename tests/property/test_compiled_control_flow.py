"""Random programs with control flow as `hotdesk.compile` makes them of their text: results are the reference's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

import hotdesk
from tests.harness import assert_same
from tests.running import wanted
from tests.structured import Program, structured_programs

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def _check(program: Program, number: int) -> None:
    note(program.text)
    compiled = hotdesk.compile(program.text)
    inputs = program.inputs(number)
    memory = compiled.memory(*inputs)
    assert memory.arena == memory.lower_bound
    for _ in range(2):
        returned = compiled(*(np.array(each) if isinstance(each, np.ndarray) else each for each in inputs))
        results = returned if isinstance(returned, tuple) else (returned,)
        for position, (result, want) in enumerate(zip(results, wanted(program.text, inputs), strict=True)):
            assert_same(np.asarray(result), want, f"result {position}")


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results(program: Program, number: int) -> None:
    _check(program, number)


@pytest.mark.slow
@seed(20264)
@settings(max_examples=600, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results_of_many_programs(program: Program, number: int) -> None:
    _check(program, number)
