"""Random programs with control flow do the same after each pass on buffers, in memory that shows mistakes, and free all of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.running import RefusedError, Subject, check
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

_BUFFERIZE, _FREE = "hotdesk-one-shot-bufferize", "hotdesk-buffer-deallocation"
_PASSES = (
    "hotdesk-buffer-loop-hoisting",
    "hotdesk-promote-buffers-to-stack",
    "hotdesk-copy-removal",
    "hotdesk-share-buffers",
    "hotdesk-merge-allocations",
)
_BEFORE = ("hotdesk-buffer-hoisting", *_PASSES, ",".join(("hotdesk-buffer-hoisting", *_PASSES)))
_AFTER = (*_PASSES, ",".join(_PASSES), "hotdesk-merge-allocations{arena=allocate alignment=16 strategy=no-reuse}")
SUBJECTS = (
    *(
        Subject(f"{steps} in front", f"builtin.module({_BUFFERIZE},{steps},{_FREE})", frees=True, may_refuse=True)
        for steps in _BEFORE
    ),
    *(
        Subject(f"{steps} behind", f"builtin.module({_BUFFERIZE},{_FREE},{steps})", frees=True, may_refuse=True)
        for steps in _AFTER
    ),
)
"""Each pass in front of deallocation and behind it; nothing leaks."""

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_EACH = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)


def _check(text: str, inputs: list[object], subject: Subject) -> bool:
    """Whether bufferization took a program; fails if it does something else then."""
    try:
        check(text, inputs, subject)
    except RefusedError:
        return False
    return True


@_EACH
def test_examples(subject: Subject) -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.values()]
    taken = [_check(text, inputs_of(text), subject) for text in texts]
    assert sum(taken) > len(taken) // 2


@_EACH
@settings(max_examples=8, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results(subject: Subject, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), subject)


@pytest.mark.slow
@_EACH
@seed(20262)
@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results_of_many_programs(subject: Subject, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), subject)
