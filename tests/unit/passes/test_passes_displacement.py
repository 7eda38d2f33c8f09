"""The example of memory displacement: three ops in a row, each of which may write over what it reads last."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from tests.harness import PIPELINES, Compiled
from tests.unit.parsing import elementwise, parse, run

T = "tensor<8xf32>"


def line(op: str, *inputs: str) -> str:
    return elementwise(op, [*inputs], "%e").replace("\n", " ")


def program(attributes: str, *more: str, result: str) -> str:
    """`x3 = tanh(x2); x4 = x3 + x1; x5 = tanh(x4)` and more; one element of `result` is returned."""
    return "\n".join(
        (
            f"func.func @main(%x1: {T} {attributes}, %x2: {T} {attributes}) -> tensor<1xf32> {{",
            f"%e = tensor.empty() : {T}",
            f"%x3 = {line('math.tanh', '%x2')}",
            f"%x4 = {line('arith.addf', '%x3', '%x1')}",
            f"%x5 = {line('math.tanh', '%x4')}",
            *more,
            f"%r = tensor.extract_slice {result}[0] [1] [1] : {T} to tensor<1xf32>",
            "return %r : tensor<1xf32>",
            "}",
        )
    )


LATER_READER = f"%x6 = {line('arith.mulf', '%x5', '%x3')}"
LATER_READER_LINE = 6


def bufferized(text: str) -> tuple[str, tuple[Decision, ...]]:
    module = parse(text)
    run(module, RematerializeCheapOps(), ChooseDestinations())
    with entered(module.operation):
        decisions = OneShotBufferize().run(module)
    return run(module), decisions


def check(text: str, later_reader: bool = False) -> None:
    """Before and after: without chosen destinations, and with them."""
    x1, x2 = np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32)
    x3 = np.tanh(x2)
    expected = np.tanh(x3 + x1) * (x3 if later_reader else 1)
    for pipeline in PIPELINES.values():
        (result,) = Compiled(text, pipeline)(x1, x2)
        np.testing.assert_allclose(result, expected[:1], rtol=1e-5)


@pytest.mark.parametrize(("attributes", "buffers"), [("{hotdesk.donated}", 0), ("", 1)], ids=["donated", "kept"])
def test_three_ops_take_one_buffer_or_none(attributes: str, buffers: int) -> None:
    text = program(attributes, result="%x5")
    after, decisions = bufferized(text)
    assert after.count("memref.alloc") == buffers
    assert sum(decision.outcome is Outcome.IN_PLACE for decision in decisions) == 3 - buffers
    check(text)


def test_a_value_with_a_later_reader_keeps_its_buffer() -> None:
    text = program("", LATER_READER, result="%x6")
    after, decisions = bufferized(text)
    assert after.count("memref.alloc") == 2
    (kept,) = [decision for decision in decisions if decision.reason is Reason.READ_LATER]
    assert (kept.outcome, kept.bytes) == (Outcome.ALLOCATED, 32)
    assert [source.location for source in kept.because] == ["-:4:7", f"-:{LATER_READER_LINE}:7"]
    check(text, later_reader=True)


def test_donated_or_not() -> None:
    """x3 lies over x2 and is read last by x6, so x4 takes x1's memory: nothing is left to allocate."""
    text = program("{hotdesk.donated}", LATER_READER, result="%x6")
    after, decisions = bufferized(text)
    assert "memref.alloc" not in after
    assert [d.outcome for d in decisions if d.subject == "result of linalg.generic"] == [Outcome.IN_PLACE] * 4
    check(text, later_reader=True)
