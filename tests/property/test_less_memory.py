"""Programs in parts, with values made late, and made again: the passes change no value, and what they make compiles."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.compute_late import ComputeLate
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.recompute_across import RecomputeAcross
from hotdesk.passes.tensor.recompute_to_fit import RecomputeToFit
from hotdesk.passes.tensor.split_rows import SplitRows
from tests import reference
from tests.harness import check_module
from tests.programs import Program as StraightProgram
from tests.programs import programs
from tests.running.examples import EXAMPLES, inputs_of
from tests.running.executable import main_of
from tests.structured import Program, structured_programs
from tests.unit.parsing import parse, run

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_ELEMENTWISE = RecomputeAcross(across=9, least_bytes=1, elementwise=True)
_IN_PARTS = st.sampled_from(
    [
        (SplitRows(parts=2, least_bytes=1),),
        (SplitRows(parts=3, least_bytes=1, large=1 << 30), EliminateEmptyTensors()),
        (SplitRows(parts=100, least_bytes=1, large=0), SplitRows(parts=2, least_bytes=1)),
        (_ELEMENTWISE,),
        (RecomputeToFit(1), EliminateEmptyTensors()),
        (ComputeLate(), RecomputeToFit(64), RecomputeToFit(1)),
        (_ELEMENTWISE, SplitRows(parts=2, least_bytes=1, large=1), _ELEMENTWISE),
    ]
)


def _late_and_again(across: int) -> tuple[Pass, ...]:
    """Values made late, then made again behind two operations."""
    return (ComputeLate(), *(RecomputeAcross(across=each, least_bytes=1) for each in (across, across + 7)))


_LATE = st.integers(0, 30).map(_late_and_again)
_PASSES = st.one_of(_IN_PARTS, _LATE)


def assert_same_values(before: str, after: str, inputs: list[object]) -> None:
    first, second = parse(before), parse(after)
    with first.context:
        wanted = reference.expected(main_of(first), inputs)
    with second.context:
        got = reference.expected(main_of(second), inputs)
    for a, b in zip(wanted, got, strict=True):
        assert (a.defined <= b.defined).all()
        assert a.values[a.defined].tobytes() == b.values[a.defined].tobytes()


@pytest.mark.parametrize("name", [*EXAMPLES][::12])
def test_some_examples(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    assert_same_values(text, run(parse(text), SplitRows(parts=2, least_bytes=1)), inputs_of(text))
    assert_same_values(text, run(parse(text), _ELEMENTWISE), inputs_of(text))
    assert_same_values(text, run(parse(text), *_late_and_again(len(name) % 20)), inputs_of(text))


@settings(max_examples=12, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _PASSES)
def test_straight_programs(program: StraightProgram, passes: tuple[Pass, ...]) -> None:
    note(program.text)
    assert_same_values(program.text, run(parse(program.text), *passes), list(program.inputs((4, 3), seed=0)))


@settings(max_examples=6, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(structured_programs(), _PASSES)
def test_control_flow(program: Program, passes: tuple[Pass, ...]) -> None:
    note(program.text)
    assert_same_values(program.text, run(parse(program.text), *passes), program.inputs(0))


@settings(max_examples=3, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _PASSES)
def test_compiled(program: StraightProgram, passes: tuple[Pass, ...]) -> None:
    note(program.text)
    check_module(run(parse(program.text), *passes), *program.inputs((4, 3), seed=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_all_examples(name: str) -> None:
    test_some_examples(name)


@pytest.mark.slow
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs(), _PASSES)
def test_many_straight_programs(program: StraightProgram, passes: tuple[Pass, ...]) -> None:
    note(program.text)
    assert_same_values(program.text, run(parse(program.text), *passes), list(program.inputs((4, 3), seed=0)))
