"""Random programs: Hotdesk's bufferization copies no more bytes and takes no more memory than MLIR's, where MLIR's takes them.

Both get the same program, cleaned up by MLIR's `canonicalize` and `cse`, and return results in the same way: in memory of the
caller's. A program of which MLIR's makes something else than the reference is left out.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, note, seed, settings
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hotdesk.ir.context import make_context
from tests.running import MLIR_AT_CALLERS, OURS, RefusedError, Subject, assert_no_more, check, wanted
from tests.structured import Program, structured_programs

DISPLACING = Subject(
    "Hotdesk's, with destinations chosen", "builtin.module(hotdesk-choose-destinations,hotdesk-one-shot-bufferize)"
)
_CHOSEN_OF_GIVEN = re.compile(
    r"(?s)hotdesk\.donated.*"
    r"(scf\.if [^\n]*-> \(tensor|scf\.index_switch [^\n]*-> tensor|arith\.select [^\n]*: tensor|cf\.(cond_)?br)"
)
"""What is one of several tensors, and may be computed in a donated argument, is copied from there at the end on all paths."""
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]


def _cleaned_up(text: str) -> str:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
        return str(module)


def _check(program: Program) -> bool:
    """Compares both on a program; whether MLIR took it."""
    text, inputs = _cleaned_up(program.text), program.inputs(0)
    assume(_CHOSEN_OF_GIVEN.search(text) is None)
    note(text)
    expected = wanted(text, inputs)
    try:
        theirs = check(text, inputs, MLIR_AT_CALLERS, expected)
    except (RefusedError, AssertionError, ir.MLIRError):
        return False
    for subject in (OURS, DISPLACING):
        assert_no_more(check(text, inputs, subject, expected), theirs)
    return True


def test_programs() -> None:
    compared: list[bool] = []

    @settings(max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
    @given(structured_programs())
    def each(program: Program) -> None:
        compared.append(_check(program))

    each()
    assert sum(compared) >= 10, "MLIR took hardly any of them"


@pytest.mark.slow
@seed(20261)
@settings(max_examples=150, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs())
def test_many_programs(program: Program) -> None:
    _check(program)
