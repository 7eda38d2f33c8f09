"""Fusion in front of bufferization and behind it: every program makes what the reference makes of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.running import Subject, check
from tests.structured import Program, structured_programs

_TENSORS = "hotdesk-fuse-elementwise,hotdesk-choose-destinations,hotdesk-use-inplace-calls"
_PREPARED = (
    f"hotdesk-decompose-concat-and-pad,hotdesk-rematerialize-cheap-ops,hotdesk-eliminate-empty-tensors,{_TENSORS}"
)
SUBJECTS = (
    Subject("fused before", "builtin.module(hotdesk-fuse-elementwise,hotdesk-one-shot-bufferize)"),
    Subject("fused behind", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-fuse-buffers)"),
    Subject("all of them", f"builtin.module({_PREPARED},hotdesk-one-shot-bufferize,hotdesk-fuse-buffers)"),
)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=40, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.sampled_from(SUBJECTS), structured_programs(), st.integers(0, 9))
def test_any_program(subject: Subject, program: Program, number: int) -> None:
    note(f"{subject.name}\n{program.text}")
    check(program.text, program.inputs(number), subject)


@pytest.mark.slow
@seed(20267)
@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.sampled_from(SUBJECTS), structured_programs(), st.integers(0, 9))
def test_many_programs(subject: Subject, program: Program, number: int) -> None:
    note(f"{subject.name}\n{program.text}")
    check(program.text, program.inputs(number), subject)
