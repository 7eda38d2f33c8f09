"""Deallocation of random programs on memrefs: nothing leaks, nothing is used after it was freed, and the results stay.

The programs are random tensor programs with control flow, calls and recursion that MLIR's bufferization has turned into memrefs:
functions return allocations, loops and branches yield them, arguments are returned. What they compute is not the question here,
so ones of which that bufferization makes something else count as well. Where such a one returns one buffer twice, what comes back
may be what was meant, since functions return buffers of their own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, reject, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.guarded import POISONS
from tests.running import MLIR_UNFREED, OURS, Executable, RefusedError, Run, check, wanted
from tests.running.apart import run_apart
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

PASSES = (
    DeallocateAfterLastUse(),
    DeallocateAfterLastUse(placement="end-of-block"),
)
OURS_FREED = replace(OURS, pipeline=OURS.pipeline.removesuffix(")") + ",hotdesk-buffer-deallocation)", frees=True)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]
_EACH = pytest.mark.parametrize("one", PASSES, ids=lambda one: f"{one.mode},{one.placement}")
_TIDY = MLIR_UNFREED.pipeline.removesuffix(")") + ",canonicalize,cse)"


def on_memrefs(text: str) -> str | None:
    """A program on memrefs that frees nothing, or None if MLIR does not take it."""
    with make_context(), ir.Location.unknown():
        took, made = run_apart(str(ir.Module.parse(text)), _TIDY)
    return made if took else None


def freed(made: str, one: DeallocateAfterLastUse) -> ir.Module:
    with make_context():
        module = ir.Module.parse(made)
        with entered(module.operation):
            one.run(module)
            module.operation.verify()
    return module


def check_freed(text: str, made: str, inputs: list[Any], one: DeallocateAfterLastUse) -> None:
    """Fails if `made`, which computes what `text` says, leaks or computes something else when its memory is freed."""
    module = freed(made, one)
    expected = wanted(text, inputs)
    shapes = [each.values.shape for each in expected]
    before = lowered(made)
    if before is None:
        return
    after = Executable(module)
    for poison in POISONS:
        was = run_of(before, inputs, shapes, poison)
        if was is None:
            return
        now = after(inputs, shapes, poison)
        assert now.leaks == 0
        for a, b, each in zip(was.results, now.results, expected, strict=True):
            assert same(b, a, each.defined) or same(b, each.values, each.defined)


def lowered(made: str) -> Executable | None:
    """What MLIR's bufferization made, or None if MLIR has no lowering for it: of `vector.mask` around a read, for instance."""
    with make_context():
        try:
            return Executable(ir.Module.parse(made))
        except ir.MLIRError:
            return None


def same(a: Any, b: Any, defined: Any) -> bool:
    return np.array_equal(a[defined], b[defined], equal_nan=a.dtype.kind == "f")


def run_of(executable: Executable, inputs: list[Any], shapes: Any, poison: int) -> Run | None:
    """A run of what MLIR's bufferization made; None if that overwrites what it may not, or, by the memory checker, uses memory
    wrongly: the body of a `tensor.pad` runs where there is no padding too, and loads from beyond its bounds there."""
    try:
        return executable(inputs, shapes, poison)
    except AssertionError as error:
        if "changed" in str(error) or "under the memory checker" in str(error):
            return None
        raise


@_EACH
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, one: DeallocateAfterLastUse) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    made = on_memrefs(text)
    if made is not None:
        check_freed(text, made, inputs_of(text), one)


def _check(program: Program, number: int, one: DeallocateAfterLastUse) -> None:
    made = on_memrefs(program.text)
    assume(made is not None)
    assert made is not None
    note(made)
    check_freed(program.text, made, program.inputs(number), one)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_our_bufferization(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    with suppress(RefusedError):
        check(text, inputs_of(text), OURS_FREED)


@settings(max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_programs_of_our_bufferization(program: Program, number: int) -> None:
    note(program.text)
    try:
        check(program.text, program.inputs(number), OURS_FREED)
    except RefusedError:
        reject()


@_EACH
@settings(max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_programs(one: DeallocateAfterLastUse, program: Program, number: int) -> None:
    _check(program, number, one)


@pytest.mark.slow
@_EACH
@seed(20262)
@settings(max_examples=400, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs(one: DeallocateAfterLastUse, program: Program, number: int) -> None:
    _check(program, number, one)
