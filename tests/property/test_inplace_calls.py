"""In-place calls in programs with control flow: bufferized after the pass, every program makes what the reference makes of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.running import Subject, check
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

IN_PLACE = Subject(
    "Hotdesk's with in-place calls",
    "builtin.module(hotdesk-use-inplace-calls,hotdesk-one-shot-bufferize)",
)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    check(text, inputs_of(text), IN_PLACE)


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_any_program(program: Program, number: int) -> None:
    note(program.text)
    check(program.text, program.inputs(number), IN_PLACE)


@pytest.mark.slow
@seed(20264)
@settings(max_examples=800, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs(program: Program, number: int) -> None:
    note(program.text)
    check(program.text, program.inputs(number), IN_PLACE)
