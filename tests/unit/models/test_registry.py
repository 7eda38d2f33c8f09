"""Models of a user's own: an op that Hotdesk has never heard of takes part in analysis and bufferization."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.analysis.in_place.inplace import analyse_in_place
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.registry import model_of, register
from hotdesk.models.rewrites import bufferize_destination_style
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.unit.parsing import function, parse, run

SORT = """
  func.func @main(%x: tensor<4xf32> {hotdesk.donated}) -> tensor<4xf32> {
    %r = "tosa.reverse"(%x) {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }"""


def _facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}), ties=((0, 0),))


def _bufferize(op: ir.Operation, buffers: Buffers) -> None:
    """Reverses a buffer where it lies, by a function of the user's."""
    destination = buffers.destination(op, 0)
    create("func.call", [destination], [], {"callee": ir.FlatSymbolRefAttr.get("reverse")}, before=op)
    buffers.assign(op.results[0], destination)


def test_an_op_without_a_model_is_named() -> None:
    with pytest.raises(BufferizationError, match=r"op `tosa.reverse` has tensors but no model.*Register one with"):
        read_function(function(parse(SORT)))


def test_a_model_is_all_that_analysis_needs() -> None:
    register("tosa.reverse", OpModel(_facts))
    (only,) = analyse_in_place(read_function(function(parse(SORT)))).decisions
    assert only.in_place


def test_a_model_says_how_its_op_becomes_one_on_buffers() -> None:
    register("tosa.reverse", OpModel(_facts, _bufferize))
    text = run(parse("func.func private @reverse(memref<4xf32>)\n" + SORT), OneShotBufferize())
    assert "call @reverse(%arg0) : (memref<4xf32>) -> ()" in text
    assert "tensor<" not in text


def test_a_model_without_a_form_on_buffers_leaves_a_tensor_and_that_is_an_error() -> None:
    register("tosa.reverse", OpModel(_facts))
    with pytest.raises(BufferizationError, match=r"op `tosa\.reverse` still has tensors after bufferization"):
        run(parse(SORT), OneShotBufferize())


def test_a_built_in_model_can_be_replaced() -> None:
    def careful(op: ir.Operation) -> Facts:
        return Facts(reads=frozenset({0, 1}), ties=((1, 0),))

    register("linalg.copy", OpModel(careful, lambda op, buffers: bufferize_destination_style(op, buffers)))
    module = parse("""
      func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
        %r = linalg.copy ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }""")
    assert run(module, OneShotBufferize()).count("linalg.generic") == 1  # %y is copied, since it is said to be read


def test_names_are_whole() -> None:
    assert model_of("linalg.generic") is not None
    assert model_of("generic") is None
    assert model_of("tosa.reverse") is None
