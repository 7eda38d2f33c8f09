"""Functions that free memory which they are given: what they get is not moved, shared or put elsewhere by their callers."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk._bindings import ir
from hotdesk.analysis.allocations import freeing_calls
from hotdesk.ir.walking import nested_ops, symbol_name
from tests.running.buffer_passes import MOVING
from tests.unit.passes.buffers.checking import checked, through

M = "memref<4xf32>"
PASSES = (
    *MOVING,
    "hotdesk-merge-allocations{arena=argument}",
)
DIRECTLY = f"""func.func private @use(%g: {M}, %to: {M}) {{
  memref.copy %g, %to : {M} to {M}
  memref.dealloc %g : {M}
  return
}}"""
BY_ANOTHER = f"""func.func private @use(%g: {M}, %to: {M}) {{
  func.call @again(%g, %to) : ({M}, {M}) -> ()
  return
}}
{DIRECTLY.replace("@use", "@again")}"""
BEHIND_BLOCKS = f"""func.func private @use(%g: {M}, %to: {M}) {{
  cf.br ^next(%g : {M})
^next(%u: {M}):
  memref.copy %u, %to : {M} to {M}
  memref.dealloc %u : {M}
  return
}}"""
CALLS = f"""func.func @main(%x: {M}, %n: index, %out: {M} {{bufferize.result = 0 : i64}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {{
    %a = memref.alloc() : {M}
    memref.copy %x, %a : {M} to {M}
    func.call @use(%a, %out) : ({M}, {M}) -> ()
    %b = memref.alloc() : {M}
    memref.copy %out, %b : {M} to {M}
    memref.copy %b, %out : {M} to {M}
    memref.dealloc %b : {M}
  }}
  %a = memref.alloc() : {M}
  memref.copy %x, %a : {M} to {M}
  func.call @use(%a, %out) : ({M}, {M}) -> ()
  %b = memref.alloc() : {M}
  memref.copy %out, %b : {M} to {M}
  %f = arith.constant 2.0 : f32
  memref.store %f, %b[%c0] : {M}
  memref.copy %b, %out : {M} to {M}
  memref.dealloc %b : {M}
  return
}}
"""


@pytest.mark.parametrize("one", PASSES)
@pytest.mark.parametrize("callee", [DIRECTLY, BY_ANOTHER, BEHIND_BLOCKS])
def test_what_a_callee_frees_stays_where_it_is(callee: str, one: str) -> None:
    text = CALLS + callee
    wanted, got = checked(text, freed=True), checked(through(text, one), freed=True)
    np.testing.assert_array_equal(got.results[0].values, wanted.results[0].values)


def test_what_a_callee_allocates_and_frees_is_no_concern_of_its_callers() -> None:
    callee = f"""func.func private @use(%g: {M}, %to: {M}) {{
  %t = memref.alloc() : {M}
  memref.copy %g, %t : {M} to {M}
  memref.copy %t, %to : {M} to {M}
  memref.dealloc %t : {M}
  return
}}"""
    text = CALLS.replace(
        f"func.call @use(%a, %out) : ({M}, {M}) -> ()",
        f"func.call @use(%a, %out) : ({M}, {M}) -> ()\nmemref.dealloc %a : {M}",
    )
    changed = through(text + callee, "hotdesk-promote-buffers-to-stack")
    assert changed.count("memref.alloca()") == 5
    checked(changed, freed=True)


@pytest.mark.parametrize("one", PASSES)
def test_each_function_is_read_once_for_all_its_callers(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, read = 30, list[str]()
    text = f"func.func private @f0(%x: {M}) {{\n  return\n}}\n"
    for i in range(1, count):
        text += f"""func.func private @f{i}(%x: {M}) {{
          %a = memref.alloc() : {M}
          memref.copy %x, %a : {M} to {M}
          func.call @f{i - 1}(%a) : ({M}) -> ()
          memref.dealloc %a : {M}
          return
        }}
        """

    def noted(function: ir.Operation) -> list[ir.Operation]:
        read.append(symbol_name(function))
        return nested_ops(function)

    monkeypatch.setattr(freeing_calls, "nested_ops", noted)
    through(text, one)
    assert sorted(read) == sorted(f"f{i}" for i in range(count))
