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
