"""Parallel loops that reduce, shared among threads: the same numbers on any number of them, rounded in the order of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import hotdesk
from hotdesk.analysis.memrefs import shared_loops
from hotdesk.analysis.memrefs.reductions import chunk_length, least_length
from hotdesk.checker import FaultKind, Settings, check_module
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.building import index_constant
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import constant_of, nested_ops
from hotdesk.passes.buffers import reduction_chunks
from hotdesk.passes.buffers.privatize import PrivatizeBuffers


@pytest.fixture(autouse=True)
def any_loop_is_worth_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(shared_loops, "GRAIN", 1)
    before = hotdesk.get_num_threads()
    yield
    hotdesk.set_num_threads(before)


def summing(op: str, *, rank: int = 1, memory: bool = False, size: str = "?", kind: str = "f32") -> str:
    """Combines the elements of a vector, or of a matrix, beginning with `%z`; iterations take `memory` or not."""
    matrix = "x".join([size] * rank)
    bounds = ("(%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1)", "(%i) = (%c0) to (%n) step (%c1)")[rank == 1]
    at = "%i, %j" if rank == 2 else "%i"
    read = f"%v = memref.load %x[{at}] : memref<{matrix}x{kind}>"
    if memory:
        read = f"""%u = memref.load %x[{at}] : memref<{matrix}x{kind}>
        %own = memref.alloc() : memref<100x{kind}>
        linalg.fill ins(%u : {kind}) outs(%own : memref<100x{kind}>)
        %v = memref.load %own[%c1] : memref<100x{kind}>
        memref.dealloc %own : memref<100x{kind}>"""
    return f"""func.func @main(%x: memref<{matrix}x{kind}>, %z: {kind}) -> {kind} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c0 : memref<{matrix}x{kind}>
      %m = memref.dim %x, %{"c1" if rank == 2 else "c0"} : memref<{matrix}x{kind}>
      %r = scf.parallel {bounds} init(%z) -> {kind} {{
        {read}
        scf.reduce(%v : {kind}) {{
        ^bb0(%a: {kind}, %b: {kind}):
          %s = arith.{op} %a, %b : {kind}
          scf.reduce.return %s : {kind}
        }}
      }}
      return %r : {kind}
    }}"""


ON_TENSORS = """func.func @main(%x: tensor<1000xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %z = arith.constant 0.5 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z) -> f32 {
    %v = tensor.extract %x[%i] : tensor<1000xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}"""


def least(text: str) -> int:
    """How many iterations a chunk of the loop has at least, where its number of iterations is open."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (loop,) = [op for op in nested_ops(module.operation) if op.name == "scf.parallel"]
        return least_length(loop, 0)


def in_chunks(x: np.ndarray, initial: Any, combine: np.ufunc, neutral: float, shortest: int = 1) -> Any:
    """What a loop over the first dimension comes to, rounded after each step."""
    length, total = max(shortest, chunk_length(len(x))), initial
    for first in range(0, len(x), length):
        partial = x.dtype.type(neutral)
        for value in x[first : first + length].ravel():
            partial = combine(partial, value)
        total = combine(total, partial)
    return total


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("shape", [(0,), (1,), (64,), (1000,), (129, 7), (3, 50)])
def test_sums_are_rounded_in_one_order_on_any_threads(shape: tuple[int, ...], memory: bool) -> None:
    text = summing("addf", rank=len(shape), memory=memory)
    x = (np.random.default_rng(1).standard_normal(shape) * 1e3).astype(np.float32)
    z = np.float32(0.1)
    expected = in_chunks(x, z, np.add, -0.0, least(text))
    for compiled_for in (1, 2, 5):
        hotdesk.set_num_threads(compiled_for)
        program = hotdesk.compile(text, options=hotdesk.Options(keep_ir=True))
        is_shared = "_part(" in program.ir("kernels")
        assert is_shared == (compiled_for > 1 or not memory)
        for threads in (1, 2, 4):
            hotdesk.set_num_threads(threads)
            assert program(x, z) == expected
        assert program.memory(x, z).arena == program.memory(x, z).lower_bound
        assert not program.check(x, z).faults
        (told,) = [each for each in program.decisions(x, z) if each.subject == "parallel loop"]
        outcome = Outcome.IN_PARALLEL if is_shared else Outcome.IN_SEQUENCE
        assert (told.outcome, told.reason) == (outcome, Reason.PARTIAL_RESULTS)


def test_a_saved_program_gives_the_same_numbers(tmp_path: Path) -> None:
    text = ON_TENSORS.replace("-> f32", "-> tensor<1xf32>", 1)
    text = text.replace("return %r : f32", "%t = tensor.from_elements %r : tensor<1xf32>\nreturn %t : tensor<1xf32>")
    x = (np.random.default_rng(2).standard_normal(1000) * 1e3).astype(np.float32)
    hotdesk.set_num_threads(2)
    hotdesk.compile(text).save(tmp_path / "program.hotdesk")
    for threads in (1, 3):
        hotdesk.set_num_threads(threads)
        assert hotdesk.load(tmp_path / "program.hotdesk")(x)[0] == in_chunks(x, np.float32(0.5), np.add, -0.0)


def test_a_dimension_that_is_long_enough_is_cut() -> None:
    """The second one here: the first has three iterations, of which no more than three threads would have something to do."""
    program = hotdesk.compile(summing("addf", rank=2).replace("?x?", "3x500"))
    x = (np.random.default_rng(1).standard_normal((3, 500)) * 1e3).astype(np.float32)
    assert program(x, 0.5) == in_chunks(np.ascontiguousarray(x.T), np.float32(0.5), np.add, -0.0)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(
    ("op", "combine", "neutral"),
    [("mulf", np.multiply, 1.0), ("maximumf", np.maximum, -np.inf), ("minimumf", np.minimum, np.inf)],
)
def test_other_floats(op: str, combine: np.ufunc, neutral: float, kind: str) -> None:
    dtype = {"f32": np.float32, "f64": np.float64}[kind]
    x = (1 + np.random.default_rng(1).standard_normal(777) / 50).astype(dtype)
    text = summing(op, kind=kind)
    program = hotdesk.compile(text)
    initial = dtype(1.25)
    assert program(x, initial) == in_chunks(x, initial, combine, neutral, least(text))
    x[600] = np.nan
    assert np.isnan(program(x, initial))
    negative = np.full(100, -0.0, dtype)
    assert np.signbit(hotdesk.compile(summing("addf", kind=kind))(negative, dtype(-0.0)))


@pytest.mark.parametrize(
    ("op", "combine"),
    [
        ("addi", np.add),
        ("muli", np.multiply),
        ("andi", np.bitwise_and),
        ("ori", np.bitwise_or),
        ("xori", np.bitwise_xor),
        ("maxsi", np.maximum),
        ("minsi", np.minimum),
    ],
)
@pytest.mark.parametrize("size", [3, 100, 1000])
def test_integers_come_to_what_they_did(op: str, combine: np.ufunc, size: int) -> None:
    x = np.random.default_rng(size).integers(-(2**62), 2**62, size) | 1
    initial = np.int64(x[0])
    program = hotdesk.compile(summing(op, kind="i64"))
    assert program(x, initial) == combine.reduce(x, initial=initial)
    assert hotdesk.compile(summing(op, kind="i64", size=str(size)))(x, initial) == combine.reduce(x, initial=initial)


@pytest.mark.parametrize(("op", "combine"), [("maxnumf", np.fmax), ("minnumf", np.fmin)])
def test_extremes_of_what_are_numbers(op: str, combine: np.ufunc) -> None:
    x = np.random.default_rng(1).standard_normal(777).astype(np.float32)
    x[100:200] = np.nan  # all of some chunks
    program = hotdesk.compile(summing(op))
    assert program(x, np.float32(0.5)) == combine.reduce(x, initial=np.float32(0.5))
    assert np.isnan(program(np.full(777, np.nan, np.float32), np.float32(np.nan)))
    assert any(each.reason is Reason.PARTIAL_RESULTS for each in program.decisions(x, 0.5))


def test_a_chunk_is_no_shorter_than_is_worth_it() -> None:
    """Eight sums of two numbers are one chunk; of memory that takes a while to fill, each iteration may be one."""
    assert (least(summing("addf")), least(summing("addf", memory=True)), least(summing("addf", rank=2))) == (16, 1, 1)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(summing("addf"))
        PrivatizeBuffers().apply(module)
        (length,) = [op for op in nested_ops(module.operation) if op.name == "arith.ceildivsi"][-1].operands[1:]
        assert length.owner.name == "arith.maxsi"
        assert constant_of(length.owner.operands[1]) == 16


@pytest.mark.parametrize(
    ("op", "given", "kept"),
    [
        ("addi", "overflow<nsw>", ""),
        *((op, "fastmath<nnan,ninf>", "") for op in ("addf", "mulf", "maximumf", "minimumf", "maxnumf")),
        ("addf", "fastmath<ninf,contract>", " fastmath<contract>"),
        ("mulf", "fastmath<fast>", " fastmath<reassoc,nsz,arcp,contract,afn>"),
    ],
)
def test_promises_of_the_order_are_dropped(op: str, given: str, kept: str) -> None:
    """That no sum overflows, and none is infinite or no number, need not hold of partial results, nor of what they begin with."""
    kind = "i64" if op == "addi" else "f32"
    text = summing(op, kind=kind).replace("%a, %b :", f"%a, %b {given} :")
    assert given in text
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (decision,) = PrivatizeBuffers().apply(module)
        assert decision.reason is Reason.PARTIAL_RESULTS
        combined = [line for line in str(module).splitlines() if f"arith.{op}" in line and f": {kind}" in line]
        assert len(combined) == 2
        assert all(f"{kept} : {kind}" in line and "nan" not in line and "inf" not in line for line in combined)
        assert given not in str(module)


def checked(monkeypatch: pytest.MonkeyPatch, *, one_place: bool) -> set[FaultKind]:
    if one_place:
        right = reduction_chunks.create

        def stored_first(name: str, operands: Any, *rest: Any, before: ir.Operation, **options: Any) -> ir.Operation:
            if name == "memref.store":
                operands = [*operands[:2], index_constant(0, before)]
            return right(name, operands, *rest, before=before, **options)

        monkeypatch.setattr(reduction_chunks, "create", stored_first)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(summing("addf", size="100"))
        PrivatizeBuffers().apply(module)
        arguments = [np.ones(100, np.float32), np.float32(0)]
        return {fault.kind for fault in check_module(module, "main", arguments, settings=Settings()).faults}


def test_each_chunk_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch, one_place=False) == set()
    assert FaultKind.RACE in checked(monkeypatch, one_place=True)


@pytest.mark.parametrize("options", [hotdesk.Options(private_memory=0), hotdesk.Options(budget="1 MiB")])
def test_no_bytes_are_added_where_none_may_be(options: hotdesk.Options) -> None:
    """Then values are reduced one after the other."""
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    program = hotdesk.compile(ON_TENSORS, options=options)
    assert program.memory(x).arena == 0
    expected = np.float32(0.5)
    for value in x:
        expected += value
    assert program(x) == expected
    assert hotdesk.compile(ON_TENSORS)(x) == in_chunks(x, np.float32(0.5), np.add, -0.0)


def test_no_bytes_are_added_beside_others() -> None:
    """The arena takes 320 bytes for 272 in one place; at the loop there are 16, which take 128, and 256 more are too many."""
    text = summing("addf").replace(
        "%n = memref.dim",
        """%large = memref.alloc() : memref<68xf32>
      linalg.fill ins(%z : f32) outs(%large : memref<68xf32>)
      memref.dealloc %large : memref<68xf32>
      %one = memref.alloc() : memref<2xf32>
      %other = memref.alloc() : memref<2xf32>
      linalg.fill ins(%z : f32) outs(%one : memref<2xf32>)
      linalg.exp ins(%one : memref<2xf32>) outs(%one : memref<2xf32>)
      linalg.exp ins(%one : memref<2xf32>) outs(%other : memref<2xf32>)
      %n = memref.dim""",
    )
    text = text.replace(
        "scf.reduce(%v :",
        """%h = arith.andi %i, %c1 : index
        %p = memref.load %one[%h] : memref<2xf32>
        %q = memref.load %other[%h] : memref<2xf32>
        %pq = arith.addf %p, %q : f32
        %w = arith.mulf %v, %pq : f32
        scf.reduce(%w :""",
    )
    text = text.replace(
        "return %r :", "memref.dealloc %one : memref<2xf32>\nmemref.dealloc %other : memref<2xf32>\nreturn %r :"
    )
    x = np.ones(1000, np.float32)
    arenas = {}
    for allowed in (0, 63, 64):
        program = hotdesk.compile(text, options=hotdesk.Options(private_memory=allowed))
        program(x, 1.0)
        arenas[allowed] = program.memory(x, 1.0).arena
    assert arenas == {0: 320, 63: 320, 64: 384}


def test_no_bytes_are_added_where_there_seems_to_be_room() -> None:
    """Where the plan may not find it: then no loop is cut, however much other parts of the program need."""
    with make_context(), ir.Location.unknown():
        text = summing("addf").replace(
            "%n = memref.dim",
            "%l = memref.alloc() : memref<999xf32>\nlinalg.fill ins(%z : f32) outs(%l : memref<999xf32>)\n"
            "memref.dealloc %l : memref<999xf32>\n%n = memref.dim",
        )
        outcomes = [PrivatizeBuffers(2, growth).apply(ir.Module.parse(text))[0] for growth in (0, 1)]
    assert [(each.outcome, each.bytes) for each in outcomes] == [(Outcome.IN_SEQUENCE, 256), (Outcome.IN_PARALLEL, 0)]


@pytest.mark.parametrize("inner", [False, True])
def test_loops_in_shared_ones_stay_as_they_are(inner: bool) -> None:
    """Of two parallel loops the outer one is cut: what the inner one reduces to is in the order of its iterations."""
    small = "scf.for %k = %c0 to %n step %c1 {" if inner else "scf.parallel (%k) = (%c0) to (%n) step (%c1) {"
    text = f"""func.func @main(%x: memref<500x40xf32>, %y: memref<500xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 500 : index
      %m = arith.constant 40 : index
      %z = arith.constant 0.0 : f32
      {small}
        %r = scf.parallel (%j) = (%c0) to (%m) step (%c1) init(%z) -> f32 {{
          %v = memref.load %x[%k, %j] : memref<500x40xf32>
          scf.reduce(%v : f32) {{
          ^bb0(%a: f32, %b: f32):
            %s = arith.addf %a, %b : f32
            scf.reduce.return %s : f32
          }}
        }}
        memref.store %r, %y[%k] : memref<500xf32>
        {"" if inner else "scf.reduce"}
      }}
      return
    }}"""
    x = np.random.default_rng(0).standard_normal((500, 40)).astype(np.float32)
    y = np.zeros(500, np.float32)
    program = hotdesk.compile(text)
    program(x, y)
    expected = np.zeros(500, np.float32)
    for row in range(500):
        if inner:
            expected[row] = in_chunks(x[row], np.float32(0), np.add, -0.0)
        else:
            for value in x[row]:
                expected[row] += value
    np.testing.assert_array_equal(y, expected)
    assert program.memory(x, y).arena == (192 if inner else 0)
