"""Partial bufferization in any order: the same numbers, no tensor left, and the op named that stayed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

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
from hotdesk.passes.bufferize.scf_partial import ScfBufferize
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from tests import reference
from tests.unit.parsing import elementwise, function, parse
from tests.unit.passes.memory import call, text_after

PARTS: tuple[Pass, ...] = (TensorBufferize(), LinalgBufferize(), ArithBufferize(), FuncBufferize(), ScfBufferize())
ARGUMENTS = "%n: index, %x: tensor<8xf32>, %y: tensor<8xf32>"
CONSTANTS = """%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %b = arith.cmpi eq, %n, %c0 : index
      %e = tensor.empty() : tensor<8xf32>"""
SUM = "linalg.map { arith.addf } ins(%p, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>)"
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
    "a loop with extractions is made": """func.func @main(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
      %i = arith.constant dense<[[1], [2]]> : tensor<2x1xindex>
      %r = tensor.gather %x[%i] gather_dims([0]) unique : (tensor<3x4xf32>, tensor<2x1xindex>) -> tensor<2x4xf32>
      return %r : tensor<2x4xf32>
    }""",
    "no dimensions": """func.func @main(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %c2 = arith.constant 2 : index
      %r = tensor.insert_slice %x into %y[%c2] [1] [1] : tensor<f32> into tensor<4xf32>
      return %r : tensor<4xf32>
    }""",
    "parts made of other ops": """func.func @main(%x: tensor<3xf32>, %y: tensor<4xf32>) -> tensor<9xf32> {
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %x low[1] high[1] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<3xf32> to tensor<5xf32>
      %r = tensor.concat dim(0) %p, %y : (tensor<5xf32>, tensor<4xf32>) -> tensor<9xf32>
      return %r : tensor<9xf32>
    }""",
}
FLOWS = {
    "a loop that swaps": f"""func.func @main({ARGUMENTS}) -> (tensor<8xf32>, tensor<8xf32>) {{
      {CONSTANTS}
      %r, %k = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (tensor<8xf32>, tensor<8xf32>) {{
        %s = {SUM}
        %t = tensor.extract_slice %s[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
        %u = tensor.insert_slice %t into %q[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
        scf.yield %u, %s : tensor<8xf32>, tensor<8xf32>
      }}
      return %r, %k : tensor<8xf32>, tensor<8xf32>
    }}""",
    "branches": f"""func.func @main({ARGUMENTS}) -> (tensor<4xf32>, tensor<8xf32>) {{
      {CONSTANTS}
      %r = scf.if %b -> (tensor<4xf32>) {{
        %t = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
        scf.yield %t : tensor<4xf32>
      }} else {{
        %t = tensor.extract_slice %y[1] [4] [2] : tensor<8xf32> to tensor<4xf32>
        scf.yield %t : tensor<4xf32>
      }}
      %s = scf.index_switch %n -> tensor<8xf32>
      case 1 {{
        scf.yield %x : tensor<8xf32>
      }}
      default {{
        %k = scf.execute_region -> tensor<8xf32> {{
          %p = tensor.insert_slice %r into %y[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
          scf.yield %p : tensor<8xf32>
        }}
        scf.yield %k : tensor<8xf32>
      }}
      return %r, %s : tensor<4xf32>, tensor<8xf32>
    }}""",
    "a loop with a condition": f"""func.func @main({ARGUMENTS}) -> tensor<8xf32> {{
      {CONSTANTS}
      %r:2 = scf.while (%i = %c0, %p = %x) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {{
        %c = arith.cmpi ult, %i, %n : index
        scf.condition(%c) %i, %p : index, tensor<8xf32>
      }} do {{
      ^bb0(%i: index, %p: tensor<8xf32>):
        %j = arith.addi %i, %c1 : index
        %q = scf.if %b -> (tensor<8xf32>) {{
          scf.yield %x : tensor<8xf32>
        }} else {{
          scf.yield %y : tensor<8xf32>
        }}
        %s = {SUM}
        scf.yield %j, %s : index, tensor<8xf32>
      }}
      return %r#1 : tensor<8xf32>
    }}""",
    "blocks": f"""func.func @main({ARGUMENTS}) -> tensor<8xf32> {{
      {CONSTANTS}
      cf.br ^head(%c0, %x : index, tensor<8xf32>)
    ^head(%i: index, %p: tensor<8xf32>):
      %c = arith.cmpi ult, %i, %n : index
      cf.cond_br %c, ^body(%y : tensor<8xf32>), ^end(%p : tensor<8xf32>)
    ^body(%q: tensor<8xf32>):
      %s = {SUM}
      %j = arith.addi %i, %c1 : index
      cf.br ^head(%j, %s : index, tensor<8xf32>)
    ^end(%r: tensor<8xf32>):
      return %r : tensor<8xf32>
    }}""",
    "calls": f"""func.func @main({ARGUMENTS}) -> tensor<8xf32> {{
      {CONSTANTS}
      %r:2 = call @f(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      %s:2 = call @f(%r#1, %r#0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      return %s#0 : tensor<8xf32>
    }}
    func.func private @f(%p: tensor<8xf32>, %q: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {{
      %e = tensor.empty() : tensor<8xf32>
      %s = {SUM}
      return %s, %q : tensor<8xf32>, tensor<8xf32>
    }}""",
}
DRAWN = np.random.default_rng(2)


def _inputs(module: Any) -> list[Any]:
    types = [argument.type for argument in function(module).regions[0].blocks[0].arguments]
    return [np.int64(3) if str(kind) == "index" else DRAWN.random(kind.shape, np.float32) for kind in types]


def _same(text: str, orders: Iterable[tuple[Pass, ...]]) -> int:
    """Fails if an order of passes makes something else of a program, or changes an argument; how many modules there were."""
    module = parse(text)
    arguments = _inputs(module)
    with module.context:
        wanted = reference.run(function(module), arguments)
    done: set[str] = set()
    for order in orders:
        after = text_after(text, *order, FinalizingBufferize(), BufferResultsToOutParams(modify_public_functions=True))
        assert "tensor" not in after
        if after in done:
            continue
        done.add(after)
        given = [argument.copy() for argument in arguments]
        results = [np.zeros_like(result) for result in wanted]
        call(after, *(int(a) if isinstance(a, np.int64) else a for a in given), *results)
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(result, want)
        for argument, before in zip(given, arguments, strict=True):
            np.testing.assert_array_equal(argument, before)
    return len(done)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_in_any_order(name: str) -> None:
    assert _same(PROGRAMS[name], itertools.permutations(PARTS[:4])) > 0


@pytest.mark.parametrize("name", FLOWS)
def test_control_flow_in_any_order(name: str) -> None:
    assert _same(FLOWS[name], itertools.permutations(PARTS)) > 0


@pytest.mark.parametrize("passes", [each for n in range(6) for each in itertools.combinations(PARTS, n)])
def test_any_part_alone_verifies(passes: tuple[Pass, ...]) -> None:
    for text in (PROGRAMS["everything"], FLOWS["a loop that swaps"]):
        text_after(text, *passes)


STAYED = {
    "tensor": ("tensor.extract_slice", (LinalgBufferize(), ArithBufferize(), FuncBufferize())),
    "linalg": ("linalg.generic", (TensorBufferize(), ArithBufferize(), FuncBufferize())),
    "arith": ("arith.constant", (TensorBufferize(), LinalgBufferize(), FuncBufferize())),
    "func": ("function @main", (TensorBufferize(), LinalgBufferize(), ArithBufferize())),
}


@pytest.mark.parametrize("dialect", STAYED)
def test_the_op_that_stayed_is_named(dialect: str) -> None:
    name, passes = STAYED[dialect]
    with pytest.raises(BufferizationError, match=name) as caught:
        text_after(PROGRAMS["everything"], *passes, FinalizingBufferize())
    assert f"hotdesk-{dialect}-bufferize" in str(caught.value)
    assert caught.value.where is not None


def test_control_flow_that_stayed_is_named() -> None:
    with pytest.raises(BufferizationError, match=r"op `scf\.for` still has tensors") as caught:
        text_after(FLOWS["a loop that swaps"], *PARTS[:4], FinalizingBufferize())
    assert "hotdesk-scf-bufferize" in str(caught.value)
    assert caught.value.where == "-:7:16"


def test_an_unranked_tensor_stays() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<*xf32> {
      %r = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
      return %r : tensor<*xf32>
    }"""
    with pytest.raises(BufferizationError, match=r"op `tensor\.cast` still has tensors"):
        text_after(text, *PARTS, FinalizingBufferize())


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
        text_after(text, FuncBufferize())


def test_each_copy_and_allocation_is_told() -> None:
    module = parse(PROGRAMS["everything"])
    with entered(module.operation):
        told = [d for one in (LinalgBufferize(), TensorBufferize()) for d in one.run(module)]
    assert [str(d.reason) for d in told] == ["not-analysed"] * 3 + ["lies-elsewhere"]
    assert [str(d.outcome) for d in told] == ["allocated", "allocated", "copied", "copied"]
    assert [d.bytes for d in told] == [32, 32, 32, 16]
