"""Random programs as `hotdesk.compile` makes them of their text: results are the reference's, arguments stay as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

import hotdesk
from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function
from tests import reference
from tests.harness import assert_same
from tests.programs import GREATEST_SYMBOL, LEAST_SYMBOL, Program, programs
from tests.reference import Array, Expected

_SYMBOL = st.integers(LEAST_SYMBOL, GREATEST_SYMBOL)
_SIZES = st.lists(st.tuples(_SYMBOL, _SYMBOL), min_size=1, max_size=3)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def expected(text: str, inputs: list[Array]) -> list[Expected]:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        return reference.expected(main_function(module), inputs)


def _check(program: Program, sizes: list[tuple[int, int]]) -> None:
    note(program.text)
    compiled = hotdesk.compile(program.text)
    for number, symbols in enumerate(sizes if program.symbolic else sizes[:1]):
        inputs = program.inputs(symbols, seed=number)
        wanted = expected(program.text, inputs)
        given = [np.array(array) for array in inputs]
        returned = compiled(*given)
        results = returned if isinstance(returned, tuple) else (returned,)
        assert len(results) == len(wanted)
        for position, (result, want) in enumerate(zip(results, wanted, strict=True)):
            assert_same(np.asarray(result), want, f"result {position}")
        for spec, array, before in zip(compiled.inputs, given, inputs, strict=True):
            assert spec.donated or np.array_equal(array, before, equal_nan=array.dtype.kind == "f"), (
                f"{spec.name} changed"
            )


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_results(program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes)


@pytest.mark.slow
@seed(20263)
@settings(max_examples=800, deadline=None, database=None, suppress_health_check=_QUIET)
@given(programs(), _SIZES)
def test_results_of_many_programs(program: Program, sizes: list[tuple[int, int]]) -> None:
    _check(program, sizes)
