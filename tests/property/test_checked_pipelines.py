"""Every program of the tests under the memory checker, once through the whole of what makes memory out of it: bufferization, each
pass on buffers and all of them in a row, in front of deallocation and behind it; and programs of the compiler.

There is no fault, and the results are those of the reference. `tests/e2e/checking.py` does the same with models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from hotdesk.pipeline import Log, bufferize, optimize_tensors
from hotdesk.runtime.prepared import prepared_types
from tests.guarded import POISONS
from tests.harness import assert_same
from tests.programs import GREATEST_SYMBOL, LEAST_SYMBOL
from tests.programs import Program as StraightProgram
from tests.programs import programs as straight_programs
from tests.reference import Expected
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

BUFFERIZE, FREE = "hotdesk-one-shot-bufferize", "hotdesk-buffer-deallocation"
BEFORE = ("hotdesk-buffer-hoisting", "hotdesk-buffer-loop-hoisting", "hotdesk-promote-buffers-to-stack")
BEHIND = ("hotdesk-copy-removal", "hotdesk-share-buffers", "hotdesk-merge-allocations")
PIPELINES = {
    "all passes": (*BEFORE, "hotdesk-copy-removal", FREE, *BEHIND),
    "caller's arena": (FREE, "hotdesk-merge-allocations{arena=argument alignment=16}"),
    "copies": (*BEHIND[:2], f"{FREE}{{mode=copies}}", *BEFORE[1:]),
}
"""What follows bufferization."""

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_EACH = pytest.mark.parametrize("name", PIPELINES)
_SYMBOL = st.integers(LEAST_SYMBOL, GREATEST_SYMBOL)


def _agrees(report: CheckReport, expected: list[Expected]) -> None:
    assert report.clean, str(report)
    assert not report.stopped
    assert len(report.results) == len(expected)
    for number, (result, want) in enumerate(zip(report.results, expected, strict=True)):
        assert_same(result.values, want, f"result {number}")


def _check(text: str, inputs: list[Any], name: str, poison: int = POISONS[0]) -> bool:
    """Whether bufferization took the program; fails if anything is wrong then."""
    expected = wanted(text, inputs)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        try:
            parse_pipeline(f"builtin.module({BUFFERIZE})").run(module)
        except HotdeskError:
            return False
        parse_pipeline(f"builtin.module({','.join(PIPELINES[name])})").run(module)
        shapes = {number: want.values.shape for number, want in enumerate(expected)}
        strict = Settings(undefined="carry", arenas="merge-allocations" in str(PIPELINES[name]), poison=poison)
        _agrees(check_module(module, "main", inputs, result_shapes=shapes, read_only=True, settings=strict), expected)
    return True


@_EACH
def test_examples(name: str) -> None:
    """Each example by one of the pipelines, so that all are checked."""
    first = list(PIPELINES).index(name)
    texts = [path.read_text(encoding="utf-8") for path in list(EXAMPLES.values())[first :: len(PIPELINES)]]
    taken = [_check(text, inputs_of(text), name) for text in texts]
    assert sum(taken) > len(taken) * 3 // 4


@pytest.mark.slow
@_EACH
@settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_programs(name: str, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), name, POISONS[number % 2])


@pytest.mark.slow
@_EACH
@seed(20263)
@settings(max_examples=500, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs(name: str, program: Program, number: int) -> None:
    note(program.text)
    _check(program.text, program.inputs(number), name, POISONS[number % 2])


def _check_straight(program: StraightProgram, symbols: tuple[int, int]) -> None:
    """A program of the compiler's pipeline, up to memory; `@prepare` gives `@main` what it makes."""
    inputs = program.inputs(symbols, seed=0)
    expected = wanted(program.text, inputs)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(program.text)
        optimize_tensors(module, Log())
        bufferize(module, Log())
        given: list[Any] = list(inputs)
        strict = Settings(undefined="carry")
        if any("prepare" in str(op.operation.attributes["sym_name"]) for op in module.body.operations):
            weights = [x for x, a in zip(inputs, program.arguments, strict=True) if '"weight"' in a.attributes]
            made = {number: shape for number, (shape, _) in enumerate(prepared_types(module))}
            prepared = check_module(module, "prepare", weights, result_shapes=made, settings=strict)
            assert prepared.clean, str(prepared)
            given += [np.array(result.values) for result in prepared.results]
        shapes = {number: want.values.shape for number, want in enumerate(expected)}
        _agrees(check_module(module, "main", given, result_shapes=shapes, settings=strict), expected)


@settings(max_examples=15, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(straight_programs(), st.tuples(_SYMBOL, _SYMBOL))
def test_compiled_programs(program: StraightProgram, symbols: tuple[int, int]) -> None:
    note(program.text)
    _check_straight(program, symbols)


@pytest.mark.slow
@seed(20263)
@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(straight_programs(), st.tuples(_SYMBOL, _SYMBOL))
def test_many_compiled_programs(program: StraightProgram, symbols: tuple[int, int]) -> None:
    note(program.text)
    _check_straight(program, symbols)
