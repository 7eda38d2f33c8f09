"""Random programs on memrefs through the passes on buffers, alone and together, under the memory checker.

Before and after a program has no fault, and its results are the same wherever the program wrote them before. Whoever brings
memrefs of their own has programs like these: bufferization makes no overlapping slices, no copies to and fro, no arguments that
are one another's memory.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, reject, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.running.buffer_passes import MOVING
from tests.running.peaks import UnknownError, peak_of
from tests.structured.memory import MemoryProgram, memory_program

_FREE = "hotdesk-buffer-deallocation"
PASSES = (
    *MOVING,
    "hotdesk-merge-allocations{arena=argument alignment=16}",
)
_SHAPES = {0: (8,), 1: (2, 4), 2: (8,)}
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_EACH = pytest.mark.parametrize("one", PASSES)


def checked(text: str, program: MemoryProgram, number: int, *, freed: bool) -> CheckReport:
    """What the checker tells of a program; fails if there is a fault."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        given_settings = Settings(deallocated=freed, undefined="carry")
        report = check_module(module, "main", program.inputs(number), result_shapes=_SHAPES, settings=given_settings)
    assert report.clean, str(report)
    return report


def after(text: str, passes: Sequence[str]) -> str:
    """A program after passes, which verifies."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({','.join(passes)})").run(module)
        module.operation.verify()
        return str(module)


def check(program: MemoryProgram, passes: Sequence[str], *, frees: bool) -> None:
    """Fails if a program does anything else after passes; `frees` is whether it frees what it allocates."""
    note(program.text)
    changed = after(program.text, passes)
    note(changed)
    for number in range(2):
        before = checked(program.text, program, number, freed=frees)
        behind = checked(changed, program, number, freed=frees or _FREE in passes)
        assert len(before.results) == len(behind.results)
        for was, now in zip(before.results, behind.results, strict=True):
            assert np.all(now.written[was.written])
            np.testing.assert_array_equal(was.values[was.written], now.values[was.written])


def _order(number: int, *, frees: bool) -> list[str]:
    """Several passes in some order; if the program frees nothing, deallocation somewhere among them."""
    chosen = random.Random(number)
    passes: list[str] = [*chosen.sample(PASSES[:-1], chosen.randrange(2, len(PASSES)))]
    if not frees:
        passes.insert(chosen.randrange(len(passes) + 1), _FREE)
    return passes


def _check_each(one: str, number: int, frees: bool) -> None:
    check(memory_program(random.Random(number), frees=frees), [one], frees=frees)


def _check_orders(number: int, frees: bool) -> None:
    check(memory_program(random.Random(number), frees=frees), _order(number, frees=frees), frees=frees)


def _check_peak(number: int) -> None:
    """The most bytes on any path are no more when buffers are shared."""
    program = memory_program(random.Random(number), frees=True)
    note(program.text)
    try:
        before = peak_of(program.text)
    except UnknownError:
        reject()
    changed = after(program.text, ["hotdesk-share-buffers"])
    note(changed)
    assert peak_of(changed) <= before


@_EACH
@settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.booleans())
def test_each(one: str, number: int, frees: bool) -> None:
    _check_each(one, number, frees)


@settings(max_examples=15, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.booleans())
def test_orders(number: int, frees: bool) -> None:
    _check_orders(number, frees)


@settings(max_examples=15, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32))
def test_sharing_never_takes_more(number: int) -> None:
    _check_peak(number)


@pytest.mark.slow
@_EACH
@seed(20263)
@settings(max_examples=400, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.booleans())
def test_each_on_many_programs(one: str, number: int, frees: bool) -> None:
    _check_each(one, number, frees)


@pytest.mark.slow
@seed(20264)
@settings(max_examples=10000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32), st.booleans())
def test_orders_on_many_programs(number: int, frees: bool) -> None:
    _check_orders(number, frees)


@pytest.mark.slow
@seed(20265)
@settings(max_examples=2000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(st.integers(0, 2**32))
def test_sharing_never_takes_more_in_many_programs(number: int) -> None:
    _check_peak(number)
