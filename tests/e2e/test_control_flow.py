"""Programs with loops, branches and blocks: compiled, planned in the arena, and run as the reference says."""

# NumPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import ExecutionError
from tests.harness import assert_same
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of

X = np.arange(32, dtype=np.float32).reshape(4, 8) / 32
T = "tensor<4x8xf32>"
STATEFUL = {"globals"}
"""Examples that keep what a call writes: only the first call of a program begins with what their text says."""


def add(a: str, b: str, out: str) -> str:
    return f"linalg.add ins({a}, {b} : {T}, {T}) outs({out} : {T}) -> {T}"


def loop(body: str, *, carried: str = "%a = %x", types: str = T, result: str = "%r", head: str = "") -> str:
    """A program that runs a body as often as it is told."""
    return f"""func.func @main(%x: {T}, %n: index) -> {T} {{
      {head}
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r{":2" if "," in carried else ""} = scf.for %i = %c0 to %n step %c1 iter_args({carried}) -> ({types}) {{
        {body}
      }}
      return {result} : {T}
    }}"""


def run(program: hotdesk.Program, *arguments: Any) -> Any:
    results = program(*(np.array(each) if isinstance(each, np.ndarray) else each for each in arguments))
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    inputs = inputs_of(text)
    program = hotdesk.compile(text)
    for _ in range(2):  # nothing of a call is left for the next one
        program = hotdesk.compile(text) if name in STATEFUL else program
        for number, (result, want) in enumerate(zip(run(program, *inputs), wanted(text, inputs), strict=True)):
            assert_same(np.asarray(result), want, f"result {number}")
    memory = program.memory(*inputs)
    assert memory.arena == memory.lower_bound


def test_what_an_iteration_makes_has_one_place() -> None:
    """Three buffers an iteration, two of them at a time: the arena does not grow with iterations."""
    body = f"""%e = tensor.empty() : tensor<4x4xf32>
      %et = tensor.empty() : tensor<8x4xf32>
      %eo = tensor.empty() : {T}
      %z = arith.constant 0.0 : f32
      %t = linalg.transpose ins(%a : {T}) outs(%et : tensor<8x4xf32>) permutation = [1, 0]
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
      %m = linalg.matmul ins(%a, %t : {T}, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
      %g = linalg.fill ins(%z : f32) outs(%eo : {T}) -> {T}
      %q = linalg.matmul ins(%m, %a : tensor<4x4xf32>, {T}) outs(%g : {T}) -> {T}
      scf.yield %q : {T}"""
    program = hotdesk.compile(loop(body))
    expected = X
    for count in range(3):
        memory = program.memory(X, count)
        assert (memory.arena, memory.lower_bound, memory.copies) == (192, 192, 0)
        (result,) = run(program, X, count)
        np.testing.assert_allclose(result, expected, rtol=1e-4)
        expected = (expected @ expected.T) @ expected


def test_two_values_that_change_places() -> None:
    body = f"%e = tensor.empty() : {T}\n%s = {add('%a', '%b', '%e')}\nscf.yield %b, %s : {T}, {T}"
    program = hotdesk.compile(loop(body, carried="%a = %x, %b = %x", types=f"{T}, {T}", result="%r#1"))
    assert program.memory(X, 9).arena == program.memory(X, 9).lower_bound == 256
    for count, times in ((0, 1), (1, 2), (2, 3), (5, 13)):
        np.testing.assert_array_equal(run(program, X, count)[0], times * X)


def test_the_ways_of_a_branch_share_their_place() -> None:
    def way(function: str) -> str:
        return f"""%e = tensor.empty() : {T}
          %s = linalg.{function} ins(%x : {T}) outs(%e : {T}) -> {T}
          %z = arith.constant 0.0 : f32
          %q = tensor.empty() : tensor<4x4xf32>
          %f = linalg.fill ins(%z : f32) outs(%q : tensor<4x4xf32>) -> tensor<4x4xf32>
          %t = tensor.empty() : tensor<8x4xf32>
          %v = linalg.transpose ins(%s : {T}) outs(%t : tensor<8x4xf32>) permutation = [1, 0]
          %m = linalg.matmul ins(%s, %v : {T}, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
          scf.yield %m : tensor<4x4xf32>"""

    text = f"""func.func @main(%x: {T}, %c: i1) -> tensor<4x4xf32> {{
      %r = scf.if %c -> tensor<4x4xf32> {{ {way("exp")} }} else {{ {way("tanh")} }}
      return %r : tensor<4x4xf32>
    }}"""
    program = hotdesk.compile(text)
    memory = program.memory(X, True)
    assert (memory.arena, memory.lower_bound, memory.allocations) == (128, 128, 2)
    np.testing.assert_allclose(run(program, X, True)[0], np.exp(X) @ np.exp(X).T, rtol=1e-5)
    np.testing.assert_allclose(run(program, X, False)[0], np.tanh(X) @ np.tanh(X).T, rtol=1e-4, atol=1e-6)


def test_a_loop_that_runs_long_takes_no_more() -> None:
    body = f"%e = tensor.empty() : {T}\n%s = {add('%a', '%x', '%e')}\nscf.yield %s : {T}"
    program = hotdesk.compile(loop(body))
    assert program.memory(X, 100_000).arena == 0
    np.testing.assert_allclose(run(program, np.ones_like(X), 100_000)[0], np.full_like(X, 100_001))


def test_a_size_that_only_the_run_knows() -> None:
    text = """func.func @main(%n: tensor<i64>) -> tensor<f32> {
      %read = tensor.extract %n[] : tensor<i64>
      %k = arith.index_cast %read : i64 to index
      %e = tensor.empty(%k) : tensor<?xf32>
      %one = arith.constant 1.5 : f32
      %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %e1 = tensor.empty(%k) : tensor<?xf32>
      %g = linalg.exp ins(%f : tensor<?xf32>) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
      %z = arith.constant 0.0 : f32
      %e2 = tensor.empty() : tensor<f32>
      %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
      %r = linalg.dot ins(%f, %g : tensor<?xf32>, tensor<?xf32>) outs(%f2 : tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    program = hotdesk.compile(text)
    for count in (0, 1, 7, 10_000):
        np.testing.assert_allclose(program(np.array(count)), np.float32(count * 1.5 * np.exp(1.5)), rtol=1e-4)


def test_a_failed_assertion_leaves_the_loop() -> None:
    body = f"""%four = arith.constant 4 : index
      %ok = arith.cmpi ult, %i, %four : index
      cf.assert %ok, "the row is one of four"
      %v = tensor.extract %x[%i, %c0] : {T}
      %e = tensor.empty() : {T}
      %w = linalg.fill ins(%v : f32) outs(%e : {T}) -> {T}
      %s = {add("%a", "%w", "%e")}
      scf.yield %s : {T}"""
    program = hotdesk.compile(loop(body))
    with pytest.raises(
        ExecutionError, match=r"a check of `cf.assert` failed: expected the row is one of four.*\[HD401\]"
    ):
        program(X, 1 << 40)
    np.testing.assert_allclose(run(program, X, 4)[0], X + X[:, 0].sum(), rtol=1e-6)


def test_an_assertion_on_an_element_needs_no_loop() -> None:
    program = hotdesk.compile(f"""func.func @main(%x: {T}, %y: {T} {{hotdesk.donated}}) -> {T} {{
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %v = tensor.extract %x[%c0, %c0] : {T}
      %ok = arith.cmpf ogt, %v, %z : f32
      cf.assert %ok, "the first element is positive"
      %w = linalg.exp ins(%x : {T}) outs(%y : {T}) -> {T}
      return %w : {T}
    }}""")
    x = np.abs(X) + 1
    np.testing.assert_allclose(program(x, np.zeros_like(x)), np.exp(x), rtol=1e-6)
    with pytest.raises(ExecutionError, match=r"expected the first element is positive.*\[HD401\]"):
        program(-x, np.zeros_like(x))


def test_scalars_that_a_loop_changes() -> None:
    text = f"""func.func @main(%x: {T}, %limit: f32) -> ({T}, i64) {{
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : index
      %r:2 = scf.while (%a = %x, %k = %zero) : ({T}, i64) -> ({T}, i64) {{
        %v = tensor.extract %a[%c0, %c0] : {T}
        %c = arith.cmpf olt, %v, %limit : f32
        scf.condition(%c) %a, %k : {T}, i64
      }} do {{
      ^bb0(%a: {T}, %k: i64):
        %e = tensor.empty() : {T}
        %s = {add("%a", "%a", "%e")}
        %next = arith.addi %k, %one : i64
        scf.yield %s, %next : {T}, i64
      }}
      return %r#0, %r#1 : {T}, i64
    }}"""
    program = hotdesk.compile(text)
    doubled, count = program(np.ones_like(X), 100.0)
    assert count == 7
    np.testing.assert_array_equal(doubled, np.full_like(X, 128))
    assert run(program, np.ones_like(X), 0.5)[1] == 0


def test_memory_of_its_own() -> None:
    """A program on memrefs: its allocation in the loop has a place in the arena, and its stores are code."""
    text = """func.func @main(%x: memref<8xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<8xf32>
        linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%t : memref<8xf32>)
        %v = memref.load %t[%c1] : memref<8xf32>
        memref.copy %t, %x : memref<8xf32> to memref<8xf32>
        memref.store %v, %x[%c0] : memref<8xf32>
        memref.dealloc %t : memref<8xf32>
      }
      return
    }"""
    program = hotdesk.compile(text)
    x = np.arange(8, dtype=np.float32)
    assert program.memory(x, 3).arena == 64
    program(x, 3)
    np.testing.assert_array_equal(x, [8, 8, 16, 24, 32, 40, 48, 56])


def test_a_profile_counts_iterations() -> None:
    program = hotdesk.compile(loop(f"%e = tensor.empty() : {T}\n%s = {add('%a', '%x', '%e')}\nscf.yield %s : {T}"))
    for count in (0, 1, 50):
        added = [each for each in program.profile(X, count).kernels if each.operations]
        assert [each.calls for each in added] == [count] * bool(count)
        for each in added:
            assert (each.operations, each.read, each.written) == (count * 32, count * 256, count * 128)
            assert each.seconds > 0
    np.testing.assert_allclose(run(program, X, 50)[0], 51 * X, rtol=1e-5)


def test_a_profile_of_the_way_that_is_taken() -> None:
    def way(function: str) -> str:
        return f"""%e = tensor.empty() : {T}
          %s = linalg.{function} ins(%x : {T}) outs(%e : {T}) -> {T}
          scf.yield %s : {T}"""

    program = hotdesk.compile(f"""func.func @main(%x: {T}, %c: i1) -> {T} {{
      %r = scf.if %c -> {T} {{ {way("exp")} }} else {{ {way("tanh")} }}
      return %r : {T}
    }}""")
    first, second = ([each.kernel for each in program.profile(X, way).kernels] for way in (True, False))
    assert len(first) == len(second) == 1
    assert first != second


def test_a_profile_of_sizes_that_only_the_run_knows() -> None:
    text = """func.func @main(%n: tensor<i64>) -> tensor<f32> {
      %read = tensor.extract %n[] : tensor<i64>
      %k = arith.index_cast %read : i64 to index
      %e = tensor.empty(%k) : tensor<?xf32>
      %one = arith.constant 1.5 : f32
      %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %z = arith.constant 0.0 : f32
      %e2 = tensor.empty() : tensor<f32>
      %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
      %r = linalg.dot ins(%f, %f : tensor<?xf32>, tensor<?xf32>) outs(%f2 : tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    profile = hotdesk.compile(text).profile(np.array(1000))
    assert "f32[?]" in str(profile)


def test_the_checker_sees_the_plan() -> None:
    """What each iteration does at the planned places is looked at."""
    body = f"%e = tensor.empty() : {T}\n%s = {add('%a', '%b', '%e')}\nscf.yield %b, %s : {T}, {T}"
    program = hotdesk.compile(loop(body, carried="%a = %x, %b = %x", types=f"{T}, {T}", result="%r#1"))
    report = program.check(X, 5)
    assert not report.faults
    np.testing.assert_array_equal(report.results[0].values, 13 * X)


def test_two_assertions_of_one_block() -> None:
    body = f"""%four = arith.constant 4 : index
      %ok = arith.cmpi ult, %i, %four : index
      cf.assert %ok, "the row is one of four"
      %v = tensor.extract %x[%i, %c0] : {T}
      %zero = arith.constant 0.0 : f32
      %positive = arith.cmpf oge, %v, %zero : f32
      cf.assert %positive, "the value is positive"
      %e = tensor.empty() : {T}
      %w = linalg.fill ins(%v : f32) outs(%e : {T}) -> {T}
      scf.yield %w : {T}"""
    program = hotdesk.compile(loop(body))
    np.testing.assert_array_equal(run(program, X, 3)[0], np.full_like(X, X[2, 0]))
    with pytest.raises(ExecutionError, match="expected the row is one of four"):
        program(X, 5)
    with pytest.raises(ExecutionError, match="expected the value is positive"):
        program(-1 - X, 5)


def test_a_slice_of_one_element_with_a_step() -> None:
    """All of what it is a slice of: a loop that changes it changes that."""
    program = hotdesk.compile("""func.func @main(%x: tensor<3xi32>, %n: index) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<3xi32>) {
    %last = tensor.extract_slice %t[2] [1] [1] : tensor<3xi32> to tensor<1xi32>
    %same = tensor.extract_slice %last[0] [1] [2] : tensor<1xi32> to tensor<1xi32>
    %less = scf.for %j = %c0 to %n step %c1 iter_args(%s = %same) -> (tensor<1xi32>) {
      %e = tensor.extract %s[%c0] : tensor<1xi32>
      %d = arith.subi %e, %two : i32
      %new = tensor.insert %d into %s[%c0] : tensor<1xi32>
      scf.yield %new : tensor<1xi32>
    }
    %back = tensor.insert_slice %less into %last[0] [1] [2] : tensor<1xi32> into tensor<1xi32>
    %all = tensor.insert_slice %back into %t[0] [1] [1] : tensor<1xi32> into tensor<3xi32>
    scf.yield %all : tensor<3xi32>
  }
  return %r : tensor<3xi32>
}
""")
    assert np.asarray(program(np.array([10, 20, 30], np.int32), 2)).tolist() == [26, 20, 30]


def test_sizes_that_do_not_agree_in_a_loop_are_an_error() -> None:
    kind = "tensor<?xf32>"
    text = f"""func.func @main(%x: {kind}, %y: {kind}, %n: index) -> {kind} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> ({kind}) {{
        %s = linalg.add ins(%a, %y : {kind}, {kind}) outs(%a : {kind}) -> {kind}
        scf.yield %s : {kind}
      }}
      return %r : {kind}
    }}"""
    program = hotdesk.compile(text)
    x, y = np.ones(5, np.float32), np.ones(5, np.float32)
    np.testing.assert_array_equal(program(x, y, 3), np.full(5, 4, np.float32))
    np.testing.assert_array_equal(program(x, y[:2], 0), x)  # what does not run demands nothing
    with pytest.raises(ExecutionError, match=r"a check of `linalg.\w+` failed: expected sizes that are one"):
        program(x, y[:2], 1)


def test_a_slice_that_leaves_its_tensor_in_a_loop_is_an_error() -> None:
    text = f"""func.func @main(%x: {T}, %n: index) -> tensor<8xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %e = tensor.empty() : tensor<8xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> tensor<8xf32> {{
        %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : {T} to tensor<8xf32>
        %s = linalg.exp ins(%row : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
        scf.yield %s : tensor<8xf32>
      }}
      return %r : tensor<8xf32>
    }}"""
    program = hotdesk.compile(text)
    np.testing.assert_allclose(program(X, 4), np.exp(X[3]), rtol=1e-6)
    with pytest.raises(
        ExecutionError, match="a check of `tensor.extract_slice` failed: expected a place inside of its operand"
    ):
        program(X, 5)


CHOSEN = """
func.func @f(%v: i32, %b: i1, %q: tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>) {
  %e = tensor.empty() : tensor<2x4xi32>
  %q0 = linalg.fill ins(%v : i32) outs(%e : tensor<2x4xi32>) -> tensor<2x4xi32>
  %p:2 = scf.if %b -> (tensor<2x4xi32>, tensor<2x4xi32>) {
    %k = arith.constant dense<1> : tensor<2x4xi32>
    scf.yield %q0, %k : tensor<2x4xi32>, tensor<2x4xi32>
  } else {
    scf.yield %e, %e : tensor<2x4xi32>, tensor<2x4xi32>
  }
  %r = linalg.add ins(%p#1, %q : tensor<2x4xi32>, tensor<2x4xi32>) outs(%e : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %p#0, %r : tensor<2x4xi32>, tensor<2x4xi32>
}
"""


def test_memory_that_is_chosen_and_never_written_has_a_place() -> None:
    """What it holds is anything, but reading it must not end the process."""
    program = hotdesk.compile(CHOSEN)
    q = np.arange(8, dtype=np.int32).reshape(2, 4)
    filled, added = program(3, True, q)
    assert (filled == 3).all()
    assert (added == q + 1).all()
    assert [result.shape for result in program(3, False, q)] == [(2, 4), (2, 4)]


BEHIND_A_LOOP = """
func.func @main(%x: tensor<64x64xf32> {hotdesk.donated}, %n: index) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<64xf32> {
    %b = linalg.tanh ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  %g = tensor.empty() : tensor<64x64xf32>
  %w = linalg.broadcast ins(%l : tensor<64xf32>) outs(%g : tensor<64x64xf32>) dimensions = [1]
  %h = linalg.tanh ins(%w : tensor<64x64xf32>) outs(%g : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.fill ins(%z : f32) outs(%g : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%h, %h : tensor<64x64xf32>, tensor<64x64xf32>) outs(%q : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""


def test_a_donated_input_lends_its_memory_behind_a_loop_that_does_not_touch_it() -> None:
    program = hotdesk.compile(BEHIND_A_LOOP)
    x = np.linspace(0, 0.01, 64 * 64, dtype=np.float32).reshape(64, 64)
    memory = program.memory(x, 2)
    assert (memory.arena, memory.lent) == (0, 64 * 64 * 4)
    wide = np.tanh(np.repeat(np.tanh(np.tanh(x.sum(1)))[:, None], 64, axis=1))
    np.testing.assert_allclose(program(x.copy(), 2), wide @ wide, rtol=1e-5)


FREED_AT_THE_END = """
func.func @main(%x: memref<64xf32>, %n: index, %r: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  }
  linalg.tanh ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  linalg.tanh ins(%b : memref<64xf32>) outs(%c : memref<64xf32>)
  linalg.tanh ins(%c : memref<64xf32>) outs(%r : memref<64xf32>)
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<64xf32>
  memref.dealloc %c : memref<64xf32>
  return
}
"""


def test_buffers_that_a_program_with_a_loop_frees_at_its_end_are_shared_from_their_last_use_on() -> None:
    program = hotdesk.compile(FREED_AT_THE_END)
    x, r = np.linspace(-1, 1, 64, dtype=np.float32), np.zeros(64, np.float32)
    assert program.memory(x, 1, r).arena == 2 * 64 * 4
    program(x, 1, r)
    np.testing.assert_allclose(r, np.tanh(np.tanh(np.tanh(np.exp(x)))), rtol=1e-6)
