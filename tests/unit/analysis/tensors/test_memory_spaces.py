"""Memory spaces: where the IR puts each tensor, what is copied from one to another, what cannot be inferred; and that it runs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.textual import parse_pipeline
from tests.running import OURS, check
from tests.unit.parsing import parse, run

T, W = "tensor<8xf32>", "tensor<16xf32>"


def new(space: int) -> str:
    return f"bufferization.alloc_tensor() {{memory_space = {space} : i64}} : {T}"


PROGRAMS = {
    "written, read from outside": f"""
    func.func @main(%x: {T}) -> {T} {{
      %a = {new(1)}
      %0 = linalg.exp ins(%x : {T}) outs(%a : {T}) -> {T}
      %e = tensor.empty() : {T}
      %1 = linalg.add ins(%0, %x : {T}, {T}) outs(%e : {T}) -> {T}
      return %1 : {T}
    }}""",
    "returned": f"""
    func.func @main(%x: {T}) -> {T} {{
      %a = {new(1)}
      %0 = linalg.exp ins(%x : {T}) outs(%a : {T}) -> {T}
      return %0 : {T}
    }}""",
    "slices": f"""
    func.func @main(%x: {W}) -> {W} {{
      %a = {new(2)}
      %0 = linalg.fill ins(%c0 : f32) outs(%a : {T}) -> {T}
      %s = tensor.extract_slice %x[2] [4] [2] : {W} to tensor<4xf32>
      %1 = tensor.insert_slice %s into %0[3] [4] [1] : tensor<4xf32> into {T}
      %2 = tensor.insert_slice %1 into %x[4] [8] [1] : {T} into {W}
      return %2 : {W}
    }}""".replace("%a =", "%c0 = arith.constant 7.0 : f32\n      %a ="),
    "control flow": f"""
    func.func @main(%x: {T}, %p: i1, %n: index) -> {T} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = {new(1)}
      %0 = linalg.exp ins(%x : {T}) outs(%a : {T}) -> {T}
      %1 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %0) -> {T} {{
        %w = linalg.abs ins(%v : {T}) outs(%v : {T}) -> {T}
        scf.yield %w : {T}
      }}
      %2 = scf.if %p -> {T} {{
        %s = bufferization.alloc_tensor() copy(%1) : {T}
        %w = linalg.negf ins(%s : {T}) outs(%s : {T}) -> {T}
        scf.yield %w : {T}
      }} else {{
        scf.yield %1 : {T}
      }}
      %b = {new(1)}
      %3 = linalg.add ins(%2, %1 : {T}, {T}) outs(%b : {T}) -> {T}
      return %3 : {T}
    }}""",
    "calls": f"""
    func.func private @callee(%x: {T}) -> {T} {{
      %e = tensor.empty() : {T}
      %0 = linalg.exp ins(%x : {T}) outs(%e : {T}) -> {T}
      return %0 : {T}
    }}
    func.func @main(%x: {T}) -> {T} {{
      %a = {new(1)}
      %0 = linalg.abs ins(%x : {T}) outs(%a : {T}) -> {T}
      %1 = func.call @callee(%0) : ({T}) -> {T}
      %2 = linalg.add ins(%1, %0 : {T}, {T}) outs(%1 : {T}) -> {T}
      return %2 : {T}
    }}""",
    "blocks": f"""
    func.func @main(%x: {T}, %p: i1) -> {T} {{
      %a = {new(1)}
      %0 = linalg.exp ins(%x : {T}) outs(%a : {T}) -> {T}
      cf.cond_br %p, ^more(%0 : {T}), ^end(%0 : {T})
    ^more(%m: {T}):
      %1 = linalg.abs ins(%m : {T}) outs(%m : {T}) -> {T}
      cf.br ^end(%1 : {T})
    ^end(%z: {T}):
      return %z : {T}
    }}""",
}
INPUTS = {"slices": [np.linspace(-3, 3, 16, dtype=np.float32)]}
FLAGS = {"control flow": [np.bool_(True), np.int64(2)], "blocks": [np.bool_(True)]}


def spaces(text: str) -> dict[str, int]:
    """How many buffers are allocated in each space."""
    found: dict[str, int] = {}
    for space in re.findall(r"memref\.alloc\(.*\) .*: memref<[^,>]*(?:, (\d+))?>", text):
        found[space or "0"] = found.get(space or "0", 0) + 1
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_values(name: str) -> None:
    inputs = INPUTS.get(name, [np.linspace(-3, 3, 8, dtype=np.float32)])
    check(PROGRAMS[name], [*inputs, *FLAGS.get(name, [])], OURS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("written, read from outside", {"1": 1}),
        ("returned", {"1": 1}),
        ("slices", {"2": 1}),
        ("control flow", {"1": 3}),
        ("calls", {"1": 1, "0": 1}),
        ("blocks", {"1": 1}),
    ],
)
def test_what_is_allocated_where(name: str, expected: dict[str, int]) -> None:
    assert spaces(run(parse(PROGRAMS[name]), OneShotBufferize())) == expected


def test_what_is_returned_leaves_its_space_with_a_reason() -> None:
    module = parse(PROGRAMS["returned"])
    with entered(module.operation):
        decisions = OneShotBufferize().run(module)
    (copied,) = [d for d in decisions if d.outcome == "copied"]
    assert (copied.reason, copied.bytes) == ("other-memory-space", 32)
    assert copied.definition is not None
    assert copied.definition.op == "linalg.exp"


def test_the_memory_of_a_memref_keeps_its_space() -> None:
    text = f"""
    func.func @f(%m: memref<8xf32, 3>, %c: f32) -> {T} {{
      %x = bufferization.to_tensor %m restrict writable : memref<8xf32, 3> to {T}
      %0 = linalg.exp ins(%x : {T}) outs(%x : {T}) -> {T}
      %s = tensor.extract_slice %0[2] [4] [1] : {T} to tensor<4xf32>
      %e = bufferization.alloc_tensor() copy(%s) : tensor<4xf32>
      %1 = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %2 = tensor.insert_slice %1 into %0[0] [4] [1] : tensor<4xf32> into {T}
      return %2 : {T}
    }}"""
    after = run(parse(text), OneShotBufferize(results="returned"))
    assert "outs(%arg0 : memref<8xf32, 3>)" in after
    assert "memref<8xf32, 3> to memref<4xf32, strided<[1], offset: 2>, 3>" in after
    assert spaces(after) == {"3": 1, "0": 1}
    assert re.search(r"return %alloc\w* : memref<8xf32>\n", after)


def test_a_memref_in_another_space_is_one_copy() -> None:
    text = f"""
    func.func @f(%x: {T}) {{
      %m = bufferization.to_buffer %x : {T} to memref<8xf32, 3>
      "test.use"(%m) : (memref<8xf32, 3>) -> ()
      return
    }}"""
    context = make_context()
    context.allow_unregistered_dialects = True
    after = run(ir.Module.parse(text, context), OneShotBufferize())
    assert spaces(after) == {"3": 1}
    assert after.count("linalg.generic") == 1
    assert '"test.use"(%alloc) : (memref<8xf32, 3>)' in after


def test_what_dies_in_another_space_is_no_destination() -> None:
    text = f"""
    func.func @f(%x: {T}) -> {T} {{
      %a = {new(1)}
      %0 = linalg.exp ins(%x : {T}) outs(%a : {T}) -> {T}
      %e = tensor.empty() : {T}
      %1 = linalg.abs ins(%0 : {T}) outs(%e : {T}) -> {T}
      %f = tensor.empty() : {T}
      %2 = linalg.exp ins(%1 : {T}) outs(%f : {T}) -> {T}
      return %2 : {T}
    }}"""
    after = run(parse(text), ChooseDestinations(), OneShotBufferize())
    assert "linalg.abs ins(%alloc : memref<8xf32, 1>) outs(%arg1 : memref<8xf32>)" in after


# Encodings


def test_encodings_are_spaces_if_they_are_said_to_be() -> None:
    kind = "tensor<8xf32, 1 : i64>"
    text = f"""
    func.func private @known({kind}) -> {kind}
    func.func @f(%x: {kind}, %c: f32) -> {kind} {{
      %0 = linalg.fill ins(%c : f32) outs(%x : {kind}) -> {kind}
      %1 = func.call @known(%0) : ({kind}) -> {kind}
      return %1 : {kind}
    }}"""
    said = run(parse(text), OneShotBufferize(results="returned", use_encoding_for_memory_space=True))
    assert "@known(memref<8xf32, 1>) -> memref<8xf32, 1>" in said
    assert "@f(%arg0: memref<8xf32, 1>, %arg1: f32) -> memref<8xf32, 1>" in said
    assert set(spaces(said)) == {"1"}
    unsaid = run(parse(text), OneShotBufferize(results="returned"))
    assert "@f(%arg0: memref<8xf32>, %arg1: f32) -> memref<8xf32>" in unsaid
    assert set(spaces(unsaid)) == {"0"}


def test_a_constant_is_in_the_space_of_its_type() -> None:
    kind = "tensor<2xf32, 1 : i64>"
    text = f"""
    func.func @f() -> {kind} {{
      %0 = arith.constant dense<[1.0, 2.0]> : {kind}
      return %0 : {kind}
    }}"""
    after = run(parse(text), OneShotBufferize(use_encoding_for_memory_space=True))
    assert "memref.global" in after
    assert ": memref<2xf32, 1> = dense<[1.000000e+00, 2.000000e+00]>" in after


# What cannot be


@pytest.mark.parametrize(
    ("made", "refused"),
    [
        (f"tensor.empty() : {T}", "tensor.empty"),
        (f"bufferization.alloc_tensor() : {T}", "bufferization.alloc_tensor"),
        (f"arith.constant dense<1.0> : {T}", "arith.constant"),
        ("tensor.from_elements %c, %c : tensor<2xf32>", "tensor.from_elements"),
    ],
)
def test_what_must_be_inferred_and_cannot_be(made: str, refused: str) -> None:
    kind = made.rpartition(": ")[2]
    text = f"func.func @f(%c: f32, %i: index) -> f32 {{ %0 = {made}\n %1 = tensor.extract %0[%i] : {kind}\n return %1 : f32 }}"
    with pytest.raises(BufferizationError, match=f"memory space of the result of `{refused}`.*must-infer-memory-space"):
        run(parse(text), OneShotBufferize(must_infer_memory_space=True))
    run(parse(text), OneShotBufferize())


def test_what_must_be_inferred_and_can_be() -> None:
    text = run(parse(PROGRAMS["control flow"]), OneShotBufferize(must_infer_memory_space=True))
    assert spaces(text) == {"1": 3}


def test_two_spaces_in_one_value_are_refused() -> None:
    text = f"""
    func.func @f(%p: i1) -> {T} {{
      %a = {new(1)}
      %b = {new(2)}
      %r = arith.select %p, %a, %b : {T}
      return %r : {T}
    }}"""
    with pytest.raises(BufferizationError, match=r"expected space 1 : i64, in which .* got space 2 : i64"):
        run(parse(text), OneShotBufferize())


def test_partial_passes_know_no_space() -> None:
    text = f"func.func @f(%i: index) -> f32 {{ %0 = {new(1)}\n %1 = tensor.extract %0[%i] : {T}\n return %1 : f32 }}"
    with pytest.raises(
        BufferizationError, match="memory space of `bufferization.alloc_tensor`: expected the default space"
    ):
        run(parse(text), TensorBufferize())


# Passes on memrefs

APART = """
func.func @f(%x: memref<8xf32>, %y: memref<8xf32, 1>) -> memref<8xf32, 1> {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%x : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  %b = memref.alloc() : memref<8xf32, 1>
  linalg.exp ins(%y : memref<8xf32, 1>) outs(%b : memref<8xf32, 1>)
  memref.copy %b, %x : memref<8xf32, 1> to memref<8xf32>
  memref.dealloc %b : memref<8xf32, 1>
  %c = memref.alloc() : memref<8xf32, 1>
  memref.copy %x, %c : memref<8xf32> to memref<8xf32, 1>
  return %c : memref<8xf32, 1>
}"""


@pytest.mark.parametrize("name", ["hotdesk-share-buffers", "hotdesk-copy-removal", "hotdesk-merge-allocations"])
def test_buffers_of_two_spaces_stay_apart(name: str) -> None:
    module = parse(APART)
    with entered(module.operation):
        parse_pipeline(f"builtin.module({name})").run(module)
        module.operation.verify()
    text = str(module)
    assert text.count("memref.alloc") == 3
    assert text.count("memref.copy") == 2


# What MLIR's makes of them


@pytest.mark.parametrize("name", ["written, read from outside", "control flow", "slices"])
def test_allocations_are_where_mlir_has_them(name: str) -> None:
    with make_context():
        module = ir.Module.parse(PROGRAMS[name])
        options = "bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"
        PassManager.parse(f"builtin.module(one-shot-bufferize{{{options}}})").run(module.operation)
        theirs = spaces(str(module))
    ours = spaces(run(parse(PROGRAMS[name]), OneShotBufferize()))
    assert {space for space in theirs if space != "0"} == {space for space in ours if space != "0"}
    assert all(ours[space] <= theirs[space] for space in ours)
