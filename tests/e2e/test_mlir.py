"""Programs in MLIR: compiled from files, text, bytecode and modules, called with arrays and numbers."""

# PyTorch and NumPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk._bindings import ir
from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    CallError,
    DonatedOverlapError,
    DtypeError,
    ExecutionError,
    HotdeskError,
    InvalidIRError,
    LayoutError,
    NotSavableError,
    OptionError,
    RankError,
    ShapeError,
    UnsupportedOpError,
)

SCALED = """func.func @scaled(%x: tensor<?x3xf32>, %alpha: f32) -> tensor<?x3xf32> {
  %0 = linalg.exp ins(%x : tensor<?x3xf32>) outs(%x : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.fill ins(%alpha : f32) outs(%x : tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = linalg.mul ins(%0, %1 : tensor<?x3xf32>, tensor<?x3xf32>) outs(%x : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}
"""
ON_MEMREFS = """func.func @step(%x: memref<?xf32>, %y: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%t : memref<?xf32>)
  linalg.add ins(%x, %t : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>)
  memref.dealloc %t : memref<?xf32>
  %r = memref.alloc(%n) : memref<?xf32>
  linalg.sub ins(%y, %x : memref<?xf32>, memref<?xf32>) outs(%r : memref<?xf32>)
  return %r, %y : memref<?xf32>, memref<?xf32>
}
"""


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes, dtype=np.float32)


def bytecode_of(module: ir.Module) -> bytes:
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


# Where a program comes from


def given_in(form: str, folder: Path) -> Any:
    file = folder / "scaled.mlir"
    file.write_text(SCALED)
    with ir.Context():
        module = ir.Module.parse(SCALED)
    match form:
        case "text":
            return SCALED
        case "path":
            return file
        case "name":
            return str(file)
        case "module":
            return module
        case "bytecode":
            return bytecode_of(module)
        case _:
            (folder / "scaled.mlirbc").write_bytes(bytecode_of(module))
            return str(folder / "scaled.mlirbc")


@pytest.mark.parametrize("form", ["text", "path", "name", "module", "bytecode", "bytecode file"])
def test_every_form_of_a_program(form: str, tmp_path: Path) -> None:
    program = hotdesk.compile(given_in(form, tmp_path))
    x = floats(5, 3)
    np.testing.assert_allclose(program(x, 0.5), np.exp(x) * np.float32(0.5), rtol=1e-6)


def test_a_module_stays_as_it_is() -> None:
    with ir.Context():
        module = ir.Module.parse(SCALED)
    before = str(module)
    hotdesk.compile(module)
    assert str(module) == before


def test_torch_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "scaled.mlir").write_text(SCALED)
    code = (
        "import sys, numpy, hotdesk; program = hotdesk.compile(sys.argv[1]); x = numpy.ones((2, 3), numpy.float32)\n"
        "program(x, 2.0); program.report(x, 2.0); program.profile(x, 2.0); program.check(x, 2.0)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "scaled.mlir")], check=True)


def test_the_lines_of_the_file_are_in_reports(tmp_path: Path) -> None:
    file = tmp_path / "step.mlir"
    file.write_text(ON_MEMREFS)
    x = floats(1000)
    program = hotdesk.compile(file)
    assert "/step.mlir:5:3" in program.report(x, np.empty_like(x))
    kernels = program.profile(x, np.empty_like(x)).kernels
    assert f"{file}:5:3" in {line for kernel in kernels for line in kernel.locations}


# Entries

TWO = """func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @prepare(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("entry", "factor"), [("double", 2), ("prepare", 4), ("@prepare", 4)])
def test_a_function_by_name_calls_others(entry: str, factor: int) -> None:
    x = floats(4)
    np.testing.assert_array_equal(hotdesk.compile(TWO, entry=entry)(x), factor * x)


def test_the_entry_without_a_name() -> None:
    x = floats(4)
    np.testing.assert_array_equal(hotdesk.compile(TWO.replace("@prepare", "@main"))(x), 4 * x)
    np.testing.assert_array_equal(hotdesk.compile(TWO.replace("@double(%x: ", "private @double(%x: ").replace(
        "func.func private", "func.func private"))(x), 4 * x)  # fmt: skip
    with pytest.raises(OptionError, match=r"expected one of @double, @prepare, got no choice.*entry="):
        hotdesk.compile(TWO)
    with pytest.raises(OptionError, match="expected one of @double, @prepare, got 'triple'"):
        hotdesk.compile(TWO, entry="triple")


# Numbers, constants, no arguments, no results


def test_numbers_come_and_go_as_numbers() -> None:
    program = hotdesk.compile("""
func.func @f(%n: index, %k: i32, %a: f32, %c: i1) -> (tensor<?xf32>, index, f32, i32, i1) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %b = arith.mulf %a, %a : f32
  %f = linalg.fill ins(%b : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = arith.addi %k, %k : i32
  %c2 = arith.constant 2 : index
  %n2 = arith.muli %n, %c2 : index
  %true = arith.constant true
  %d = arith.xori %c, %true : i1
  return %f, %n2, %b, %m, %d : tensor<?xf32>, index, f32, i32, i1
}""")
    assert str(program) == "<Program f(%n: index, %k: i32, %a: f32, %c: i1) -> (f32[%n], index, f32, i32, i1)>"
    filled, *numbers = program(5, -7, 1.5, True)
    np.testing.assert_array_equal(filled, np.full(5, 2.25, np.float32))
    assert numbers == [10, 2.25, -14, False]
    assert [type(number) for number in numbers] == [int, float, int, bool]
    assert program(np.int64(0), np.int32(3), torch.tensor(2.0), c=0)[1:] == (0, 4.0, 6, True)
    with pytest.raises(ArgumentTypeError, match="argument '%k': expected an integer for i32, got float 1.0"):
        program(1, 1.0, 1.0, True)
    with pytest.raises(ArgumentTypeError, match="argument '%k': expected an i32 from"):
        program(1, 2**32, 1.0, True)
    with pytest.raises(ArgumentTypeError, match="argument '%a': expected a number for f32, got str"):
        program(1, 1, "1", True)
    with pytest.raises(ArgumentTypeError, match="argument '%c': expected True or False for i1, got int 2"):
        program(1, 1, 1.0, 2)
    with pytest.raises(ShapeError, match="argument '%n': expected an index from 0 to"):
        program(-1, 1, 1.0, True)


def test_no_arguments_and_no_results() -> None:
    constant = hotdesk.compile("func.func @c() -> tensor<3xi32> {\n  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
                               "  return %0 : tensor<3xi32>\n}")  # fmt: skip
    np.testing.assert_array_equal(constant(), np.array([1, 2, 3], np.int32))
    assert hotdesk.compile("func.func @nothing() {\n  return\n}")() is None


def test_constant_globals() -> None:
    program = hotdesk.compile("""memref.global "private" constant @c : memref<2xf32> = dense<[1.0, 2.0]>
func.func @f(%y: memref<2xf32>) {
  %c = memref.get_global @c : memref<2xf32>
  linalg.add ins(%c, %c : memref<2xf32>, memref<2xf32>) outs(%y : memref<2xf32>)
  return
}""")
    y = np.zeros(2, np.float32)
    assert program(y) is None
    np.testing.assert_array_equal(y, np.array([2, 4], np.float32))


# Memrefs


def test_memrefs_are_the_callers_arrays() -> None:
    program = hotdesk.compile(ON_MEMREFS)
    x, y = floats(7), np.zeros(7, np.float32)
    result, same = program(x, y)
    assert same is y
    np.testing.assert_allclose(y, x + np.exp(x), rtol=1e-6)
    np.testing.assert_allclose(result, y - x, rtol=1e-6)
    assert program.check(x, y).clean
    assert program.memory(x, y).arena == 0  # %t lies in the result, which is written later
    tensor = torch.zeros(7)
    assert program(torch.from_numpy(x), tensor)[1] is tensor
    np.testing.assert_array_equal(tensor.numpy(), y)


def test_what_is_written_lies_as_the_program_needs_it() -> None:
    program = hotdesk.compile(ON_MEMREFS)
    x = floats(4)
    with pytest.raises(
        LayoutError, match="written argument '%y': expected contiguous memory that may be written, got strides"
    ):
        program(x, np.zeros(8, np.float32)[::2])
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(LayoutError, match="got read-only memory"):
        program(x, frozen)
    with pytest.raises(
        DonatedOverlapError, match="written argument '%y': expected memory of its own, got 16 bytes shared"
    ):
        program(x, x)
    y = np.zeros(4, np.float32)
    program(np.repeat(x, 2)[::2], y)  # what is only read may lie anyhow
    np.testing.assert_allclose(y, x + np.exp(x), rtol=1e-6)


BOTH = """func.func @f(%x: tensor<4xf32>, %y: memref<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %y restrict : memref<4xf32> to tensor<4xf32>
  %0 = linalg.add ins(%x, %t : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %0 in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return %0 : tensor<4xf32>
}"""


def test_tensors_and_memrefs_in_one_program() -> None:
    program = hotdesk.compile(BOTH)
    x, y = floats(4), np.ones(4, np.float32)
    assert program.check(x, y).clean
    np.testing.assert_array_equal(program(x, y), x + 1)
    np.testing.assert_array_equal(y, x + 1)
    with pytest.raises(LayoutError, match="written argument '%y'"):
        program(x, np.ones(8, np.float32)[::2])
    with pytest.raises(DonatedOverlapError, match="written argument '%y'"):
        program(y, y)


def test_memory_is_a_result_besides_tensors() -> None:
    """Of an argument, of memory that is new, and of a part of it, all of them new arrays."""
    program = hotdesk.compile("""
    func.func @f(%x: tensor<4xf32>, %y: memref<4xf32>)
        -> (memref<4xf32>, tensor<4xf32>, memref<?xf32>, memref<2xf32, strided<[2], offset: 1>>) {
      %a = memref.alloc() : memref<4xf32>
      %e = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      bufferization.materialize_in_destination %e in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
      linalg.add ins(%a, %y : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
      %c = memref.cast %a : memref<4xf32> to memref<?xf32>
      %v = memref.subview %a[1] [2] [2] : memref<4xf32> to memref<2xf32, strided<[2], offset: 1>>
      return %y, %e, %c, %v : memref<4xf32>, tensor<4xf32>, memref<?xf32>, memref<2xf32, strided<[2], offset: 1>>
    }""")
    x, y = floats(4), floats(4) + 1
    exp, total = np.exp(x), np.exp(x) + y
    assert program.check(x, y.copy()).clean
    found = program(x, y)
    for each, expected in zip((*found, y), (total, exp, exp, exp[1::2], total), strict=True):
        np.testing.assert_allclose(each, expected, rtol=1e-6)
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations((*found, y), 2))


@pytest.mark.parametrize("called", [False, True])
def test_memory_asked_for_of_a_tensor_holds_what_the_tensor_held(called: bool) -> None:
    held = "call @held(%m) : (memref<4xf32>) -> tensor<4xf32>"
    program = hotdesk.compile(f"""
    func.func private @held(%m: memref<4xf32>) -> tensor<4xf32> {{
      %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
      return %t : tensor<4xf32>
    }}
    func.func @f(%m: memref<4xf32>, %v: f32) -> f32 {{
      %c0 = arith.constant 0 : index
      %t = {held if called else "bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>"}
      memref.store %v, %m[%c0] : memref<4xf32>
      %b = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>
      %r = memref.load %b[%c0] : memref<4xf32>
      return %r : f32
    }}""")
    memory = floats(4)
    assert program(memory, 3.0) == floats(4)[0]
    assert memory.tolist() == [3.0, *floats(4)[1:].tolist()]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("", "strided<[?, 2], offset: 3>"),
        ("strided<[?, 1]>", "strided<[?, 1], offset: 2>"),
        ("strided<[?, 2]>", "strided<[8, ?]>"),
    ],
)
def test_layouts_that_are_open_in_part(given: str, asked: str) -> None:
    kind = f"memref<3x4xf32, {given}>" if given else "memref<3x4xf32>"
    program = hotdesk.compile(f"""
    func.func @f(%m: {kind}) -> memref<3x4xf32, {asked}> {{
      %t = bufferization.to_tensor %m restrict : {kind} to tensor<3x4xf32>
      %b = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32, {asked}>
      return %b : memref<3x4xf32, {asked}>
    }}""")
    whole = floats(3, 12)
    x = whole[:, :8:2] if given.endswith("2]>") else whole[:, :4] if given else floats(3, 4)
    assert program(x).tolist() == x.tolist()


def test_ir_that_passes_have_made_is_read_like_other_ir() -> None:
    program = hotdesk.compile("""func.func @main(%x: memref<4xf32> {hotdesk.kind = "weight"},
                     %y: memref<4xf32> {bufferize.result = 0 : i64}) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}""")  # fmt: skip
    x, y = floats(4), np.ones(4, np.float32)
    assert program(x, y) is None
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_order_and_budget_are_for_tensors() -> None:
    for option in ({"order": "peak"}, {"budget": "1 MiB"}):
        with pytest.raises(OptionError, match=r"expected a program on tensors, got one on memrefs"):
            hotdesk.compile(ON_MEMREFS, **option)  # pyright: ignore[reportArgumentType]
    x = floats(5, 3)
    program = hotdesk.compile(SCALED, order="peak")
    np.testing.assert_allclose(program(x, 0.5), np.exp(x) * np.float32(0.5), rtol=1e-6)


# Globals that the program writes

KEPT = """
memref.global "private" @calls : memref<i64> = dense<5>
memref.global "private" @sum : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @add(%x: memref<4xf32>) {
  %s = memref.get_global @sum : memref<4xf32>
  linalg.add ins(%s, %x : memref<4xf32>, memref<4xf32>) outs(%s : memref<4xf32>)
  return
}
func.func @f(%x: memref<4xf32>) -> (i64, memref<4xf32>) {
  %one = arith.constant 1 : i64
  %g = memref.get_global @calls : memref<i64>
  %n = memref.load %g[] : memref<i64>
  %m = arith.addi %n, %one : i64
  memref.store %m, %g[] : memref<i64>
  call @add(%x) : (memref<4xf32>) -> ()
  %s = memref.get_global @sum : memref<4xf32>
  return %n, %s : i64, memref<4xf32>
}"""


def test_a_program_keeps_its_globals() -> None:
    first, second = hotdesk.compile(KEPT), hotdesk.compile(KEPT)
    x, initial = floats(4), np.arange(1, 5, dtype=np.float32)
    expected = initial
    for call in range(3):
        expected = expected + x
        calls, total = first(x)
        assert calls == 5 + call
        np.testing.assert_array_equal(total, expected)
        total[:] = 0  # the caller's array
    assert second(x)[0] == 5
    assert first.check(x).clean
    assert first(x)[0] == 8
    assert first.memory(x).state == 24
    with pytest.raises(HotdeskError, match="%x"):
        first(floats(5))
    assert first(x)[0] == 9
    with pytest.raises(NotSavableError, match="tensors that calls change"):
        first.export_c("nowhere")


def test_threads_take_turns_to_write_globals() -> None:
    program, x = hotdesk.compile(KEPT), np.ones(4, np.float32)
    threads = [Thread(target=lambda: [program(x) for _ in range(50)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    calls, total = program(x)
    assert (calls, total.tolist()) == (205, [202.0, 203.0, 204.0, 205.0])


def test_globals_in_control_flow() -> None:
    program = hotdesk.compile("""
    memref.global @sum : memref<4xf32> = uninitialized
    memref.global @flag : memref<1xi1> = dense<true>
    memref.global @table : memref<2x4xf32> = dense<1.0>
    func.func private @add(%x: memref<4xf32>) {
      %s = memref.get_global @sum : memref<4xf32>
      linalg.add ins(%s, %x : memref<4xf32>, memref<4xf32>) outs(%s : memref<4xf32>)
      return
    }
    func.func @f(%x: memref<4xf32>, %n: index, %c: i1)
        -> (memref<4xf32>, i1, memref<4xf32, strided<[1], offset: 4>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %true = arith.constant true
      scf.for %i = %c0 to %n step %c1 {
        func.call @add(%x) : (memref<4xf32>) -> ()
      }
      %s = memref.get_global @sum : memref<4xf32>
      %r = scf.if %c -> memref<4xf32> {
        scf.yield %s : memref<4xf32>
      } else {
        scf.yield %x : memref<4xf32>
      }
      %flag = memref.get_global @flag : memref<1xi1>
      %was = memref.load %flag[%c0] : memref<1xi1>
      %not = arith.xori %was, %true : i1
      memref.store %not, %flag[%c0] : memref<1xi1>
      %table = memref.get_global @table : memref<2x4xf32>
      %row = memref.subview %table[1, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: 4>>
      linalg.add ins(%row, %x : memref<4xf32, strided<[1], offset: 4>>, memref<4xf32>)
        outs(%row : memref<4xf32, strided<[1], offset: 4>>)
      return %r, %was, %row : memref<4xf32>, i1, memref<4xf32, strided<[1], offset: 4>>
    }""")
    x = np.ones(4, np.float32)
    found = [program(x, n, c) for n, c in ((3, True), (2, False), (0, True))]
    for chosen, _, row in found[:1]:
        chosen[:], row[:] = 9, 9  # the caller's arrays
    assert [each[0][0] for each in found[1:]] == [1, 5]
    assert [each[1] for each in found] == [True, False, True]
    assert [each[2][0] for each in found[1:]] == [3, 4]
    assert program(x, 0, True)[0].tolist() == [5.0] * 4
    assert program.check(x, 2, True).clean
    assert x.tolist() == [1.0] * 4


def test_tensors_are_stored_in_globals() -> None:
    program = hotdesk.compile("""
    ml_program.global private mutable @sum(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
    ml_program.global private mutable @a(dense<2.0> : tensor<4xf32>) : tensor<4xf32>
    ml_program.global private mutable @b(dense<3.0> : tensor<4xf32>) : tensor<4xf32>
    ml_program.global private mutable @read(dense<7.0> : tensor<2xf32>) : tensor<2xf32>
    func.func @f(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %five = arith.constant 5.0 : f32
      %old = ml_program.global_load @sum : tensor<4xf32>
      %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
        %v = ml_program.global_load @sum : tensor<4xf32>
        %w = linalg.add ins(%s, %v : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
        scf.yield %w : tensor<4xf32>
      }
      ml_program.global_store @sum = %l : tensor<4xf32>
      %new = ml_program.global_load @sum : tensor<4xf32>
      %a = ml_program.global_load @a : tensor<4xf32>
      %b = ml_program.global_load @b : tensor<4xf32>
      ml_program.global_store @a = %b : tensor<4xf32>
      ml_program.global_store @b = %a : tensor<4xf32>
      %r = ml_program.global_load @read : tensor<2xf32>
      %u = tensor.insert %five into %r[%c0] : tensor<2xf32>
      %q = tensor.extract %r[%c0] : tensor<2xf32>
      return %old, %new, %a, %u, %q : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, f32
    }""")
    x = np.zeros(4, np.float32)
    for call in range(3):
        old, new, a, inserted, read = program(x, 2)
        assert (old.tolist(), new.tolist()) == ([2.0**call] * 4, [2.0 ** (call + 1)] * 4)
        assert (a.tolist(), inserted.tolist(), read) == ([2.0 + call % 2] * 4, [5.0, 7.0], 7.0)
        old[:], new[:], a[:] = 0, 0, 0  # the caller's arrays
    assert program.check(x, 2).clean
    assert program(x, 0)[0].tolist() == [8.0] * 4
    assert program(x, 1)[0].tolist() == [0.0] * 4


def test_tensors_are_stored_in_loops_and_branches() -> None:
    """And a global that is a memref, in one program with tensors: loaded between stores, added to by what is called."""
    program = hotdesk.compile(
        """
    ml_program.global private mutable @sum(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
    memref.global "private" @calls : memref<i64> = dense<0>
    func.func private @count() {
      %one = arith.constant 1 : i64
      %g = memref.get_global @calls : memref<i64>
      %n = memref.load %g[] : memref<i64>
      %m = arith.addi %n, %one : i64
      memref.store %m, %g[] : memref<i64>
      return
    }
    func.func @f(%x: tensor<4xf32>, %n: index, %c: i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<i64>, i64) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %g = memref.get_global @calls : memref<i64>
      %was = bufferization.to_tensor %g restrict : memref<i64> to tensor<i64>
      %old = ml_program.global_load @sum : tensor<4xf32>
      scf.for %i = %c0 to %n step %c1 {
        %s = ml_program.global_load @sum : tensor<4xf32>
        %t = linalg.add ins(%s, %x : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
        ml_program.global_store @sum = %t : tensor<4xf32>
        func.call @count() : () -> ()
      }
      scf.if %c {
        ml_program.global_store @sum = %x : tensor<4xf32>
      }
      %new = ml_program.global_load @sum : tensor<4xf32>
      %d = linalg.sub ins(%new, %old : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      %calls = memref.load %g[] : memref<i64>
      return %old, %d, %was, %calls : tensor<4xf32>, tensor<4xf32>, tensor<i64>, i64
    }""",
        entry="f",
    )
    x = np.arange(1, 5, dtype=np.float32)
    held, calls = np.ones(4, np.float32), 0
    for n, c in ((3, False), (0, False), (2, True), (1, False)):
        old, difference, was, count = program(x, n, c)
        expected = x if c else held + n * x
        np.testing.assert_array_equal(old, held)
        np.testing.assert_array_equal(difference, expected - held)
        assert (int(was), count) == (calls, calls + n)
        held, calls = expected, count
        old[:], was[...] = 0, 0  # the caller's arrays
    assert program.check(x, 2, False).clean
    assert program(x, 0, False)[3] == calls
    with pytest.raises(HotdeskError, match="%x"):
        program(x[:3], 1, True)
    assert program(x, 0, False)[0].tolist() == held.tolist()


def test_global_tensors_that_are_not_kept() -> None:
    with pytest.raises(UnsupportedOpError, match="global @s: expected a tensor.*got state"):
        hotdesk.compile("""
        ml_program.global private mutable @s(1 : i64) : i64
        func.func @f() -> i64 {
          %v = ml_program.global_load @s : i64
          ml_program.global_store @s = %v : i64
          return %v : i64
        }""")


# Sizes and donation

NAMED = """func.func @f(%x: tensor<?x?xf32> {hotdesk.shape = ["n", "m"]}, %y: tensor<?xf32> {hotdesk.shape = ["2*n"]},
             %z: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) attributes {hotdesk.bounds = {n = [1, 8]}} {
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %z : tensor<?x?xf32>, tensor<?xf32>
}"""


def test_names_of_sizes() -> None:
    program = hotdesk.compile(NAMED)
    assert [str(spec) for spec in program.inputs] == ["f32[n, m]", "f32[2*n]", "f32[dim 0 of %z]"]
    assert "(dim 0 of %z = 5, m = 3, n = 2)" in program.report(floats(2, 3), floats(4), floats(5))
    with pytest.raises(
        ShapeError, match=r"argument '%y', dimension 0: expected 2\*n = 4 as in argument '%x', dimension 0"
    ):
        program(floats(2, 3), floats(5), floats(1))
    with pytest.raises(ShapeError, match="expected 1 <= n <= 8, got n = 9"):
        program(floats(9, 3), floats(18), floats(1))
    worst = program.memory({"m": (0, 10), "dim 0 of %z": (0, 4)})
    assert worst.memory.peak == 4 * (8 * 10 + 4)


def test_sizes_of_results_in_brackets_where_they_are_part_of_something() -> None:
    program = hotdesk.compile("""
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = tensor.collapse_shape %r [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  return %a : tensor<?xf32>
}""")
    inputs = "%x: f32[dim 0 of %x, 4], %y: f32[dim 0 of %y, 4]"
    assert str(program) == f"<Program main({inputs}) -> (f32[4*(dim 0 of %x) + 4*(dim 0 of %y)])>"


def test_a_size_that_is_a_remainder_of_what_may_be_negative() -> None:
    program = hotdesk.compile("""
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %z = arith.subi %d, %c3 : index
  %q = arith.remsi %z, %c2 : index
  %k = arith.addi %q, %c2 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%k) : tensor<?xf32>
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}""")
    for size in range(6):
        np.testing.assert_array_equal(program(np.ones(size, np.float32)), np.ones(2 + int(np.fmod(size - 3, 2))))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("divui", "---002"), ("remui", "120012"), ("maxui", "---333"), ("minui", "333012")],
)
def test_a_size_without_a_sign_of_what_may_be_negative(name: str, sizes: str) -> None:
    """The size minus 3, with its sign a negative number, is a large one without: `-` where no memory is large enough."""
    program = hotdesk.compile(f"""
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %z = arith.subi %d, %c3 : index
  %q = arith.{name} %z, %c3 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%q) : tensor<?xf32>
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}}""")
    for size, expected in zip((0, 1, 2, 3, 4, 9 if name == "divui" else 5), sizes, strict=True):
        if expected == "-":
            with pytest.raises(
                ExecutionError, match="expected (no size below 0|a size that the machine has memory for)"
            ):
                program(np.ones(size, np.float32))
        else:
            np.testing.assert_array_equal(program(np.ones(size, np.float32)), np.ones(int(expected), np.float32))


def test_a_choice_without_a_sign_by_what_may_be_negative() -> None:
    """5 where the size minus 3, without its sign, is less than 2."""
    program = hotdesk.compile("""
func.func @main(%x: tensor<?xf32>) -> tensor<i64> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %five = arith.constant 5 : index
  %seven = arith.constant 7 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %z = arith.subi %d, %c3 : index
  %is = arith.cmpi ult, %z, %c2 : index
  %k = arith.select %is, %five, %seven : index
  %one = arith.constant 1 : i64
  %e = tensor.empty(%k) : tensor<?xi64>
  %a = linalg.fill ins(%one : i64) outs(%e : tensor<?xi64>) -> tensor<?xi64>
  %i = tensor.empty() : tensor<i64>
  %zero = arith.constant 0 : i64
  %f = linalg.fill ins(%zero : i64) outs(%i : tensor<i64>) -> tensor<i64>
  %s = linalg.reduce { arith.addi } ins(%a : tensor<?xi64>) outs(%f : tensor<i64>) dimensions = [0]
  return %s : tensor<i64>
}""")
    for size in range(7):
        assert int(program(np.ones(size, np.float32))) == (5 if size in (3, 4) else 7), size


def test_donated_arguments() -> None:
    x = floats(100)
    text = """func.func @f(%x: tensor<100xf32>ATTRIBUTE) -> tensor<100xf32> {
  %0 = linalg.exp ins(%x : tensor<100xf32>) outs(%x : tensor<100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}"""
    expected = np.exp(x)
    for program in (
        hotdesk.compile(text.replace("ATTRIBUTE", " {hotdesk.donated}")),
        hotdesk.compile(text.replace("ATTRIBUTE", ""), donate="x"),
        hotdesk.compile(text.replace("ATTRIBUTE", ""), donate="%x"),
    ):
        given = np.empty(112, np.float32)
        given = given[-(given.ctypes.data // 4) % 4 :][:100]
        given[:] = x
        result = program(given)
        assert np.shares_memory(result, given)
        np.testing.assert_allclose(result, expected, rtol=1e-6)


# Arguments without a rank


def test_arguments_without_a_rank_have_that_of_their_casts() -> None:
    text = """
    func.func private @first(%x: tensor<*xf32>) -> f32 {
      %c0 = arith.constant 0 : index
      %t = tensor.cast %x : tensor<*xf32> to tensor<?x4xf32>
      %e = tensor.extract %t[%c0, %c0] : tensor<?x4xf32>
      return %e : f32
    }
    func.func @f(%x: tensor<*xf32>) -> (f32, index, tensor<3x?xf32>) {
      %c0 = arith.constant 0 : index
      %e = call @first(%x) : (tensor<*xf32>) -> f32
      %n = tensor.dim %x, %c0 : tensor<*xf32>
      %t = tensor.cast %x : tensor<*xf32> to tensor<3x?xf32>
      return %e, %n, %t : f32, index, tensor<3x?xf32>
    }"""
    program = hotdesk.compile(text)
    x = floats(3, 4)
    first, size, result = program(x)
    assert (first, size, result.tolist()) == (x[0, 0], 3, x.tolist())
    with pytest.raises(HotdeskError, match="%x"):
        program(floats(4))


def test_memory_without_a_rank_is_written() -> None:
    program = hotdesk.compile("""
    func.func private @g(%x: memref<*xf32>) {
      %v = arith.constant 2.0 : f32
      %t = memref.cast %x : memref<*xf32> to memref<?xf32>
      linalg.fill ins(%v : f32) outs(%t : memref<?xf32>)
      return
    }
    func.func @f(%x: memref<*xf32>, %y: memref<4xf32>) {
      %u = memref.cast %y : memref<4xf32> to memref<*xf32>
      call @g(%x) : (memref<*xf32>) -> ()
      call @g(%u) : (memref<*xf32>) -> ()
      return
    }""")
    x, y = floats(3), floats(4)
    program(x, y)
    assert (x.tolist(), y.tolist()) == ([2.0] * 3, [2.0] * 4)


def test_results_without_a_rank_have_that_of_what_they_were() -> None:
    """A size on which the returns differ varies; what is called gives a rank to what is made of its result."""
    program = hotdesk.compile("""
    func.func private @g(%x: tensor<4xf32>, %c: i1) -> tensor<*xf32> {
      cf.cond_br %c, ^a, ^b
    ^a:
      %p = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
      return %p : tensor<*xf32>
    ^b:
      %s = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      %q = tensor.cast %s : tensor<4xf32> to tensor<*xf32>
      return %q : tensor<*xf32>
    }
    func.func @f(%x: tensor<4xf32>, %c: i1) -> (tensor<*xf32>, tensor<4xf32>) {
      %r = call @g(%x, %c) : (tensor<4xf32>, i1) -> tensor<*xf32>
      %t = tensor.cast %r : tensor<*xf32> to tensor<4xf32>
      %u = linalg.add ins(%t, %t : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
      return %r, %u : tensor<*xf32>, tensor<4xf32>
    }""")
    x = floats(4)
    for c in (True, False):
        first, second = program(x, c)
        np.testing.assert_allclose(first, x if c else np.exp(x), rtol=1e-6)
        np.testing.assert_allclose(second, first + first, rtol=1e-6)


def test_memory_without_a_rank_is_a_result() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: memref<?xf32>, %y: memref<*xf32>) -> (memref<*xf32>, memref<*xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %a = memref.alloc(%n) : memref<?xf32>
      %v = memref.cast %y : memref<*xf32> to memref<?xf32>
      linalg.add ins(%x, %v : memref<?xf32>, memref<?xf32>) outs(%a : memref<?xf32>)
      linalg.exp ins(%x : memref<?xf32>) outs(%v : memref<?xf32>)
      %r = memref.cast %a : memref<?xf32> to memref<*xf32>
      %s = memref.cast %v : memref<?xf32> to memref<*xf32>
      return %r, %s : memref<*xf32>, memref<*xf32>
    }""")
    x, y = floats(5), floats(5)
    expected = x + y
    made, same = program(x, y)
    assert same is y
    np.testing.assert_allclose(made, expected)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_an_argument_that_every_return_gives_back() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: memref<4xf32>, %c: i1, %n: index) -> (memref<?xf32>, index) {
      cf.cond_br %c, ^one, ^two
    ^one:
      %a = memref.cast %x : memref<4xf32> to memref<?xf32>
      return %a, %n : memref<?xf32>, index
    ^two:
      linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
      %b = memref.cast %x : memref<4xf32> to memref<?xf32>
      return %b, %n : memref<?xf32>, index
    }""")
    x = floats(4)
    expected = np.exp(x)
    for c in (True, False):
        found, n = program(x, c, 3)
        assert (found is x, n) == (True, 3)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_a_view_of_sizes_that_a_call_says_is_a_result() -> None:
    program = hotdesk.compile("""
    func.func @f(%m: memref<?xf32, strided<[1], offset: ?>>) -> memref<?xf32, strided<[1], offset: 3>> {
      %t = bufferization.to_tensor %m restrict : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
      %b = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32, strided<[1], offset: 3>>
      return %b : memref<?xf32, strided<[1], offset: 3>>
    }""")
    x = floats(7)
    assert program(x[2:]).tolist() == x[2:].tolist()


def test_arguments_of_no_rank_or_two_are_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"a value without rank.*got tensor<\*xf32>"):
        hotdesk.compile("""
        func.func @f(%x: tensor<*xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
          %a = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
          %b = tensor.cast %x : tensor<*xf32> to tensor<?x4xf32>
          return %a, %b : tensor<4xf32>, tensor<?x4xf32>
        }""")


# Other dialects


def test_tosa_and_stablehlo() -> None:
    x, y = floats(2, 3), floats(3, 4)
    tosa = hotdesk.compile("""func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tosa.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}""")
    np.testing.assert_allclose(tosa(x), np.tanh(x), rtol=1e-5)
    stablehlo = hotdesk.compile("""func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.negate %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}""")
    np.testing.assert_allclose(stablehlo(x, y), -(x @ y), rtol=1e-4, atol=1e-5)


def test_what_the_entry_does_not_call_need_not_be_compilable() -> None:
    text = """func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @declared(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
    x = floats(4)
    np.testing.assert_allclose(hotdesk.compile(text, entry="plain")(x), np.exp(x), rtol=1e-5)
    with pytest.raises(UnsupportedOpError, match="@declared"):
        hotdesk.compile(text, entry="calls")


@pytest.mark.parametrize("size", [2, 4, 9])
def test_memory_is_reallocated(size: int) -> None:
    program = hotdesk.compile("""func.func @f(%x: memref<4xf32>, %n: index, %y: memref<2xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.realloc %a(%n) : memref<4xf32> to memref<?xf32>
  %s = memref.subview %b[0] [2] [1] : memref<?xf32> to memref<2xf32, strided<[1]>>
  memref.copy %s, %y : memref<2xf32, strided<[1]>> to memref<2xf32>
  memref.dealloc %b : memref<?xf32>
  return
}""")
    x, y = floats(4), floats(2)
    for _ in range(2):
        program(x, size, y)
        np.testing.assert_array_equal(y, x[:2])
        y[:] = 0
    assert not program.check(x, size, y).faults


def test_branches_of_tosa() -> None:
    program = hotdesk.compile("""func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = tosa.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %0 : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    %0 = tosa.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}""")
    x = floats(4)
    np.testing.assert_allclose(program(np.array(True), x), np.exp(x), rtol=1e-5)
    np.testing.assert_allclose(program(np.array(False), x), np.tanh(x), rtol=1e-5)


@pytest.mark.parametrize(("which", "function"), [(0, np.exp), (1, np.sin), (2, np.abs), (3, np.abs), (-1, np.abs)])
def test_an_index_of_no_branch_of_stablehlo_means_the_last(which: int, function: Any) -> None:
    program = hotdesk.compile("""func.func @f(%x: tensor<4xf32>, %k: tensor<i32>) -> tensor<4xf32> {
  %r = "stablehlo.case"(%k) ({
    %0 = stablehlo.exponential %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %0 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %0 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}""")
    x = floats(4)
    np.testing.assert_allclose(program(x, np.array(which, np.int32)), function(x), rtol=1e-5)


def test_constraints_of_shapes_are_checked() -> None:
    program = hotdesk.compile("""func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %a = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %b = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %w = shape.cstr_eq %a, %b : tensor<1xindex>, tensor<1xindex>
  %r = shape.assuming %w -> tensor<?xf32> {
    %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    shape.assuming_yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}""")
    x = floats(4)
    np.testing.assert_allclose(program(x, x), 2 * x)
    with pytest.raises(CallError, match="required equal shapes"):
        program(x, floats(3))


def test_shapes_and_math() -> None:
    program = hotdesk.compile("""func.func @f(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, index) {
  %c0 = arith.constant 0 : index
  %s = shape.shape_of %x : tensor<?x3xf32> -> tensor<2xindex>
  %n = shape.get_extent %s, %c0 : tensor<2xindex>, index -> index
  %0 = math.exp %x : tensor<?x3xf32>
  return %0, %n : tensor<?x3xf32>, index
}""")
    x = floats(4, 3)
    result, rows = program(x)
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)
    assert rows == 4


# Wrong calls


def test_wrong_arguments() -> None:
    program = hotdesk.compile(SCALED)
    x = floats(4, 3)
    with pytest.raises(ArgumentCountError, match=r"expected 2 \(x, alpha\), got 1, without alpha"):
        program(x)
    with pytest.raises(ArgumentCountError, match="got a keyword 'beta'"):
        program(x, beta=1)
    with pytest.raises(DtypeError, match="argument '%x': expected f32, got f64"):
        program(x.astype(np.float64), 1)
    with pytest.raises(RankError, match="argument '%x': expected 2 dimensions"):
        program(x[0], 1)
    with pytest.raises(ShapeError, match="argument '%x', dimension 1: expected 3, got 4"):
        program(floats(4, 4), 1)
    with pytest.raises(
        ArgumentTypeError, match=r"argument '%x': expected a torch\.Tensor or a numpy\.ndarray, got list"
    ):
        program([1.0], 1)


@pytest.mark.parametrize(
    "value", [np.array([True, False]), np.array([True]), torch.tensor([True, False]), "1", None, 2]
)
def test_truths_that_are_none(value: Any) -> None:
    program = hotdesk.compile("func.func @f(%c: i1) -> i1 { return %c : i1 }")
    with pytest.raises(ArgumentTypeError, match="argument '%c': expected True or False for i1"):
        program(value)
    assert program(np.True_) is True


def test_integers_that_no_float_is_as_large_as() -> None:
    program = hotdesk.compile("func.func @f(%a: f32) -> f32 { return %a : f32 }")
    with pytest.raises(ArgumentTypeError, match="expected a number for f32, got int beyond the range of floats"):
        program(10**400)
    assert program(10**40) == np.inf


@pytest.mark.parametrize(
    ("body", "sizes", "message"),
    [
        ("linalg.add ins(%x, %y : T, T) outs(%x : T) -> T", (4, 3, 0, 0), "dim 0 of %x"),
        ("tensor.extract_slice %x[%o] [%s] [1] : T to T", (4, 0, 2, 3), "`tensor.extract_slice`: a place inside of its operand"),
        ("tensor.insert_slice %y into %x[%o] [%s] [1] : T into T", (4, 2, 3, 2), "`tensor.insert_slice`"),
        ("tensor.concat dim(0) %x, %y : (T, T) -> T", (2, 3, 0, 0), None),
        ("tensor.pad %x low[%o] high[%s] {\n  ^bb0(%i: index):\n    tensor.yield %zero : f32\n  } : T to T", (2, 0, 1, 1), None),
    ],
)  # fmt: skip
def test_sizes_that_do_not_go_together(body: str, sizes: tuple[int, ...], message: str | None) -> None:
    text = f"""func.func @f(%x: T, %y: T, %o: index, %s: index) -> T {{
  %zero = arith.constant 0.0 : f32
  %0 = {body}
  return %0 : T
}}""".replace("T", "tensor<?xf32>")
    program = hotdesk.compile(text)
    x, y, *numbers = sizes
    if message is None:
        program(floats(x), floats(y), *numbers)
        return
    with pytest.raises(ShapeError, match=message):
        program(floats(x), floats(y), *numbers)


GATHER = """func.func @f(%x: tensor<?xf32>, %k: index) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.addi %i, %k : index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
ON_MEMREFS_TOO = GATHER.replace("tensor<?xf32>", "memref<?xf32>").replace("tensor.extract", "memref.load")


@pytest.mark.parametrize("text", [GATHER, ON_MEMREFS_TOO])
def test_elements_outside_are_not_read(text: str) -> None:
    program = hotdesk.compile(text)
    x = floats(5)
    np.testing.assert_array_equal(program(x, 2), x[2:5])
    for k in (3, 10**12):
        with pytest.raises(
            ExecutionError, match=r"a check of `linalg.generic` failed: expected every index in range.*\(-:7:10\)"
        ):
            program(x, k)


# Programs that are none

NEGATIVE = """func.func @f() -> tensor<?xf32> {
  %n = arith.constant -3 : index
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
BY_DATA = """func.func @f(%i: tensor<i64>) -> tensor<?xf32> {
  %0 = tensor.extract %i[] : tensor<i64>
  %n = arith.index_cast %0 : i64 to index
  %1 = tensor.empty(%n) : tensor<?xf32>
  return %1 : tensor<?xf32>
}"""
RECURSIVE = """memref.global @s : memref<i64> = dense<0>
func.func private @r(%n: i64) {
  %z = arith.constant 0 : i64
  %o = arith.constant 1 : i64
  %s = memref.get_global @s : memref<i64>
  memref.store %n, %s[] : memref<i64>
  %c = arith.cmpi sgt, %n, %z : i64
  scf.if %c {
    %m = arith.subi %n, %o : i64
    func.call @r(%m) : (i64) -> ()
  }
  return
}
func.func @f(%n: i64) {
  call @r(%n) : (i64) -> ()
  return
}"""
ELSEWHERE = """memref.global "private" @s : memref<f32>
func.func @f() -> f32 {
  %0 = memref.get_global @s : memref<f32>
  %1 = memref.load %0[] : memref<f32>
  return %1 : f32
}"""
CUSTOM = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
DECLARED = """func.func private @g()
func.func @f() {
  call @g() : () -> ()
  return
}"""


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("no_such_file.mlir", OptionError, "model 'no_such_file.mlir': expected a file"),
        ("", InvalidIRError, "the program: expected a public func.func with a body, got none"),
        ("func.func @f( {}", InvalidIRError, r"\(-:1:14\)"),
        ("func.func @f() {\n  foo.bar\n}", InvalidIRError, r"Dialect `foo' not found.*\(-:2:3\)"),
        ("func.func @f() {\n  %0 = arith.constant 1 : i32\n  return %0 : i32\n}", InvalidIRError, r"\(-:3:3\)"),
        (b"ML\xefRgarbage", InvalidIRError, "bytecode version"),
        (b"\xff\xfe", InvalidIRError, "expected MLIR text in UTF-8, or bytecode"),
        (
            "func.func @f(%x: tensor<*xf32>) {\n  return\n}",
            UnsupportedOpError,
            r"without rank.*got tensor<\*xf32> \(-:1:1\)",
        ),
        ("func.func @f(%x: vector<4xi1>) {\n  return\n}", UnsupportedOpError, "argument '%x'.*got vector<4xi1>"),
        (
            "func.func @f(%x: tensor<4xf8E5M2>) {\n  return\n}",
            UnsupportedOpError,
            "argument '%x'.*got tensor<4xf8E5M2>",
        ),
        (
            "func.func @f(%x: memref<4xf32, strided<[2], offset: 3>>) {\n  return\n}",
            UnsupportedOpError,
            "expected a layout that begins with its first element",
        ),
        (DECLARED, UnsupportedOpError, r"call of @g: expected a function with a body, got a declaration \(-:3:3\)"),
        (CUSTOM, UnsupportedOpError, r"`stablehlo.custom_call` has no lowering.*\(-:2:8\)"),
        (RECURSIVE, UnsupportedOpError, r"global @s: expected a constant, in a function that calls itself.*\(-:5:8\)"),
        (ELSEWHERE, UnsupportedOpError, r"global @s: expected a global with a value, or `uninitialized`.*\(-:3:8\)"),
        (
            ELSEWHERE.replace('"private" @s : memref<f32>', "constant @s : memref<f32> = uninitialized"),
            UnsupportedOpError,
            r"global @s: expected a constant with a value, got none \(-:3:8\)",
        ),
        (NEGATIVE, InvalidIRError, r"`tensor.empty`: expected no size below 0.*\(-:3:8\)"),
    ],
)
def test_programs_that_are_not_compiled(text: str | bytes, error: type[HotdeskError], message: str) -> None:
    with pytest.raises(error, match=message):
        hotdesk.compile(text)


def test_a_program_that_never_returns_is_refused() -> None:
    with pytest.raises(InvalidIRError, match=r"function @f: expected a return that is reached.*\(-:1:1\)"):
        hotdesk.compile("func.func @f() -> i32 {\n  cf.br ^a\n^a:\n  cf.br ^a\n}")


def test_what_writes_a_constant_is_refused() -> None:
    """In a view of it, in a loop."""
    with pytest.raises(InvalidIRError, match=r"global @c: expected ops that read it.*got memref.store, .*\(-:8:5\)"):
        hotdesk.compile("""memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func @f(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.get_global @c : memref<4xf32>
  %p = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %p[%c0] : memref<2xf32, strided<[1], offset: 1>>
  }
  return
}""")


@pytest.mark.parametrize(
    "write",
    [
        "memref.atomic_rmw addf %z, %a[%c0] : (f32, memref<4xf32>) -> f32",
        "vector.store %v, %a[%c0] : memref<4xf32>, vector<4xf32>",
        "vector.transfer_write %v, %a[%c0] : vector<4xf32>, memref<4xf32>",
        "affine.store %z, %a[0] : memref<4xf32>",
        "memref.generic_atomic_rmw %a[%c0] : memref<4xf32> {\n^bb0(%old: f32):\nmemref.atomic_yield %z : f32\n}",
    ],
)
def test_ops_that_write_a_constant_are_refused(write: str) -> None:
    result = "%old = " if "rmw" in write else ""
    with pytest.raises(
        InvalidIRError, match=rf"global @c: expected ops that read it.*got {write.split()[0]}, which writes"
    ):
        hotdesk.compile(f"""memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func @f(%z: f32) {{
  %c0 = arith.constant 0 : index
  %v = vector.broadcast %z : f32 to vector<4xf32>
  %a = memref.get_global @c : memref<4xf32>
  {result}{write}
  return
}}""")


def test_ops_that_read_a_constant_are_not() -> None:
    program = hotdesk.compile("""memref.global "private" constant @c : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @f(%o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.get_global @c : memref<4xf32>
  %v = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
  %x = affine.load %a[3] : memref<4xf32>
  %w = vector.broadcast %x : f32 to vector<4xf32>
  %s = arith.addf %v, %w : vector<4xf32>
  vector.store %s, %o[%c0] : memref<4xf32>, vector<4xf32>
  return
}""")
    found = np.zeros(4, np.float32)
    program(found)
    np.testing.assert_array_equal(found, [5, 6, 7, 8])


def test_what_writes_a_constant_of_a_program_on_tensors_is_refused() -> None:
    text = """memref.global "private" constant @c : memref<2xf32> = dense<1.0>
    func.func @f(%x: f32) -> tensor<2xf32> {
      %c0 = arith.constant 0 : index
      %g = memref.get_global @c : memref<2xf32>
      memref.store %x, %g[%c0] : memref<2xf32>
      %t = bufferization.to_tensor %g restrict : memref<2xf32> to tensor<2xf32>
      return %t : tensor<2xf32>
    }"""
    with pytest.raises(
        InvalidIRError, match="global @c: expected ops that read it: .*got memref.store, which writes it"
    ):
        hotdesk.compile(text)


SELECTED = """memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func @f(%x: memref<4xf32>, %v: f32, %c: i1) {
  %a = memref.get_global @c : memref<4xf32>
  %p = arith.select %c, %a, %x : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%p : memref<4xf32>)
  return
}"""
IN_RECURSION = """memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func private @g(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.get_global @c : memref<4xf32>
  %last = arith.cmpi eq, %n, %c0 : index
  scf.if %last {
    memref.store %v, %a[%c0] : memref<4xf32>
  } else {
    %m = arith.subi %n, %c1 : index
    func.call @g(%m, %v) : (index, f32) -> ()
  }
  return
}
func.func @f(%n: index, %v: f32) {
  call @g(%n, %v) : (index, f32) -> ()
  return
}"""
IN_A_PAYLOAD = """memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func @f(%x: memref<4xf32>) {
  %c = memref.get_global @c : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    affine.store %a, %c[%i] : memref<4xf32>
    linalg.yield %a : f32
  }
  return
}"""
AS_A_TENSOR = """memref.global "private" constant @c : memref<4xf32> = dense<2.0>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = memref.get_global @c : memref<4xf32>
  %t = bufferization.to_tensor %m PROMISE : memref<4xf32> to tensor<4xf32>
  %r = linalg.add ins(%x, %t : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
PASSED_ON = """memref.global "private" constant @c : memref<4xf32> = dense<1.0>
func.func private @g(%n: index, %v: f32, %m: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %last -> memref<4xf32> {
    WRITE
    scf.yield %m : memref<4xf32>
  } else {
    %k = arith.subi %n, %c1 : index
    %q = func.call @g(%k, %v, %m) : (index, f32, memref<4xf32>) -> memref<4xf32>
    scf.yield %q : memref<4xf32>
  }
  return %r : memref<4xf32>
}
func.func @f(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.get_global @c : memref<4xf32>
  %b = call @g(%n, %v, %a) : (index, f32, memref<4xf32>) -> memref<4xf32>
  BEHIND
  return
}"""


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (SELECTED, r"linalg.fill, which may write it \(-:5:3\)"),
        (IN_RECURSION, r"memref.store, which writes it \(-:8:5\)"),
        (IN_A_PAYLOAD, r"linalg.generic, which writes it \(-:4:3\)"),
        (AS_A_TENSOR.replace("PROMISE", "restrict writable"), r"bufferization.to_tensor, which writes it \(-:4:8\)"),
        (
            PASSED_ON.replace("WRITE", "memref.store %v, %m[%c0] : memref<4xf32>").replace("BEHIND", ""),
            "func.call, which",
        ),
        (
            PASSED_ON.replace("WRITE", "").replace("BEHIND", "memref.store %v, %b[%c0] : memref<4xf32>"),
            "memref.store, which",
        ),
    ],
)
def test_what_may_write_a_constant_is_refused(text: str, got: str) -> None:
    """One that is chosen, in functions that call themselves, in a payload, as what functions are given and return."""
    with pytest.raises(InvalidIRError, match=f"global @c: expected ops that read it.*got {got}"):
        hotdesk.compile(text, entry="f")


@pytest.mark.parametrize("promise", ["", "restrict", "writable"])
def test_a_constant_that_a_tensor_reads(promise: str) -> None:
    """It takes no memory of a call, and no call writes it: what is promised to be written must be nobody else's, too."""
    program = hotdesk.compile(AS_A_TENSOR.replace("PROMISE", promise))
    assert program.memory().arena == 0
    for x in (floats(4), -floats(4)):
        assert program(x).tolist() == (x + 2).tolist()


def test_a_constant_that_only_a_choice_reads() -> None:
    program = hotdesk.compile(SELECTED.replace("ins(%v : f32) outs(%p", "ins(%v : f32) outs(%x"))
    x = floats(4)
    program(x, 2.0, True)
    assert x.tolist() == [2.0] * 4


def test_what_prints_is_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"`vector.print` has no lowering.*\(-:2:3\)"):
        hotdesk.compile("func.func @f(%x: f32) {\n  vector.print %x : f32\n  return\n}")


@pytest.mark.parametrize(
    ("body", "value", "left"),
    [
        ("%v = memref.atomic_rmw addf %w, %m[%c1] : (f32, memref<3xf32>) -> f32", 2, [1, 6, 3]),
        (
            """%v = memref.generic_atomic_rmw %m[%c1] : memref<3xf32> {
            ^bb0(%old: f32):
              %new = arith.mulf %old, %w : f32
              memref.atomic_yield %new : f32
            }""",
            2,
            [1, 8, 3],
        ),
        ("%v = affine.load %m[%c1] : memref<3xf32> affine.store %w, %m[%c1 + 1] : memref<3xf32>", 2, [1, 2, 4]),
        (
            """%v = memref.alloca_scope -> (f32) {
              %a = memref.alloca() : memref<2xf32>
              memref.store %w, %a[%c1] : memref<2xf32>
              %l = memref.load %a[%c1] : memref<2xf32>
              memref.alloca_scope.return %l : f32
            }""",
            4,
            [1, 2, 3],
        ),
        ("memref.prefetch %m[%c1], read, locality<3>, data : memref<3xf32> %v = arith.addf %w, %w : f32", 8, [1, 2, 3]),
    ],
    ids=["atomic", "generic atomic", "affine", "scope", "prefetch"],
)
def test_code_without_a_loop_around_it(body: str, value: float, left: list[float]) -> None:
    program = hotdesk.compile(f"""
    func.func @f(%m: memref<3xf32, strided<[?], offset: ?>>, %w: f32) -> f32 {{
      %c1 = arith.constant 1 : index
      {body.replace("memref<3xf32>", "memref<3xf32, strided<[?], offset: ?>>")}
      return %v : f32
    }}""")
    m = np.arange(1, 4, dtype=np.float32)
    assert program(m, 4.0) == value
    assert m.tolist() == left
    assert program.check(m, 4.0).clean


def test_a_tensor_grows_that_a_loop_is_given_with_its_sizes() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<2xf32>, %n: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %t = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> tensor<?xf32> {
        %c = tensor.concat dim(0) %a, %x : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
        scf.yield %c : tensor<?xf32>
      }
      return %r : tensor<?xf32>
    }""")
    x = floats(2)
    for n in (0, 1, 3):
        np.testing.assert_array_equal(program(x, n), np.tile(x, n + 1))


def test_a_size_that_an_argument_holds() -> None:
    program = hotdesk.compile(BY_DATA)
    for size in (0, 3):
        assert program(np.array(size)).shape == (size,)
    for size in (-1, 2**62):
        with pytest.raises(ExecutionError, match="expected (no size below 0|a size that the machine has memory for)"):
            program(np.array(size))


def test_a_size_that_only_the_run_knows_of_what_follows_from_constants() -> None:
    program = hotdesk.compile("""func.func @main(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<?xi32>) {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %size = arith.constant dense<[4]> : tensor<1xindex>
  %r = tensor.reshape %c(%size) : (tensor<2x2xi32>, tensor<1xindex>) -> tensor<?xi32>
  return %x, %r : tensor<2xi32>, tensor<?xi32>
}""")
    for _ in range(2):
        _, found = program(np.zeros(2, np.int32))
        assert found.tolist() == [1, 2, 3, 4]


def test_what_mlirs_parser_dies_of_ends_another_process() -> None:
    text = """func.func @f(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<f32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<8xf32>) outs(%s : tensor<f32>) dimensions = [0:
  return %0 : tensor<f32>
}"""
    with pytest.raises(InvalidIRError, match="the MLIR does not parse"):
        hotdesk.compile(text)


def test_stores_inside_of_linalg_ops_are_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"a store inside of `linalg.generic`"):
        hotdesk.compile("""func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) {
  ^bb0(%v: f32):
    %i = linalg.index 0 : index
    memref.store %v, %y[%i] : memref<4xf32>
    linalg.yield
  }
  return
}""")


def test_examples_and_entries_belong_to_other_models() -> None:
    with pytest.raises(OptionError, match="expected no examples for MLIR"):
        hotdesk.compile(SCALED, (floats(2, 3), 1.0))
    with pytest.raises(OptionError, match="option 'entry': expected a program in MLIR, got Linear"):
        hotdesk.compile(torch.nn.Linear(2, 2), (torch.ones(1, 2),), entry="main")
    with pytest.raises(ArgumentTypeError, match=r"argument 'model': expected a torch\.nn\.Module.*or MLIR"):
        hotdesk.compile(3)


def reduction(sizes: str, output: str) -> str:
    return f"""func.func @sum(%x: tensor<2x3xf32>, %y: tensor<{sizes}xf32>) -> tensor<{sizes}xf32> {{
  %0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> {output}>],
      iterator_types = ["{"parallel" if "d0" in output else "reduction"}", "{"parallel" if "d1" in output else "reduction"}"]}}
      ins(%x : tensor<2x3xf32>) outs(%y : tensor<{sizes}xf32>) {{
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  }} -> tensor<{sizes}xf32>
  return %0 : tensor<{sizes}xf32>
}}"""


@pytest.mark.parametrize(
    ("sizes", "output", "axes"), [("2x1", "(d0, 0)", 1), ("1x3", "(0, d1)", 0), ("1x1", "(0, 0)", (0, 1))]
)
def test_dimensions_of_one_element_are_kept(sizes: str, output: str, axes: Any) -> None:
    program = hotdesk.compile(reduction(sizes, output))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.ones([int(size) for size in sizes.split("x")], np.float32)
    np.testing.assert_array_equal(program(x, y), y + x.sum(axes, keepdims=True))


COUNT = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %count = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> index {
    %v = memref.load %x[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %zero : f32
    %next = arith.addi %k, %c1 : index
    %chosen = arith.select %p, %next, %k : index
    scf.yield %chosen : index
  }
"""
"""How many elements of `%x` are positive."""


def _filled(allocation: str = "memref.alloc(%count) : memref<?xf32>") -> str:
    return f"{COUNT} %r = {allocation}\n linalg.fill ins(%y : f32) outs(%r : memref<?xf32>)"


COUNTED_MEMREFS = {
    "one": ("memref<?xf32>", f"{_filled()} return %r : memref<?xf32>", 1),
    "beside others": (
        "memref<?xf32>, memref<?xf32>, memref<2xf32>, index",
        f"""{_filled()} %s = memref.alloc() : memref<2xf32>
        linalg.fill ins(%zero : f32) outs(%s : memref<2xf32>)
        return %x, %r, %s, %count : memref<?xf32>, memref<?xf32>, memref<2xf32>, index""",
        4,
    ),
    "twice": ("memref<?xf32>, memref<?xf32>", f"{_filled()} return %r, %r : memref<?xf32>, memref<?xf32>", 2),
    "a part of an argument": (
        "memref<?xf32, strided<[1]>>",
        f"""{COUNT} %r = memref.subview %x[0] [%count] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
        return %r : memref<?xf32, strided<[1]>>""",
        1,
    ),
    "of two ways": (
        "memref<?xf32>",
        f"""{COUNT} %many = arith.cmpi ugt, %count, %c1 : index
        %r = scf.if %many -> memref<?xf32> {{
          %a = memref.alloc(%count) : memref<?xf32>
          linalg.fill ins(%y : f32) outs(%a : memref<?xf32>)
          scf.yield %a : memref<?xf32>
        }} else {{
          %b = memref.alloc(%n) : memref<?xf32>
          linalg.fill ins(%zero : f32) outs(%b : memref<?xf32>)
          scf.yield %b : memref<?xf32>
        }}
        return %r : memref<?xf32>""",
        1,
    ),
}


@pytest.mark.parametrize("name", COUNTED_MEMREFS)
def test_memrefs_whose_sizes_only_the_run_knows_are_results(name: str) -> None:
    types, body, results = COUNTED_MEMREFS[name]
    program = hotdesk.compile(f"func.func @f(%x: memref<?xf32>, %y: f32) -> ({types}) {{ {body} }}")
    kept: list[tuple[Any, Any]] = []
    for size in (7, 3, 5000, 0, 7):
        x = np.arange(size, dtype=np.float32) - 3
        given = program(x, 2.5)
        found = given if results > 1 else (given,)
        assert len(found) == results
        count = int((x > 0).sum())
        filled = np.full(count, 2.5, np.float32)
        ways = filled if count > 1 else np.zeros(size, np.float32)
        expected = {
            "one": [filled],
            "beside others": [x, filled, np.zeros(2, np.float32), count],
            "twice": [filled, filled],
            "a part of an argument": [x[:count].copy()],
            "of two ways": [ways],
        }[name]
        kept += zip(found, expected, strict=True)
    for one, wanted in kept:  # later calls have written over none of them
        np.testing.assert_array_equal(one, wanted)
    x = np.arange(9, dtype=np.float32) - 3
    memory = program.memory(x, 2.5)
    assert memory.arena == memory.lower_bound
    program.check(x, 2.5)


def test_checks_in_branches_guard_their_own_loads() -> None:
    """Either part of what was joined is read under the check of its own index."""
    program = hotdesk.compile(
        """
        func.func @main(%x: tensor<5x4xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
          %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<10x4xf32>
          %1 = stablehlo.slice %0 [0:10:2, 0:4] : (tensor<10x4xf32>) -> tensor<5x4xf32>
          return %1 : tensor<5x4xf32>
        }
        """
    )
    x, y = np.random.default_rng(0).random((2, 5, 4), np.float32)
    np.testing.assert_array_equal(program(x, y), np.concatenate([x, y])[::2])


def test_parts_of_a_tuple_beside_an_argument_of_their_name() -> None:
    program = hotdesk.compile(
        "func.func @f(%p: tuple<tensor<4xf32>, tensor<4xf32>>, %p_0: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  return %p_0 : tensor<4xf32>\n}"
    )
    assert [spec.name for spec in program.inputs] == ["%p_0_", "%p_1", "%p_0"]
    x, y, z = floats(4), floats(4), floats(4)
    np.testing.assert_array_equal(program(p_0=x, p_0_=y, p_1=z), x)


@pytest.mark.parametrize("sizes", [(2, 3), (1, 5), (4, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("layout", ["(i, j) -> (j, i)", "(i, j) -> (j, 2 * i)"])
def test_new_memory_of_open_sizes_in_the_order_of_a_map(layout: str, sizes: tuple[int, int]) -> None:
    kind = f"memref<?x?xf32, affine_map<{layout}>>"
    program = hotdesk.compile(f"""func.func @f(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %a = memref.alloc(%n, %m) : {kind}
  linalg.add ins(%x, %x : memref<?x?xf32>, memref<?x?xf32>) outs(%a : {kind})
  memref.copy %a, %y : {kind} to memref<?x?xf32>
  memref.dealloc %a : {kind}
  return
}}""")
    x, y = floats(*sizes), floats(*sizes)
    program(x, y)
    np.testing.assert_array_equal(y, x + x)


@pytest.mark.parametrize("sizes", ["3x0", "0x3", "0"])
def test_results_without_elements(sizes: str) -> None:
    kind = f"memref<{sizes}xf32>"
    program = hotdesk.compile(f"""func.func @f(%x: {kind}) -> {kind} {{
  %r = memref.alloc() : {kind}
  linalg.exp ins(%x : {kind}) outs(%r : {kind})
  return %r : {kind}
}}""")
    x = floats(*map(int, sizes.split("x")))
    assert program(x).shape == x.shape


CHECKED = """func.func @f(%x: memref<4xf32>, %i: memref<2xi64>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  linalg.fill ins(%v : f32) outs(%x : memref<4xf32>)
  %a = memref.load %i[%c0] : memref<2xi64>
  %p = arith.index_cast %a : i64 to index
  memref.store %v, %x[%p] : memref<4xf32>
  %b = memref.load %i[%c1] : memref<2xi64>
  %few = arith.cmpi slt, %a, %b : i64
  cf.assert %few, "in order"
  return
}"""


@pytest.mark.parametrize("places", [(4, 5), (-1, 0), (3, 2)])
def test_an_argument_is_as_it_was_where_a_check_ends_the_call(places: tuple[int, int]) -> None:
    """What is demanded of a place, and what the program asserts, is looked at before anything is written."""
    program, x = hotdesk.compile(CHECKED), floats(4)
    before = x.copy()
    with pytest.raises(ExecutionError):
        program(x, np.array(places), 5.0)
    np.testing.assert_array_equal(x, before)
    program(x, np.array([1, 2]), 5.0)
    assert x.tolist() == [5.0] * 4


def test_a_loop_ends_with_the_first_check_of_a_kernel_that_fails() -> None:
    program = hotdesk.compile("""func.func @f(%x: memref<4xf32>, %t: memref<4xf32>, %i: memref<1xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%c0] : memref<4xf32>
    %w = arith.addf %v, %one : f32
    memref.store %w, %x[%c0] : memref<4xf32>
    linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (0)>], iterator_types = ["parallel"]}
        ins(%i : memref<1xi64>) outs(%t : memref<4xf32>) {
    ^bb0(%in: i64, %old: f32):
      %p = arith.index_cast %in : i64 to index
      %r = memref.load %x[%p] : memref<4xf32>
      linalg.yield %r : f32
    }
  }
  return
}""")
    x, t = np.zeros(4, np.float32), np.zeros(4, np.float32)
    program(x, t, np.array([0]), 3)
    assert (x[0], t[0]) == (3, 3)
    with pytest.raises(ExecutionError):
        program(x, t, np.array([9]), 10**15)  # more turns than anybody waits for
    assert x[0] == 4, "what a program on memrefs has written stays written: here one turn"


def test_programs_with_numbers_are_saved(tmp_path: Path) -> None:
    """Numbers of all kinds, arguments that are results, and state, which begins where it was when it was saved."""
    numbers = hotdesk.compile("""func.func @f(%n: index, %a: i64, %b: f64, %c: i1, %z: complex<f32>)
    -> (index, i64, f64, i1, complex<f32>, tensor<?xf32>) {
  %f = arith.constant 1.0 : f32
  %e = tensor.splat %f[%n] : tensor<?xf32>
  return %n, %a, %b, %c, %z, %e : index, i64, f64, i1, complex<f32>, tensor<?xf32>
}""")
    numbers.save(str(tmp_path / "numbers"))
    loaded = hotdesk.load(tmp_path / "numbers")
    assert str(loaded) == str(numbers)
    *found, ones = loaded(3, -4, 2.5, True, z=1 + 2j)
    assert (found, ones.tolist()) == ([3, -4, 2.5, True, 1 + 2j], [1, 1, 1])
    with pytest.raises(ArgumentTypeError, match="argument '%a': expected an integer for i64, got float 1.5"):
        loaded(3, 1.5, 2.5, True, 1)
    with pytest.raises(ArgumentCountError):
        loaded(3)
    written = hotdesk.compile(ON_MEMREFS)
    written.save(str(tmp_path / "written"))
    x, y = floats(3), np.zeros(3, np.float32)
    first, second = hotdesk.load(tmp_path / "written")(x, y)
    assert second is y
    np.testing.assert_allclose(first, np.exp(x), rtol=1e-6)
    kept = hotdesk.compile(KEPT)
    kept(floats(4))
    kept.save(str(tmp_path / "kept"))
    again = hotdesk.load(tmp_path / "kept")
    assert [again(floats(4))[0], again(floats(4))[0], kept(floats(4))[0]] == [6, 7, 6]


# Two loops that differ in nothing but what they do.
TWINS = """func.func @main(%x: memref<512x256xf32>, %y: memref<512x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 512 : index
  %m = arith.constant 256 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<512x256xf32>
    %w = arith.mulf %v, %v : f32
    memref.store %w, %y[%i, %j] : memref<512x256xf32>
    scf.reduce
  } loc(unknown)
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %v = memref.load %y[%i, %j] : memref<512x256xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i, %j] : memref<512x256xf32>
    scf.reduce
  } loc(unknown)
  return
}"""


def test_loops_of_one_place_are_shared_each() -> None:
    x = floats(512, 256)
    y = np.empty_like(x)
    hotdesk.compile(TWINS)(x, y)
    assert np.array_equal(y, x * x + x * x)
