"""Loops over tensors of dynamic sizes that stay the same: no copy and no allocation in any iteration, and the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.running import OURS, check
from tests.unit.parsing import parse, run

T = "tensor<?xf32>"
N = 5
HEAD = f"""func.func @main(%x: {T} {{hotdesk.shape = ["n"]}}, %k: index) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : {T}"""


def doubled(source: str, into: str) -> str:
    return f"linalg.map {{ arith.addf }} ins({source}, {source} : {T}, {T}) outs({into} : {T})"


LOOPS = {
    "for": f"""{HEAD}
      %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x) -> {T} {{
        %v = {doubled("%a", "%a")}
        scf.yield %v : {T}
      }}
      return %r : {T}
    }}""",
    "for of two, one in the other": f"""{HEAD}
      %r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x, %b = %x) -> ({T}, {T}) {{
        %q = scf.for %j = %c0 to %k step %c1 iter_args(%d = %a) -> {T} {{
          %v = linalg.map {{ arith.addf }} ins(%d, %b : {T}, {T}) outs(%d : {T})
          scf.yield %v : {T}
        }}
        %w = {doubled("%b", "%b")}
        scf.yield %q, %w : {T}, {T}
      }}
      %s = linalg.map {{ arith.subf }} ins(%r#0, %r#1 : {T}, {T}) outs(%r#0 : {T})
      return %s : {T}
    }}""",
    "while": f"""{HEAD}
      %r:2 = scf.while (%i = %c0, %a = %x) : (index, {T}) -> (index, {T}) {{
        %v = {doubled("%a", "%a")}
        %more = arith.cmpi slt, %i, %k : index
        scf.condition(%more) %i, %v : index, {T}
      }} do {{
      ^bb0(%j: index, %b: {T}):
        %next = arith.addi %j, %c1 : index
        %w = linalg.map {{ arith.addf }} ins(%b, %x : {T}, {T}) outs(%b : {T})
        scf.yield %next, %w : index, {T}
      }}
      return %r#1 : {T}
    }}""",
    "branches": f"""{HEAD}
      cf.br ^head(%c0, %x : index, {T})
    ^head(%i: index, %a: {T}):
      %v = {doubled("%a", "%a")}
      %next = arith.addi %i, %c1 : index
      %more = arith.cmpi slt, %next, %k : index
      cf.cond_br %more, ^head(%next, %v : index, {T}), ^end(%v : {T})
    ^end(%z: {T}):
      return %z : {T}
    }}""",
}
"""Each writes over what it carries: the argument, which is only read, is copied in front, once for each that is carried."""
CARRIED = {"for": 1, "for of two, one in the other": 2, "while": 1, "branches": 1}

GROWING = f"""{HEAD}
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x) -> {T} {{
    %d = tensor.dim %a, %c0 : {T}
    %m = arith.addi %d, %c1 : index
    %e = tensor.empty(%m) : {T}
    %f = linalg.map {{ arith.addf }} ins(%e, %e : {T}, {T}) outs(%e : {T})
    %v = tensor.insert_slice %a into %f[1] [%d] [1] : {T} into {T}
    %t = tensor.extract %v[%d] : {T}
    %u = tensor.extract %a[%c0] : {T}
    %w = tensor.insert %u into %v[%c0] : {T}
    scf.yield %w : {T}
  }}
  %h = tensor.extract_slice %r[0] [%n] [1] : {T} to {T}
  return %h : {T}
}}"""
TURNED = f"""{HEAD}
  %m = arith.addi %n, %c1 : index
  %e = tensor.empty(%m) : {T}
  %one = arith.constant 1.0 : f32
  %f = linalg.fill ins(%one : f32) outs(%e : {T}) -> {T}
  %r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x, %b = %f) -> ({T}, {T}) {{
    %v = {doubled("%a", "%a")}
    scf.yield %b, %v : {T}, {T}
  }}
  %h = tensor.extract_slice %r#0[0] [%n] [1] : {T} to {T}
  return %h : {T}
}}"""
"""Sizes that change: each iteration has memory of its own, or they change places."""


@pytest.mark.parametrize("times", [0, 1, 3])
@pytest.mark.parametrize("name", LOOPS)
def test_a_size_that_stays_is_worked_on_in_place(name: str, times: int) -> None:
    x = np.arange(N, dtype=np.float32)
    done = check(LOOPS[name], [x, np.int64(times)], OURS)
    assert done.copies.count == CARRIED[name]
    assert done.allocations.count == CARRIED[name]  # the result's among them


@pytest.mark.parametrize("times", [0, 1, 3])
@pytest.mark.parametrize("text", [GROWING, TURNED], ids=["grows", "two sizes change places"])
def test_sizes_that_change(text: str, times: int) -> None:
    check(text, [np.arange(N, dtype=np.float32), np.int64(times)], OURS)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_yields_no_new_memory(name: str) -> None:
    text = run(parse(LOOPS[name]), OneShotBufferize())
    loops = text[text.index("scf." if "scf." in text else "^bb1") :]
    inside = loops[: loops.rindex("bufferize" if "bufferize" in loops else "return")]
    assert "memref.alloc" not in inside.partition("^bb2")[0]
