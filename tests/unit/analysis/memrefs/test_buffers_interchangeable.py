"""Buffers of symbolic sizes: which are provably interchangeable."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hotdesk.analysis.memrefs.buffers import find_buffers
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.tensor.destinations import ChooseDestinations
from tests.harness import PIPELINES, Compiled
from tests.unit.parsing import function, parse, run

T = "tensor<?x100xf32>"
M = "memref<?x100xf32>"


def program(x: str, y: str) -> str:
    """`x` dies where a result with the sizes of `y` is made."""
    return f"""
      #id = affine_map<(i, j) -> (i, j)>
      func.func @main(%x: {T} {{hotdesk.donated, hotdesk.shape = ["{x}", "100"]}}, %y: {T} {{hotdesk.shape = ["{y}", "100"]}})
          -> tensor<1x1xf32> {{
        %i = arith.constant 0 : index
        %n = tensor.dim %y, %i : {T}
        %e = tensor.empty(%n) : {T}
        %s = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
            ins(%x : {T}) outs(%e : {T}) {{
        ^bb0(%a: f32, %o: f32):
          %t = arith.negf %a : f32
          linalg.yield %t : f32
        }} -> {T}
        %r = tensor.extract_slice %s[0, 0] [1, 1] [1, 1] : {T} to tensor<1x1xf32>
        return %r : tensor<1x1xf32>
      }}"""


@pytest.mark.parametrize(
    ("y", "outcome", "reason"),
    [
        ("s0", Outcome.IN_PLACE, Reason.DIES_HERE),
        ("s1", Outcome.ALLOCATED, Reason.SIZE_NOT_PROVEN_EQUAL),
    ],
)
def test_one_takes_the_others_place_if_both_have_s0_rows(y: str, outcome: Outcome, reason: Reason) -> None:
    text = program("s0", y)
    module = parse(text)
    run(module, ChooseDestinations())
    with entered(module.operation):
        decisions = OneShotBufferize().run(module)
    (decision,) = [found for found in decisions if found.subject == "result of linalg.generic"]
    assert (decision.outcome, decision.reason) == (outcome, reason)
    assert decision.bytes == 400 * sympy.Symbol(y)
    assert run(module).count("memref.alloc") == (outcome is Outcome.ALLOCATED)
    for rows in (1, 7):
        a, b = np.random.default_rng(rows).standard_normal((2, rows, 100)).astype(np.float32)
        for pipeline in PIPELINES.values():
            (result,) = Compiled(text, pipeline)(a, b)
            np.testing.assert_array_equal(result, -a[:1, :1])


def test_bytes_of_buffers_are_equal_if_their_symbols_are() -> None:
    module = parse(f"""
      func.func @main(%x: {M} {{hotdesk.shape = ["s0", "100"]}}, %y: {M} {{hotdesk.shape = ["s0", "100"]}},
                      %z: {M} {{hotdesk.shape = ["s1", "100"]}}) {{
        %i = arith.constant 0 : index
        %n = memref.dim %y, %i : {M}
        %m = memref.dim %z, %i : {M}
        %a = memref.alloc(%n) : {M}
        %b = memref.alloc(%m) : {M}
        return
      }}""")
    x, y, z, a, b = (found.bytes for found in find_buffers(function(module)))
    assert x == y == a == 400 * sympy.Symbol("s0")
    assert z == b == 400 * sympy.Symbol("s1")
    assert a != b
