"""Live ranges end where deallocation frees, and that is right behind the last op that touches a buffer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from torch_mlir import ir

from hotdesk.analysis.memrefs.buffers import find_buffers
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import defined_functions
from hotdesk.pipeline import Log, bufferize, optimize_tensors
from tests.programs import Program, programs

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.parametrize("optimized", [True, False])
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=_QUIET)
@given(programs())
def test_they_are_those_of_the_uses(optimized: bool, program: Program) -> None:
    note(program.text)
    with make_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(program.text)
    with entered(module.operation):
        if optimized:
            optimize_tensors(module, Log())
        bufferize(module, Log())
        for function in defined_functions(module):
            assert find_buffers(function) == find_buffers(function, deallocated=False)
