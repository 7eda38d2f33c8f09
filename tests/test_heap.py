"""What tests leave in the process to its end is little, and searches for garbage pass over it."""

from __future__ import annotations

import gc
from weakref import ref

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from tests.running import Executable
from tests.unit.parsing import parse

TEXT = "func.func @main(%x: memref<4xf32>) {\n  return\n}"


def test_searches_pass_over_the_tests(request: pytest.FixtureRequest) -> None:
    assert gc.get_freeze_count() > len(request.session.items)


def test_modules_of_unit_tests_share_a_context() -> None:
    assert parse(TEXT).context == parse(TEXT).context


def test_an_executable_goes_with_the_last_reference() -> None:
    """As does its context: both are large, and Python sees little of that when it decides whether to search for garbage."""
    gc.collect()
    before = ir.Context._get_live_count()
    with make_context(), ir.Location.unknown():
        executable = Executable(ir.Module.parse(TEXT))
    executable([np.zeros(4, np.float32)], [])
    held = ref(executable)
    del executable
    assert held() is None
    assert ir.Context._get_live_count() == before
