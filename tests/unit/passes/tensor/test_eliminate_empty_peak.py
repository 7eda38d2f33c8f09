"""Values are not computed where they are inserted if that raises the peak: what is held, and the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from tests.harness import check_module
from tests.running.peaks import peak_of
from tests.unit.parsing import elementwise, parse, run

KEPT, TAKEN = "destination-raises-peak", "written-in-destination"
DRAWN = np.random.default_rng(7)
X, D = (DRAWN.standard_normal(size, dtype=np.float32) for size in (8, 12))


def program(inserted: str, *, before: str = "", after: str = "", x: str = "tensor<8xf32>", result: str = "%u") -> str:
    """`%c` is made of `%a` and `%b`, which may die there, and inserted into zeros; `%u` is a number made of all of it."""
    return f"""func.func @main(%x: {x}, %d: tensor<12xf32>) -> tensor<f32> {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8xf32>
      {before}
      %a = {elementwise("math.exp", ["%x"], "%e")}
      %b = {elementwise("arith.negf", ["%x"], "%e")}
      {inserted}
      %w = tensor.empty() : tensor<12xf32>
      %f = linalg.fill ins(%zero : f32) outs(%w : tensor<12xf32>) -> tensor<12xf32>
      %r = tensor.insert_slice %c into %f[2] [8] [1] : tensor<8xf32> into tensor<12xf32>
      %s = tensor.empty() : tensor<f32>
      %start = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
      %u = linalg.dot ins(%r, %d : tensor<12xf32>, tensor<12xf32>) outs(%start : tensor<f32>) -> tensor<f32>
      {after}
      return {result} : tensor<f32>
    }}"""


SUM = f"%c = {elementwise('arith.addf', ['%a', '%b'], '%e')}"
LARGE = """%g = tensor.empty() : tensor<500xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<500xf32>) -> tensor<500xf32>
  %z = linalg.dot ins(%h, %h : tensor<500xf32>, tensor<500xf32>) outs(%u : tensor<f32>) -> tensor<f32>"""
LATER = f"""%y = {elementwise("arith.mulf", ["%a", "%b"], "%e")}
  %q = tensor.extract %y[%k] : tensor<8xf32>
  %v = linalg.fill ins(%q : f32) outs(%u : tensor<f32>) -> tensor<f32>"""

CASES = {
    "one operand could be written over, the other is gone before": (program(SUM), KEPT),
    "an operand alone": (program(f"%c = {elementwise('arith.mulf', ['%a', '%a'], '%e')}"), TAKEN),
    "others are larger elsewhere": (program(SUM, after=LARGE, result="%z"), TAKEN),
    "both operands are read later": (
        program(SUM, before="%k = arith.constant 3 : index", after=LATER, result="%v"),
        TAKEN,
    ),
    "an argument is read": (program(f"%c = {elementwise('arith.addf', ['%a', '%x'], '%e')}"), TAKEN),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_decided(name: str) -> None:
    text, reason = CASES[name]
    module = parse(text)
    with entered(module.operation):
        decisions = EliminateEmptyTensors().run(module)
    assert [str(decision.reason) for decision in decisions] == [reason]


@pytest.mark.parametrize("name", CASES)
def test_the_same_numbers(name: str) -> None:
    check_module(run(parse(CASES[name][0]), EliminateEmptyTensors()), X, D, pipelines=["buffers alone"])


@pytest.mark.parametrize("name", CASES)
def test_no_more_is_held_than_without(name: str) -> None:
    memory = (ChooseDestinations(), OneShotBufferize(), DeallocateAfterLastUse())
    text = CASES[name][0]
    assert peak_of(run(parse(text), EliminateEmptyTensors(), *memory)) <= peak_of(run(parse(text), *memory))
