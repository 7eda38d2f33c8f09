"""Random parallel loops whose iterations allocate, with memory for each worker: results are what they were, without a fault."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

import hotdesk
from hotdesk.analysis.memrefs import shared_loops
from hotdesk.checker import Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.structured.parallel_frames import ParallelProgram, parallel_program

_OUT = "%out: memref<?x?xi64>"
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.fixture(autouse=True, scope="module")
def any_loop_is_worth_threads() -> Iterator[None]:
    before = hotdesk.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_loops, "GRAIN", 1)
        yield
    hotdesk.set_num_threads(before)


def _run(program: ParallelProgram, passes: str) -> tuple[str, npt.NDArray[Any]]:
    """The program after passes, and what it makes under the checker; fails if there is a fault."""
    text = program.text.replace(_OUT, f"{_OUT} {{bufferize.result = 0}}", 1)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({passes})").run(module)
        _, *sizes = program.inputs()
        found = Settings(deallocated=True)
        report = check_module(module, "main", sizes, result_shapes={0: program.trips}, settings=found)
        assert report.clean, str(report)
        result = report.results[0]
        assert result.written.all()
        return str(module), result.values


def _check(number: int, threads: int) -> None:
    program = parallel_program(random.Random(number))
    note(program.text)
    _, expected = _run(program, "")
    text, changed = _run(program, f"hotdesk-privatize-buffers{{threads={threads} max-growth-in-bytes=-1}}")
    note(text)
    np.testing.assert_array_equal(changed, expected)
    for growth in (None, 0):
        hotdesk.set_num_threads(threads)
        compiled = hotdesk.compile(program.text, options=hotdesk.Options(private_memory=growth))
        hotdesk.set_num_threads(random.Random(number).choice((1, 2, 4)))
        out, *sizes = program.inputs()
        memory = compiled.memory(out, *sizes)
        assert memory.arena == memory.lower_bound
        for _ in range(2):
            compiled(out, *sizes)
            np.testing.assert_array_equal(out, expected)
            out[:] = -7
        assert not compiled.check(out, *sizes).faults


@settings(max_examples=12, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 5]))
def test_results(number: int, threads: int) -> None:
    _check(number, threads)


@pytest.mark.slow
@seed(20266)
@settings(max_examples=500, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 5]))
def test_results_of_many_programs(number: int, threads: int) -> None:
    _check(number, threads)
