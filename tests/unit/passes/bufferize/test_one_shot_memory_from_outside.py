"""What an iteration computes over memory from outside of its loop: in new memory, if it is passed on and less is copied then."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running import MLIR_AT_CALLERS, OURS, Subject, assert_no_more, check

T = "tensor<4xf32>"
FREED = Subject("freed", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True)
RETURNED = Subject(
    "returned", "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)", frees=True
)


def _loop(body: str) -> str:
    return f"""func.func @main(%a: {T} {{hotdesk.donated}}, %b: {T}, %n: index) -> ({T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k = arith.constant 3.0 : f32
      %e = tensor.empty() : {T}
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b, %y = %b) -> ({T}, {T}) {{
        {body}
      }}
      return %r#0, %r#1 : {T}, {T}
    }}"""


def _in_a_branch(yielded: str) -> str:
    return f"""%c = arith.cmpi eq, %i, %c1 : index
        %w = scf.if %c -> {T} {{
          %v = linalg.exp ins(%y : {T}) outs(%e : {T}) -> {T}
          scf.yield %v : {T}
        }} else {{
          %f = linalg.fill ins(%k : f32) outs(%a : {T}) -> {T}
          scf.yield %f : {T}
        }}
        scf.yield {yielded} : {T}, {T}"""


PROGRAMS = {
    "overwritten unread, twice": f"%w = linalg.exp ins(%y : {T}) outs(%a : {T}) -> {T}\nscf.yield %w, %w : {T}, {T}",
    "a part, twice": f"""%s = tensor.extract_slice %y[0] [2] [1] : {T} to tensor<2xf32>
        %w = tensor.insert_slice %s into %a[1] [2] [1] : tensor<2xf32> into {T}
        scf.yield %w, %w : {T}, {T}""",
    "a part, beside what else is passed on": f"""%c = arith.cmpi eq, %i, %c1 : index
        %w = scf.if %c -> {T} {{
          scf.yield %y : {T}
        }} else {{
          %s = tensor.extract_slice %x[0] [2] [1] : {T} to tensor<2xf32>
          %p = tensor.insert_slice %s into %x[2] [2] [1] : tensor<2xf32> into {T}
          scf.yield %p : {T}
        }}
        scf.yield %y, %w : {T}, {T}""",
    "for a condition": _in_a_branch("%w, %x"),
    "left as it is, for a condition": f"""%c = arith.cmpi eq, %i, %c1 : index
        %w = scf.if %c -> {T} {{
          scf.yield %a : {T}
        }} else {{
          %f = linalg.fill ins(%k : f32) outs(%x : {T}) -> {T}
          scf.yield %f : {T}
        }}
        scf.yield %y, %w : {T}, {T}""",
    "for a condition, twice": _in_a_branch("%w, %w"),
}


@pytest.mark.parametrize("times", [0, 1, 2, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_more_is_copied_than_by_mlir(name: str, times: int) -> None:
    text = _loop(PROGRAMS[name])
    inputs = [np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) ** 2, np.int64(times)]
    for subject in (FREED, RETURNED):
        check(text, inputs, subject)
    assert_no_more(check(text, inputs, OURS), check(text, inputs, MLIR_AT_CALLERS))


def test_a_part_is_computed_in_new_memory_where_two_copies_follow() -> None:
    """%p is a copy of %x in its branch, and what becomes the states is not copied."""
    given = [np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) ** 2, np.int64(4)]
    text = _loop(PROGRAMS["a part, beside what else is passed on"])
    assert check(text, given, OURS).copies.count == 12
    assert check(text, given, MLIR_AT_CALLERS).copies.count == 14
