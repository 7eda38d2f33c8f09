"""A buffer that is returned is held to the end, and others share beside it; of one that may be returned that is not known."""

from __future__ import annotations

import pytest

from benchmarks.bufferization.simulate import peak_of
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.buffers.share import ShareBuffers
from tests.unit.parsing import parse


def used(name: str, size: int, source: str) -> str:
    memref = f"memref<{size}xf32>"
    return (
        f"%{name} = memref.alloc() : {memref}\n"
        f"linalg.exp ins({source} : {memref}) outs(%{name} : {memref})\n"
        f"linalg.exp ins(%{name} : {memref}) outs({source} : {memref})\n"
        f"memref.dealloc %{name} : {memref}\n"
    )


RESULT = "%r = memref.alloc() : memref<64xf32>\nlinalg.exp ins(%y : memref<64xf32>) outs(%r : memref<64xf32>)\n"
BRANCH = RESULT.replace("%r", "%s") + "scf.yield %s : memref<64xf32>\n}"
BRANCHES = f"%r = scf.if %c -> memref<64xf32> {{\n{BRANCH} else {{\n{BRANCH}\n"
PAUSE = "linalg.exp ins(%y : memref<64xf32>) outs(%y : memref<64xf32>)\n"


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        (used("a", 8, "%x") + PAUSE + used("b", 8, "%x") + RESULT, Outcome.SHARED, Reason.LIVE_RANGE_ENDED),
        (RESULT + used("a", 8, "%x") + PAUSE + used("b", 8, "%x"), Outcome.SHARED, Reason.LIVE_RANGE_ENDED),
        (BRANCHES + used("a", 8, "%x") + PAUSE + used("b", 8, "%x"), Outcome.ALLOCATED, Reason.RAISES_PEAK),
    ],
    ids=["before", "meanwhile", "one of two"],
)
def test_beside_a_result(body: str, outcome: Outcome, reason: Reason) -> None:
    signature = "%c: i1, %x: memref<8xf32>, %y: memref<64xf32>"
    module = parse(f"func.func @main({signature}) -> memref<64xf32> {{\n{body}return %r : memref<64xf32>\n}}")
    before = peak_of(module)
    with entered(module.operation):
        decisions = ShareBuffers().run(module)
    assert (decisions[-1].outcome, decisions[-1].reason) == (outcome, reason)
    assert peak_of(module) <= before
