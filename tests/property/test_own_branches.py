"""Deallocation where blocks are joined by branches of another dialect, of which a model says what they pass.

Random programs are taken apart into blocks; their branches get other names for deallocation, and their own ones back to run.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, note, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk._bindings import PassManager
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import segment_sizes
from hotdesk.models import Facts, OpModel, register
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.property.test_deallocation import lowered, on_memrefs, run_of, same
from tests.running import Executable, wanted
from tests.structured import Program, structured_programs

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]
_NAMES = (("cf.br", "my.br"), ("cf.cond_br", "my.cond_br"))


def _passed(op: ir.Operation) -> tuple[tuple[int, int, int], ...]:
    if op.name == "my.br":
        return tuple((i, 0, i) for i in range(len(op.operands)))
    _, yes, no = segment_sizes(op)
    return (*((1 + i, 0, i) for i in range(yes)), *((1 + yes + i, 1, i) for i in range(no)))


def _in_blocks(made: str) -> str:
    with make_context() as context:
        module = ir.Module.parse(made, context)
        with entered(module.operation):
            PassManager.parse("builtin.module(convert-scf-to-cf)").run(module.operation)
            return str(module.operation.get_asm(print_generic_op_form=True))


def _renamed(text: str, *, back: bool = False) -> str:
    for theirs, own in _NAMES:
        text = text.replace(f'"{own}"', f'"{theirs}"') if back else text.replace(f'"{theirs}"', f'"{own}"')
    return text


def _freed(text: str) -> str:
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(_renamed(text), context)
    with entered(module.operation):
        DeallocateAfterLastUse().run(module)
        assert module.operation.verify()
        return _renamed(str(module.operation.get_asm(print_generic_op_form=True)), back=True)


def _check(program: Program, number: int) -> None:
    for name in ("my.br", "my.cond_br"):
        reads = frozenset({0}) if name == "my.cond_br" else frozenset[int]()
        register(name, OpModel(lambda op, reads=reads: Facts(reads=reads), branches=_passed))
    made = on_memrefs(program.text)
    assume(made is not None)
    assert made is not None
    note(made)
    inputs: list[Any] = program.inputs(number)
    expected = wanted(program.text, inputs)
    shapes = [each.values.shape for each in expected]
    before = lowered(made)
    was = run_of(before, inputs, shapes, 0) if before is not None else None
    assume(was is not None)
    assert was is not None
    with make_context():
        now = Executable(ir.Module.parse(_freed(_in_blocks(made))))(inputs, shapes, 0)
    assert now.leaks == 0
    for a, b, each in zip(was.results, now.results, expected, strict=True):
        assert same(b, a, each.defined) or same(b, each.values, each.defined)


@settings(max_examples=15, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_programs(program: Program, number: int) -> None:
    _check(program, number)


@pytest.mark.slow
@seed(20262)
@settings(max_examples=400, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_many_programs(program: Program, number: int) -> None:
    _check(program, number)
