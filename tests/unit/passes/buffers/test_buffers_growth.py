"""Work grows with the program, whatever joins its allocations."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.share import ShareBuffers
from tests.growing_programs import SHAPES
from tests.work import calls_made

LEAST, FACTOR = 100, 4


def calls_for(pass_: Pass, shape: str, count: int) -> int:
    module = ir.Module.parse(SHAPES[shape](count), make_context())
    with entered(module.operation):
        return calls_made(lambda: pass_.run(module))


def assert_in_proportion(pass_: Pass, shape: str) -> None:
    calls_for(pass_, shape, 4)  # models are looked up
    assert calls_for(pass_, shape, FACTOR * LEAST) <= 1.1 * FACTOR * calls_for(pass_, shape, LEAST)


@pytest.mark.parametrize("shape", SHAPES)
def test_deallocation(shape: str) -> None:
    assert_in_proportion(DeallocateAfterLastUse(), shape)


@pytest.mark.parametrize("shape", ["row", "nested", "blocks", "used in blocks"])
def test_sharing(shape: str) -> None:
    assert_in_proportion(ShareBuffers(), shape)


@pytest.mark.parametrize("shape", ["row", "nested", "blocks", "used in blocks"])
def test_copy_removal(shape: str) -> None:
    assert_in_proportion(CopyRemoval(), shape)
