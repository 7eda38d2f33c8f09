"""Programs with control flow under the memory checker: no fault in what Hotdesk makes of them, and the results of the reference.

The checker interprets the IR and shares no code with the passes or with the reference; a run by machine code is another test's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from hotdesk.runtime.checker import CheckReport, Settings, check_module
from tests.harness import assert_same
from tests.reference import Expected
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

BUFFERIZED = "builtin.module(hotdesk-one-shot-bufferize)"
FREED = "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)"
PIPELINES = {BUFFERIZED: Settings(deallocated=False, undefined="carry"), FREED: Settings(undefined="carry")}
"""Each with what the checker expects: before deallocation nothing is to be freed. Some programs compute with undefined memory."""

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_EACH = pytest.mark.parametrize("pipeline", PIPELINES)


def checked(text: str, inputs: Sequence[Any], pipeline: str, expected: Sequence[Expected]) -> CheckReport | None:
    """The report on a program after a pipeline, or None if that refuses it. Fails if the results are wrong."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        try:
            parse_pipeline(pipeline).run(module)
        except HotdeskError:
            return None
        shapes = {number: want.values.shape for number, want in enumerate(expected)}
        report = check_module(
            module, "main", inputs, result_shapes=shapes, read_only=True, settings=PIPELINES[pipeline]
        )
    if report.clean:
        assert len(report.results) == len(expected)
        for number, (result, want) in enumerate(zip(report.results, expected, strict=True)):
            assert np.all(result.written[want.defined]), f"result {number} is not written where it is defined"
            assert_same(result.values, want, f"result {number}")
    return report


def _check(text: str, inputs: Sequence[Any], pipeline: str) -> bool:
    """Whether the pipeline took the program; fails if the checker finds a fault."""
    report = checked(text, inputs, pipeline, wanted(text, inputs))
    assert report is None or report.clean, str(report)
    return report is not None


@_EACH
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, pipeline: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    _check(text, inputs_of(text), pipeline)


@_EACH
def test_most_examples_are_checked(pipeline: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES.values()]
    assert sum(_check(text, inputs_of(text), pipeline) for text in texts[::4]) >= len(texts[::4]) * 3 // 4


@_EACH
@settings(max_examples=100, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_program(pipeline: str, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), pipeline)


@pytest.mark.slow
@_EACH
@seed(20262)
@settings(max_examples=2000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs(pipeline: str, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), pipeline)
