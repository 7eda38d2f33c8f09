"""Faults of what changes the signatures of functions on memrefs, and of scratch memory for kernels."""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from hotdesk.checker import FaultKind
from hotdesk.ir.building import index_constant
from hotdesk.ir.functions import returns_of
from hotdesk.ir.walking import defining_op
from hotdesk.passes.bufferize import equivalent_results, out_params
from hotdesk.passes.buffers import workspaces
from tests.planted.planting import WRONG_RESULTS, Case, Patch, always, changed

# Results as arguments

MADE = """
func.func private @made(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32> {bufferize.result = 0 : i64}) {
  %r = call @made(%x) : (memref<4xf32>) -> memref<4xf32>
  linalg.abs ins(%r : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
"""
MADE_OF_A_SIZE = """
func.func private @made(%n: index, %x: memref<?xf32>) -> memref<?xf32> {
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  return %a : memref<?xf32>
}
func.func @main(%n: index, %x: memref<?xf32>, %y: memref<?xf32> {bufferize.result = 0 : i64}) {
  %r = call @made(%n, %x) : (index, memref<?xf32>) -> memref<?xf32>
  linalg.abs ins(%r : memref<?xf32>) outs(%y : memref<?xf32>)
  memref.dealloc %r : memref<?xf32>
  return
}
"""


def _one_element(found: Any, _values: Any, _function: Any, call: ir.Operation) -> Any:
    return [index_constant(1, call) for _ in found]


OUT_PARAMS = {
    "a result does not come to its argument": Case(
        always(out_params, "elementwise_copy", None), FaultKind.UNWRITTEN, MADE
    ),
}
OUT_PARAMS_HOISTED = {
    "the caller allocates too little": Case(
        changed(out_params, "computed", _one_element), FaultKind.SHAPE, MADE_OF_A_SIZE, (3, 3, 3)
    ),
}


# Results that are arguments

ONE_OR_THE_OTHER = """
func.func private @either(%n: index, %x: memref<4xf32>, %z: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %some = arith.cmpi sgt, %n, %c0 : index
  cf.cond_br %some, ^first, ^second
^first:
  return %x : memref<4xf32>
^second:
  return %z : memref<4xf32>
}
func.func @main(%n: index, %x: memref<4xf32>, %z: memref<4xf32>, %y: memref<4xf32> {bufferize.result = 0 : i64}) {
  %r = call @either(%n, %x, %z) : (index, memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  linalg.abs ins(%r : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
"""
A_PART = """
func.func private @part(%x: memref<4xf32>) -> memref<?xf32, strided<[1], offset: ?>> {
  %c2 = arith.constant 2 : index
  %p = memref.subview %x[%c2] [%c2] [1] : memref<4xf32> to memref<?xf32, strided<[1], offset: ?>>
  return %p : memref<?xf32, strided<[1], offset: ?>>
}
func.func @main(%x: memref<4xf32>, %y: memref<f32> {bufferize.result = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %r = call @part(%x) : (memref<4xf32>) -> memref<?xf32, strided<[1], offset: ?>>
  %v = memref.load %r[%c0] : memref<?xf32, strided<[1], offset: ?>>
  memref.store %v, %y[] : memref<f32>
  return
}
"""
RULES: Any = equivalent_results


def _of_the_first_return(_found: Any, function: ir.Operation) -> Any:
    first = returns_of(function)[0] if returns_of(function) else None
    numbers = {} if first is None else {i: RULES._argument(v, function) for i, v in enumerate(first.operands)}
    return {result: argument for result, argument in numbers.items() if argument is not None}


def _through_slices(found: Any, value: ir.Value, function: ir.Operation) -> Any:
    op = defining_op(value)
    return RULES._argument(op.operands[0], function) if op is not None and "subview" in op.name else found


EQUIVALENT = {
    "one return speaks for all": Case(
        changed(equivalent_results, "_equivalent", _of_the_first_return), WRONG_RESULTS, ONE_OR_THE_OTHER, (0,)
    ),
    "a part of an argument is taken for the argument": Case(
        changed(equivalent_results, "_argument", _through_slices), WRONG_RESULTS, A_PART
    ),
}


# Scratch memory

CONVOLVED = """
func.func @main(%x: memref<1x4x9x9xf32>, %w: memref<8x4x2x2xf32>, %y: memref<1x8x18x18xf32> {bufferize.result = 0 : i64},
                %z: memref<1x4x9x9xf32> {bufferize.result = 1 : i64}) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<1x4x9x9xf32>
  linalg.exp ins(%x : memref<1x4x9x9xf32>) outs(%a : memref<1x4x9x9xf32>)
  linalg.fill ins(%one : f32) outs(%y : memref<1x8x18x18xf32>)
  "hotdesk.conv"(%a, %w, %y) {accumulate = true, dilations = array<i64: 1, 1>, groups = 1 : i64,
    input_dilations = array<i64: 2, 2>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (memref<1x4x9x9xf32>, memref<8x4x2x2xf32>, memref<1x8x18x18xf32>) -> ()
  linalg.abs ins(%a : memref<1x4x9x9xf32>) outs(%z : memref<1x4x9x9xf32>)
  return
}
"""


def _convolutions(change: Any) -> Patch:
    """Changes the operands or attributes that `hotdesk.conv` is made anew with."""

    def apply(patch: Any) -> None:
        right = workspaces.remade

        def remade(old: ir.Operation, operands: Any, results: Any, attributes: Any) -> ir.Operation:
            return right(old, *change(operands, results, attributes))

        patch.setattr(workspaces, "remade", remade)

    return apply


def _overwriting(operands: Any, results: Any, attributes: Any) -> Any:
    return operands, results, {**attributes, "accumulate": ir.BoolAttr.get(False)}


def _in_the_image(operands: Any, results: Any, attributes: Any) -> Any:
    return [*operands[:3], operands[0]], results, attributes


WORKSPACES = {
    "what was there is not added to": Case(_convolutions(_overwriting), WRONG_RESULTS, CONVOLVED),
    "scratch memory is what others read": Case(_convolutions(_in_the_image), FaultKind.UNWRITTEN, CONVOLVED),
}
