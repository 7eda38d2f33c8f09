"""Slices that are copied so that what they are slices of can be overwritten: fewer bytes than MLIR's copies, or as many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.running import MLIR_AT_CALLERS, OURS, assert_no_more, check
from tests.unit.parsing import parse, run

T, S = "tensor<64xf32>", "tensor<8xf32>"
HEAD = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 3.0 : f32
  %e = tensor.empty() : {T}
  %0 = linalg.exp ins(%x : {T}) outs(%e : {T}) -> {T}"""
SHIFTED = f"""func.func @main(%x: {T}) -> {T} {{ {HEAD}
  %s = tensor.extract_slice %0[0] [8] [1] : {T} to {S}
  %1 = tensor.insert_slice %s into %0[4] [8] [1] : {S} into {T}
  return %1 : {T} }}"""
READ_LATER = f"""func.func @main(%x: {T}) -> ({T}, {S}) {{ {HEAD}
  %s = tensor.extract_slice %0[0] [8] [1] : {T} to {S}
  %1 = tensor.insert %c into %0[%c1] : {T}
  %u = tensor.extract_slice %1[0] [8] [1] : {T} to {S}
  %f = tensor.empty() : {S}
  %2 = linalg.add ins(%s, %u : {S}, {S}) outs(%f : {S}) -> {S}
  return %1, %2 : {T}, {S} }}"""
IN_A_LOOP = f"""func.func @main(%x: {T}, %n: index) -> {T} {{ {HEAD}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> {T} {{
    %s = tensor.extract_slice %a[0] [8] [1] : {T} to {S}
    %1 = tensor.insert_slice %s into %a[4] [8] [1] : {S} into {T}
    scf.yield %1 : {T}
  }}
  return %r : {T} }}"""
REDUCED = f"""func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {{
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.exp ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s = tensor.extract_slice %0[1, 0] [1, 8] [1, 2] : tensor<4x16xf32> to {S}
  %t = tensor.expand_shape %s [[0, 1]] output_shape [2, 4] : {S} into tensor<2x4xf32>
  %1 = tensor.insert_slice %t into %0[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x16xf32>
  return %1 : tensor<4x16xf32> }}"""
TWO = f"""func.func @main(%x: {T}) -> ({T}, {S}) {{ {HEAD}
  %s = tensor.extract_slice %0[0] [8] [1] : {T} to {S}
  %u = tensor.extract_slice %0[4] [8] [1] : {T} to {S}
  %1 = tensor.insert %c into %0[%c1] : {T}
  %2 = tensor.insert %c into %1[%c0] : {T}
  %f = tensor.empty() : {S}
  %3 = linalg.add ins(%s, %u : {S}, {S}) outs(%f : {S}) -> {S}
  return %2, %3 : {T}, {S} }}"""
PROGRAMS: dict[str, tuple[str, int, int]] = {
    "shifted": (SHIFTED, 64, 64),
    "read later": (READ_LATER, 64, 32),
    "in a loop": (IN_A_LOOP, 64, 3 * 64),
    "of fewer dims": (REDUCED, 64, 64),
    "two": (TWO, 64, 64),
}
"""Each with the elements of its input, and the bytes that are copied."""

MOST = f"""func.func @main(%x: {T}) -> ({T}, tensor<60xf32>, tensor<60xf32>) {{ {HEAD}
  %s = tensor.extract_slice %0[0] [60] [1] : {T} to tensor<60xf32>
  %u = tensor.extract_slice %0[4] [60] [1] : {T} to tensor<60xf32>
  %1 = tensor.insert %c into %0[%c1] : {T}
  %f = tensor.empty() : tensor<60xf32>
  %2 = linalg.add ins(%s, %u : tensor<60xf32>, tensor<60xf32>) outs(%f : tensor<60xf32>) -> tensor<60xf32>
  %g = tensor.empty() : tensor<60xf32>
  %3 = linalg.sub ins(%s, %u : tensor<60xf32>, tensor<60xf32>) outs(%g : tensor<60xf32>) -> tensor<60xf32>
  return %1, %2, %3 : {T}, tensor<60xf32>, tensor<60xf32> }}"""
"""Two slices that are longer together than what they are of."""


def inputs(text: str, count: int) -> list[Any]:
    x = np.linspace(-2, 2, count, dtype=np.float32)
    x = x.reshape(4, 16) if "%x: tensor<4x16xf32>" in text else x
    return [x, np.int64(3)] if "%n: index" in text else [x]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_slice_is_copied(name: str) -> None:
    text, count, copied = PROGRAMS[name]
    ours = check(text, inputs(text, count), OURS)
    assert ours.copies.bytes == copied
    assert_no_more(ours, check(text, inputs(text, count), MLIR_AT_CALLERS))


def test_slices_that_have_more_bytes_together_stay_views() -> None:
    ours = check(MOST, inputs(MOST, 64), OURS)
    assert (ours.copies.count, ours.copies.bytes) == (1, 256)


def test_what_is_overwritten_entirely_is_never_worth_a_copy() -> None:
    text = READ_LATER.replace(
        f"%1 = tensor.insert %c into %0[%c1] : {T}", f"%1 = linalg.fill ins(%c : f32) outs(%0 : {T}) -> {T}"
    )
    assert check(text, inputs(text, 64), OURS).copies.count == 0


@pytest.mark.parametrize(
    "heuristic", ["top-down", "bottom-up", "bottom-up-from-terminators", "largest-first", "fuzzer"]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_heuristic_decides_alike(name: str, heuristic: str) -> None:
    text = PROGRAMS[name][0]
    usual = run(parse(text), OneShotBufferize())
    assert run(parse(text), OneShotBufferize(analysis_heuristic=heuristic)) == usual


@pytest.mark.parametrize("times", [0, 1, 4])
def test_what_enters_a_loop_is_copied_once(times: int) -> None:
    """Slices in the loop, and %x in front of it, are fewer bytes than all of it in each iteration."""
    text = (
        IN_A_LOOP.replace(HEAD, HEAD[: HEAD.index("%c = ")])
        .replace("%0)", "%x)")
        .replace(f"-> {T} {{ ", f"-> ({T}, {T}) {{ ")
    )
    text = text.replace(f"return %r : {T}", f"return %r, %x : {T}, {T}")
    given = [np.arange(64, dtype=np.float32), np.int64(times)]
    ours = check(text, given, OURS)
    assert ours.copies.bytes <= 3 * 256 + times * 2 * 32
    assert_no_more(ours, check(text, given, MLIR_AT_CALLERS))


def test_the_reason_names_the_conflict() -> None:
    module = parse(READ_LATER)
    with entered(module.operation):
        decisions = OneShotBufferize().run(module)
    (copied,) = [decision for decision in decisions if decision.outcome is Outcome.COPIED]
    assert (copied.subject, copied.reason, copied.bytes) == ("result of tensor.extract_slice", Reason.SLICE_INSTEAD, 32)
    assert copied.read is not None
    assert copied.write is not None
    assert (copied.read.op, copied.write.op) == ("linalg.add", "tensor.insert")
    assert copied.definition is not None
    assert copied.definition.op == "linalg.exp"


def test_analysis_alone_says_it_of_the_slice() -> None:
    text = run(parse(READ_LATER), OneShotBufferize(test_analysis_only=True))
    old, new = [line for line in text.splitlines() if "tensor.extract_slice" in line]
    assert '__inplace_operands_attr__ = ["false"]' in old
    assert '__inplace_operands_attr__ = ["true"]' in new


def test_recursive_functions_keep_their_slices() -> None:
    text = SHIFTED.replace("func.func @main", "func.func private @again").replace(
        "  return %1", f"  %2 = func.call @again(%1) : ({T}) -> {T}\n  return %2"
    )
    after = run(parse(text), OneShotBufferize())
    assert "memref.alloc() : memref<64xf32>" in after
    assert "memref.alloc() : memref<8xf32>" not in after
