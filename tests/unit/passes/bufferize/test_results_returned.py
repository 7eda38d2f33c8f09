"""Results that are returned: programs of `tests/filecheck/bufferize`, and others, are run. They copy no more than MLIR's do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import MLIR, OURS, Subject, assert_no_more, check
from tests.running.examples import inputs_of

_FOLDER = Path(__file__).parents[3] / "filecheck" / "bufferize"
RETURNED = Subject(
    "results are returned",
    "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)",
    frees=True,
)
_COPIES = {
    ("returned-reshapes", "cast", ""): 0,
    ("returned-reshapes", "cast2", "4"): 0,
    ("returned-reshapes", "expand", ""): 0,
    ("returned-reshapes", "collapse", ""): 0,
    ("returned-reshapes", "reshape", ""): 0,
    ("returned-reshapes", "for_cast", "3, 2"): 1,
    ("returned-reshapes-of-private-functions", "main1", ""): 0,
    ("returned-reshapes-of-private-functions", "main2", "0"): 0,
    ("returned-reshapes-of-private-functions", "main2", "1"): 0,
    ("returned-reshapes-of-private-functions", "main3", "3, 1"): 0,
    ("returned-reshapes-of-private-functions", "main4", "3"): 1,
    ("dynamic-sizes-of-regions", "f", "9"): 1,
    ("dynamic-sizes-of-branches", "f", "9, 0, 3, 2"): 1,
    ("dynamic-sizes-of-branches", "f", "9, 1, 3, 2"): 1,
}
_CALLEES = """
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func private @sized(%x: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %i = arith.index_cast %n : i64 to index
  %e = tensor.empty(%i) : tensor<?xf32>
  %f = arith.constant 2. : f32
  %b = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}
"""
_OF_CALLS = {
    "branches": """
// given: 1
func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %a = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %d = func.call @g(%b) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}""",
    "branches of sizes that nobody knows": """
// given: 1, 4, 3
func.func @main(%c: i1, %x: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    %a = func.call @sized(%x, %n) : (tensor<?xf32>, i64) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %m = arith.addi %n, %n : i64
    %b = func.call @sized(%x, %m) : (tensor<?xf32>, i64) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}""",
    "a loop": """
// given: 3
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<4xf32> {
    %b = func.call @g(%t) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}""",
    "a loop of sizes that nobody knows": """
// given: 2, 3, 2
func.func @main(%x: tensor<?xf32>, %n: i64, %k: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = func.call @sized(%x, %n) : (tensor<?xf32>, i64) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%t = %a) -> tensor<?xf32> {
    %b = func.call @sized(%t, %n) : (tensor<?xf32>, i64) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}""",
    "one is selected": """
// given: 1
func.func @main(%x: tensor<4xf32>, %d: i1) -> tensor<4xf32> {
  %a = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = arith.select %d, %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}""",
    "blocks": """
// given: 0
func.func @main(%x: tensor<4xf32>, %d: i1) -> tensor<4xf32> {
  cf.cond_br %d, ^one, ^two
^one:
  %a = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^join(%a : tensor<4xf32>)
^two:
  %b = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @g(%b) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^join(%c : tensor<4xf32>)
^join(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}""",
}


def _program(file: str, function: str, given: str) -> str:
    parts = (_FOLDER / f"{file}.mlir").read_text().split("// -----")
    text = next(part for part in parts if f"func.func @{function}(" in part)
    head = f"// given: {given}\n" if given else ""
    return head + text.replace(f"func.func @{function}(", "func.func @main(")


@pytest.mark.parametrize(("file", "function", "given"), _COPIES)
def test_copies(file: str, function: str, given: str) -> None:
    text = _program(file, function, given)
    inputs = inputs_of(text)
    ours = check(text, inputs, RETURNED)
    assert {check(text, inputs, OURS).copies.count, ours.copies.count} == {_COPIES[file, function, given]}
    assert_no_more(ours, check(text, inputs, MLIR))


@pytest.mark.parametrize("name", _OF_CALLS)
def test_what_calls_return_is_returned(name: str) -> None:
    text = _CALLEES + _OF_CALLS[name]
    inputs = inputs_of(text)
    ours = check(text, inputs, RETURNED)
    assert ours.copies.count == 0
    assert_no_more(ours, check(text, inputs, MLIR))


@pytest.mark.parametrize("name", [name for name in _OF_CALLS if "nobody" in name])
def test_nor_is_it_copied_where_results_are_arguments(name: str) -> None:
    """Callers cannot know its sizes, so the callee returns it; the result is the same memory."""
    text = _CALLEES + _OF_CALLS[name]
    assert check(text, inputs_of(text), OURS).copies.count == 0


def test_memory_that_is_returned_twice_is_copied_once() -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<?xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %c = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<2x2xf32>, tensor<?xf32>
}"""
    assert check(text, inputs_of(text), RETURNED).copies.count == 2


def test_a_part_is_copied() -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %c = tensor.cast %b : tensor<2xf32> to tensor<?xf32>
  return %c : tensor<?xf32>
}"""
    assert check(text, inputs_of(text), RETURNED).copies.bytes == 8


def test_an_argument_of_one_branch_is_copied_there() -> None:
    text = """
// given: {}
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<?xf32> {{
  %r = scf.if %c -> tensor<4xf32> {{
    scf.yield %x : tensor<4xf32>
  }} else {{
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }}
  %d = tensor.cast %r : tensor<4xf32> to tensor<?xf32>
  return %d : tensor<?xf32>
}}"""
    for taken in (0, 1):
        program = text.format(taken)
        assert check(program, inputs_of(program), RETURNED).copies.count == taken
