"""Values computed where they are inserted: the same numbers, and no buffer for them."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from tests import reference
from tests.harness import check_module
from tests.unit.parsing import elementwise, function, parse, run

HALVES = f"""
func.func @main(%x: tensor<8xf32>, %d: tensor<20xf32>) -> tensor<20xf32> {{
  %e = tensor.empty() : tensor<8xf32>
  %a = {elementwise("arith.addf", ["%x", "%x"], "%e")}
  %b = {elementwise("arith.mulf", ["%x", "%a"], "%e")}
  %r = tensor.insert_slice %b into %d[0] [8] [1] : tensor<8xf32> into tensor<20xf32>
  %c = {elementwise("arith.negf", ["%x"], "%e")}
  %s = tensor.insert_slice %c into %r[9] [8] [1] : tensor<8xf32> into tensor<20xf32>
  return %s : tensor<20xf32>
}}
"""
UPDATED = f"""
func.func @main(%d: tensor<20xf32>) -> tensor<20xf32> {{
  %v = tensor.extract_slice %d[3] [8] [2] : tensor<20xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %a = {elementwise("arith.addf", ["%v", "%v"], "%e")}
  %r = tensor.insert_slice %a into %d[3] [8] [2] : tensor<8xf32> into tensor<20xf32>
  return %r : tensor<20xf32>
}}
"""
DYNAMIC = f"""
func.func @main(%x: tensor<?xf32> {{hotdesk.shape = ["n"]}}, %d: tensor<9xf32>) -> tensor<9xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %a = {elementwise("arith.addf", ["%x", "%x"], "%e", sizes="?")}
  %r = tensor.insert_slice %a into %d[%c1] [%n] [1] : tensor<?xf32> into tensor<9xf32>
  return %r : tensor<9xf32>
}}
"""
NUMBERS = np.random.default_rng(3)


def _drawn(size: int) -> reference.Array:
    return NUMBERS.standard_normal(size, dtype=np.float32)


CASES = {
    "halves": (HALVES, (_drawn(8), _drawn(20)), 2),
    "updated": (UPDATED, (_drawn(20),), 1),
    "dynamic": (DYNAMIC, (_drawn(4), _drawn(9)), 1),
    "nothing": (DYNAMIC, (_drawn(0), _drawn(9)), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_before_and_after(name: str) -> None:
    text, inputs, taken = CASES[name]
    module = parse(text)
    with module.context:
        before = reference.expected(function(module), inputs)
    with entered(module.operation):
        decisions = EliminateEmptyTensors().run(module)
    assert [str(d.reason) for d in decisions] == ["written-in-destination"] * taken
    with module.context:
        after = reference.expected(function(module), inputs)
    for a, b in zip(before, after, strict=True):
        assert b.defined[a.defined].all()
        assert np.array_equal(a.values[a.defined], b.values[a.defined])


@pytest.mark.parametrize("name", CASES)
def test_compiled_after(name: str) -> None:
    text, inputs, _ = CASES[name]
    check_module(run(parse(text), EliminateEmptyTensors()), *inputs, pipelines=["buffers alone"])
