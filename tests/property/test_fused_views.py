"""Loops over views of memory that become one leave the numbers that they left before, and no program crashes the pass."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.fuse_buffers import FuseBuffers
from tests import reference
from tests.structured.view_loops import ARGUMENTS, views_program
from tests.unit.parsing import function


def _check(seed: int) -> int:
    """Fails if a program makes anything else when it is fused; how many loops became one with others."""
    text = views_program(Random(seed))
    inputs = list(np.random.default_rng(seed).integers(-2, 3, (ARGUMENTS, 4, 4)).astype(np.float32))
    module = ir.Module.parse(text, make_context())
    with entered(module.operation):
        before = reference.run(function(module), inputs)
        decisions = FuseBuffers().run(module)
        module.operation.verify()
        after = reference.run(function(module), inputs)
        fused = str(module)
    for number, (a, b) in enumerate(zip(before, after, strict=True)):
        np.testing.assert_array_equal(b, a, f"argument {number} of seed {seed}\n{text}\n{fused}")
    return sum(str(decision.outcome) == "fused" for decision in decisions)


def test_programs() -> None:
    assert sum(map(_check, range(300))) > 150


@pytest.mark.slow
def test_many_programs() -> None:
    assert sum(map(_check, range(300, 10_300))) > 5000
