"""Parallel loops shared out among threads: which are, and that their results are those of one thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

import hotdesk
from hotdesk.analysis.memrefs import shared_loops
from hotdesk.errors import ExecutionError
from hotdesk.explain import Reason
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops
from hotdesk.passes.buffers.privatize import PrivatizeBuffers

T = "tensor<64x1024xf32>"

# Rows of a matrix, each by an op of linalg.
ROWS = f"""func.func @main(%x: {T}) -> {T} {{
  %e = tensor.empty() : {T}
  %r = scf.forall (%i) in (64) shared_outs(%o = %e) -> ({T}) {{
    %row = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : {T} to tensor<1024xf32>
    %out = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1] : {T} to tensor<1024xf32>
    %y = linalg.exp ins(%row : tensor<1024xf32>) outs(%out : tensor<1024xf32>) -> tensor<1024xf32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 1024] [1, 1] : tensor<1024xf32> into {T}
    }}
  }}
  return %r : {T}
}}"""

# The same with two tensors of a row that each iteration makes.
TAKING = ROWS.replace(
    "%y = linalg.exp ins(%row : tensor<1024xf32>)",
    "%new = tensor.empty() : tensor<1024xf32>\n"
    "%z = linalg.exp ins(%row : tensor<1024xf32>) outs(%new : tensor<1024xf32>) -> tensor<1024xf32>\n"
    "%at = tensor.extract %z[%i] : tensor<1024xf32>\n"
    "%new2 = tensor.empty() : tensor<1024xf32>\n"
    "%filled = linalg.fill ins(%at : f32) outs(%new2 : tensor<1024xf32>) -> tensor<1024xf32>\n"
    "%y = linalg.add ins(%z, %filled : tensor<1024xf32>, tensor<1024xf32>)",
)

# Elements, in steps, with a number and a limit from outside.
ELEMENTS = """func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %s: f32, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%first, %c0) to (%n, %m) step (%c2, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    %w = arith.mulf %v, %s : f32
    memref.store %w, %y[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}"""


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Any loop is worth two threads."""
    monkeypatch.setattr(shared_loops, "GRAIN", 1)
    before = hotdesk.get_num_threads()
    hotdesk.set_num_threads(2)
    yield
    hotdesk.set_num_threads(before)


def shared(program: hotdesk.Program) -> int:
    """How many loops of a program are shared out."""
    return program.ir("kernels").count("_part(")


def test_rows_of_a_matrix() -> None:
    program = hotdesk.compile(ROWS, options=hotdesk.Options(keep_ir=True))
    assert shared(program) == 1
    x = np.random.default_rng(0).standard_normal((64, 1024)).astype(np.float32)
    for threads in (1, 2, 3):
        hotdesk.set_num_threads(threads)
        np.testing.assert_allclose(program(x), np.exp(x), rtol=1e-6)
    hotdesk.set_num_threads(2)
    assert not program.check(x).faults
    assert program.memory(x).arena == 0
    assert [each.op for each in program.profile(x).kernels] == ["scf.forall"]


@pytest.mark.parametrize("shape", [(0, 5), (7, 0), (1, 1), (5, 3), (200, 1000), (3, 100_000)])
@pytest.mark.parametrize("first", [0, 1, 4])
def test_elements_in_steps(shape: tuple[int, int], first: int) -> None:
    program = hotdesk.compile(ELEMENTS, options=hotdesk.Options(keep_ir=True))
    assert shared(program) == 1
    x, y = np.random.default_rng(0).random(shape, np.float32), np.zeros(shape, np.float32)
    expected = y.copy()
    expected[first::2] = x[first::2] * np.float32(1.5)
    program(x, y, 1.5, first)
    np.testing.assert_array_equal(y, expected)


REFUSED = {
    "small": ROWS.replace("1024", "8"),
    "it reduces in order": """func.func @main(%x: memref<100000xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 100000 : index
      %z = arith.constant 0.0 : f32
      %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z) -> f32 {
        %v = memref.load %x[%i] : memref<100000xf32>
        scf.reduce(%v : f32) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.subf %a, %b : f32
          scf.reduce.return %s : f32
        }
      }
      return %r : f32
    }""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_shared(name: str) -> None:
    assert shared(hotdesk.compile(REFUSED[name], options=hotdesk.Options(keep_ir=True))) == 0


@pytest.mark.parametrize(
    ("element", "first", "second", "count"),
    [
        ("i32", "addi", "addi", 1),
        ("i32", "maxs", "maxs", 1),
        ("i32", "addi", "ori", 0),
        ("i32", "assign", "assign", 0),
        ("f32", "addf", "addf", 0),
        ("i32", "addi", "kept", 0),
    ],
)
def test_atomic_changes_of_which_the_order_counts_are_not_shared(
    element: str, first: str, second: str, count: int
) -> None:
    """Else results would change from one call to the next."""
    kept = second == "kept"
    text = f"""func.func @main(%x: memref<100000x{element}>, %s: memref<2x{element}>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 100000 : index
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
        %v = memref.load %x[%i] : memref<100000x{element}>
        %a = memref.atomic_rmw {first} %v, %s[%c0] : ({element}, memref<2x{element}>) -> {element}
        %b = memref.atomic_rmw {first if kept else second} %v, %s[%c1] : ({element}, memref<2x{element}>) -> {element}
        {f"memref.store %b, %x[%i] : memref<100000x{element}>" if kept else ""}
        scf.reduce
      }}
      return
    }}"""
    before = hotdesk.get_num_threads()
    hotdesk.set_num_threads(2)
    program = hotdesk.compile(text, options=hotdesk.Options(keep_ir=True))
    assert shared(program) == count
    x = np.random.default_rng(0).standard_normal(100_000)
    x = x.astype(np.float32) if element == "f32" else (100 * x).astype(np.int32)
    total = np.zeros((3, 2), x.dtype)
    for each in total:
        program(x.copy(), each)
    hotdesk.set_num_threads(before)
    assert (total == total[0]).all()
    if first == "addi":
        assert total[0, 0] == x.sum()
    told = [each.reason for each in program.decisions(x, total[0]) if each.subject == "parallel loop"]
    assert told == [Reason.LOOP_REDUCES] * (1 - count)


def _taken(x: np.ndarray) -> np.ndarray:
    made = np.exp(x)
    return made + made[np.arange(64), np.arange(64)][:, None]


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    ("threads", "memory", "rows"), [(1, None, 0), (2, "256 KiB", 2), (3, None, 3), (3, "4 KiB", 2), (2, 0, 0)]
)
def test_iterations_that_take_memory(threads: int, memory: str | None, rows: int, tmp_path: Path) -> None:
    hotdesk.set_num_threads(threads)
    program = hotdesk.compile(TAKING, options=hotdesk.Options(keep_ir=True, private_memory=memory))
    assert shared(program) == (rows > 0)
    x = np.random.default_rng(0).standard_normal((64, 1024)).astype(np.float32)
    one = hotdesk.compile(TAKING, options=hotdesk.Options(private_memory=0)).memory(x).arena
    assert program.memory(x).arena == program.memory(x).lower_bound == one * max(rows, 1)
    program.save(tmp_path / "program.hotdesk")
    loaded = hotdesk.load(tmp_path / "program.hotdesk")
    for number in (1, 2, 4):
        hotdesk.set_num_threads(number)
        np.testing.assert_allclose(program(x), _taken(x), rtol=1e-6)
        np.testing.assert_array_equal(loaded(x), program(x))
    assert loaded.memory(x).arena == program.memory(x).arena
    assert not program.check(x).faults
    reasons = [each.reason for each in program.decisions(x) if each.subject == "parallel loop"]
    told = {0: [Reason.FRAMES_RAISE_PEAK]} | ({} if rows == 0 else {rows: [Reason.FRAME_FOR_EACH_WORKER]})
    assert reasons == ([] if threads == 1 else told[rows])
    line = next(number for number, text in enumerate(TAKING.splitlines(), 1) if "scf.forall (" in text)
    assert all(f"[{reason}]" in program.explain(f"-:{line}", x) for reason in reasons)


@pytest.mark.parametrize(
    ("bounds", "sizes"),
    [
        ("(%i) in (%n)", (400, 1)),
        ("(%i) in (%n)", (0, 1)),
        ("(%i, %j) in (3, %n)", (3, 400)),
        ("(%i, %j) in (64, %n)", (64, 3)),
        ("(%i, %j) in (%n, %m)", (5, 7)),
    ],
)
def test_no_memory_is_taken_in_vain_where_trips_are_not_known(bounds: str, sizes: tuple[int, int]) -> None:
    """What there is to do is told when the loops run, as of those that allocate nothing."""
    two = "%j" in bounds
    text = f"""func.func @main(%x: memref<?x?x256xf32>, %n: index, %m: index) {{
      {"" if two else "%j = arith.constant 0 : index"}
      scf.forall {bounds} {{
        %row = memref.subview %x[%i, %j, 0] [1, 1, 256] [1, 1, 1]
          : memref<?x?x256xf32> to memref<256xf32, strided<[1], offset: ?>>
        %a = memref.alloc() : memref<256xf32>
        linalg.negf ins(%row : memref<256xf32, strided<[1], offset: ?>>) outs(%a : memref<256xf32>)
        linalg.negf ins(%a : memref<256xf32>) outs(%a : memref<256xf32>)
        linalg.add ins(%a, %row : memref<256xf32>, memref<256xf32, strided<[1], offset: ?>>)
          outs(%row : memref<256xf32, strided<[1], offset: ?>>)
        memref.dealloc %a : memref<256xf32>
      }}
      return
    }}"""
    before = hotdesk.get_num_threads()
    hotdesk.set_num_threads(2)
    program = hotdesk.compile(text, options=hotdesk.Options(keep_ir=True))
    x = np.random.default_rng(0).standard_normal((*sizes, 256)).astype(np.float32)
    expected, n, m = 2 * x, sizes[two and "(%n" not in bounds], sizes[1]
    program(x, n, m)
    hotdesk.set_num_threads(before)
    np.testing.assert_array_equal(x, expected)
    assert program.memory(x, n, m).arena == 2 * 1024
    assert shared(program) == 1


@pytest.mark.usefixtures("two_threads")
def test_within_a_budget_no_memory_is_added() -> None:
    program = hotdesk.compile(TAKING, options=hotdesk.Options(keep_ir=True, budget="1 MiB"))
    assert shared(program) == 0


@pytest.mark.parametrize("count", [0, 1, 5])
def test_work_in_a_loop_of_each_iteration_counts(count: int) -> None:
    """How many rounds there are is known in front of the loop, so the work is told when it runs."""
    text = """func.func @main(%x: memref<4x10000xi64>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c10000 = arith.constant 10000 : index
      scf.forall (%i) in (4) {
        %k = arith.muli %n, %c10000 : index
        scf.for %j = %c0 to %n step %c1 {
          scf.for %e = %c0 to %c10000 step %c1 {
            %v = memref.load %x[%i, %e] : memref<4x10000xi64>
            %w = arith.addi %v, %v : i64
            memref.store %w, %x[%i, %e] : memref<4x10000xi64>
          }
        }
      }
      return
    }"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        loop = next(op for op in nested_ops(module.operation) if op.name == "scf.forall")
        inner = next(op for op in nested_ops(loop) if op.name == "scf.for")
        found = shared_loops.find_shared_loops([loop])
        assert [each.within for each in found] == [
            (shared_loops.LoopBounds(0, inner.operands[1], 1), shared_loops.LoopBounds(0, 10_000, 1))
        ]
    x = np.arange(40_000).reshape(4, 10_000)
    expected = x << count
    hotdesk.compile(text)(x, count)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("size", ["1000001", "?"])
def test_work_in_a_chunk_of_a_loop_that_reduces_counts(size: str) -> None:
    """How long a chunk is at most is known in front of the chunks, the last one may be shorter."""
    text = f"""func.func @main(%x: memref<{size}xf32>, %z: f32) -> f32 {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c0 : memref<{size}xf32>
      %n2 = arith.constant 1000001 : index
      %r = scf.parallel (%i) = (%c0) to ({"%n" if size == "?" else "%n2"}) step (%c1) init(%z) -> f32 {{
        %v = memref.load %x[%i] : memref<{size}xf32>
        scf.reduce(%v : f32) {{
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          scf.reduce.return %s : f32
        }}
      }}
      return %r : f32
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PrivatizeBuffers().apply(module)
        ops = nested_ops(module.operation)
        (found,) = shared_loops.find_shared_loops(ops)
        ((lower, upper, step),) = [(each.lower, each.upper, each.step) for each in found.within]
        assert (lower, step) == (0, 1)
        if size == "?":
            assert isinstance(upper, ir.Value)
            assert upper.owner.name == "arith.maxsi"
        else:
            assert upper == 15626


@pytest.mark.usefixtures("two_threads")
def test_a_check_that_fails_in_one_thread_ends_the_call() -> None:
    text = ELEMENTS.replace(
        "%w = arith.mulf",
        "%z = arith.constant 0.0 : f32\n%ok = arith.cmpf oge, %v, %z : f32\n"
        'cf.assert %ok, "no value below zero"\n%w = arith.mulf',
    )
    program = hotdesk.compile(text)
    x, y = np.ones((64, 8), np.float32), np.zeros((64, 8), np.float32)
    program(x, y, 2.0, 0)
    np.testing.assert_array_equal(y[::2], 2)
    x[40, 3] = -1
    with pytest.raises(ExecutionError, match="expected no value below zero"):
        program(x, y, 2.0, 0)
    x[40, 3] = 1
    program(x, y, 3.0, 0)
    np.testing.assert_array_equal(y[::2], 3)


@pytest.mark.usefixtures("two_threads")
def test_a_product_in_each_iteration_and_a_loop_around() -> None:
    text = """func.func @main(%x: tensor<8x16x32xf32>, %w: tensor<32x32xf32>, %n: index) -> tensor<8x16x32xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant 0.0 : f32
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8x16x32xf32> {
        %e = tensor.empty() : tensor<8x16x32xf32>
        %b = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8x16x32xf32>) {
          %p = tensor.extract_slice %a[%i, 0, 0] [1, 16, 32] [1, 1, 1] : tensor<8x16x32xf32> to tensor<16x32xf32>
          %q = tensor.extract_slice %o[%i, 0, 0] [1, 16, 32] [1, 1, 1] : tensor<8x16x32xf32> to tensor<16x32xf32>
          %f = linalg.fill ins(%z : f32) outs(%q : tensor<16x32xf32>) -> tensor<16x32xf32>
          %m = linalg.matmul ins(%p, %w : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f : tensor<16x32xf32>) -> tensor<16x32xf32>
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %m into %o[%i, 0, 0] [1, 16, 32] [1, 1, 1] : tensor<16x32xf32> into tensor<8x16x32xf32>
          }
        }
        scf.yield %b : tensor<8x16x32xf32>
      }
      return %r : tensor<8x16x32xf32>
    }"""
    program = hotdesk.compile(text, options=hotdesk.Options(keep_ir=True))
    assert shared(program) == 1
    generator = np.random.default_rng(0)
    x, w = (generator.standard_normal(shape).astype(np.float32) / 6 for shape in ((8, 16, 32), (32, 32)))
    for count in (0, 1, 3):
        np.testing.assert_allclose(program(x, w, count), x @ np.linalg.matrix_power(w, count), rtol=1e-4, atol=1e-5)
    assert not program.check(x, w, 2).faults
