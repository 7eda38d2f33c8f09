"""Partial bufferization in any order: the same numbers, no tensor left, and the op named that stayed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.arith_partial import ArithBufferize
from hotdesk.passes.bufferize.finalizing import FinalizingBufferize
from hotdesk.passes.bufferize.func_partial import FuncBufferize
from hotdesk.passes.bufferize.linalg_partial import LinalgBufferize
from hotdesk.passes.bufferize.out_params import BufferResultsToOutParams
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from tests import reference
from tests.unit.parsing import elementwise, function, parse
from tests.unit.passes.memory import call, changed

PARTS: tuple[Pass, ...] = (TensorBufferize(), LinalgBufferize(), ArithBufferize(), FuncBufferize())
PROGRAMS = {
    "everything": f"""func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {{
      %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %a = {elementwise("arith.addf", ["%x", "%c"], "%e")}
      %s = tensor.extract_slice %a[1] [4] [2] : tensor<8xf32> to tensor<4xf32>
      %b = tensor.insert_slice %s into %y[3] [4] [1] : tensor<4xf32> into tensor<8xf32>
      %r = {elementwise("arith.mulf", ["%b", "%a"], "%y")}
      %v = tensor.expand_shape %r [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
      %w = tensor.extract_slice %v[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
      return %b, %w : tensor<8xf32>, tensor<4xf32>
    }}""",
    "nothing is overwritten": f"""func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {{
      %a = {elementwise("arith.addf", ["%x", "%x"], "%x")}
      %b = {elementwise("arith.mulf", ["%a", "%x"], "%a")}
      return %a, %b, %x : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }}""",
    "no elements": """func.func @main(%x: tensor<0xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<0xf32>) {
      %r = tensor.insert_slice %x into %y[3] [0] [1] : tensor<0xf32> into tensor<4xf32>
      return %r, %x : tensor<4xf32>, tensor<0xf32>
    }""",
    "no dimensions": """func.func @main(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %c2 = arith.constant 2 : index
      %r = tensor.insert_slice %x into %y[%c2] [1] [1] : tensor<f32> into tensor<4xf32>
      return %r : tensor<4xf32>
    }""",
}
DRAWN = np.random.default_rng(2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_s2_1_the_same_in_any_order(name: str) -> None:
    text = PROGRAMS[name]
    module = parse(text)
    arguments = [DRAWN.random(a.type.shape, np.float32) for a in function(module).regions[0].blocks[0].arguments]
    with module.context:
        wanted = reference.run(function(module), arguments)
    done: set[str] = set()
    for order in itertools.permutations(PARTS):
        after = changed(text, *order, FinalizingBufferize(), BufferResultsToOutParams(modify_public_functions=True))
        assert "tensor" not in after
        if after in done:
            continue
        done.add(after)
        given = [argument.copy() for argument in arguments]
        results = [np.zeros_like(result) for result in wanted]
        call(after, *given, *results)
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(result, want)
        for argument, before in zip(given, arguments, strict=True):
            np.testing.assert_array_equal(argument, before)


@pytest.mark.parametrize("passes", [each for n in range(5) for each in itertools.combinations(PARTS, n)])
def test_s2_1_any_part_alone_verifies(passes: tuple[Pass, ...]) -> None:
    changed(PROGRAMS["everything"], *passes)


STAYED = {
    "tensor": ("tensor.extract_slice", (LinalgBufferize(), ArithBufferize(), FuncBufferize())),
    "linalg": ("linalg.generic", (TensorBufferize(), ArithBufferize(), FuncBufferize())),
    "arith": ("arith.constant", (TensorBufferize(), LinalgBufferize(), FuncBufferize())),
    "func": ("function @main", (TensorBufferize(), LinalgBufferize(), ArithBufferize())),
}


@pytest.mark.parametrize("dialect", STAYED)
def test_s2_1_the_op_that_stayed_is_named(dialect: str) -> None:
    name, passes = STAYED[dialect]
    with pytest.raises(BufferizationError, match=name) as caught:
        changed(PROGRAMS["everything"], *passes, FinalizingBufferize())
    assert f"hotdesk-{dialect}-bufferize" in str(caught.value)
    assert caught.value.where is not None


def test_s2_1_an_unranked_tensor_stays() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<*xf32> {
      %r = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
      return %r : tensor<*xf32>
    }"""
    with pytest.raises(BufferizationError, match=r"op `tensor\.cast` still has tensors"):
        changed(text, *PARTS, FinalizingBufferize())


def test_a_function_whose_address_is_taken() -> None:
    text = """func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %f = constant @f : (tensor<4xf32>) -> tensor<4xf32>
      %r = call_indirect %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }"""
    with pytest.raises(BufferizationError, match=r"function @f: expected calls of it alone, got `func\.constant`"):
        changed(text, FuncBufferize())


def test_each_copy_and_allocation_is_told() -> None:
    module = parse(PROGRAMS["everything"])
    with entered(module.operation):
        told = [d for one in (LinalgBufferize(), TensorBufferize()) for d in one.run(module)]
    assert [str(d.reason) for d in told] == ["not-analysed"] * 3
    assert [str(d.outcome) for d in told] == ["allocated", "allocated", "copied"]
    assert [d.bytes for d in told] == [32, 32, 32]
