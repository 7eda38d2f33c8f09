"""Memory that a tensor shows, that has no rank, or whose elements are no numbers."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from tests.unit.passes.buffers.checking import FREE, freed_alike, through
from tests.unit.passes.buffers.test_deallocate import OWNERSHIP, deallocated

M = "memref<4xf32>"
A = f"%a = memref.alloc() : {M}\n  memref.copy %x, %a : {M} to {M}"
SHOWN = f"{A}\n  %t = bufferization.to_tensor %a restrict : {M} to tensor<4xf32>"
HEAD = "%c0 = arith.constant 0 : index"
LENT = f"{FREE}{{private-function-dynamic-ownership=true}}"


def function(body: str, results: str = "f32") -> str:
    return f"func.func @main(%x: {M}, %p: i1) -> {results} {{\n  {HEAD}\n  {body}\n}}"


PASSED_ON = {
    "func.return": function(f"{SHOWN}\nreturn %t : tensor<4xf32>", "tensor<4xf32>"),
    "scf.yield": function(f"""%e = tensor.empty() : tensor<4xf32>
  %y = scf.if %p -> tensor<4xf32> {{ {SHOWN}
    scf.yield %t : tensor<4xf32> }} else {{ scf.yield %e : tensor<4xf32> }}
  %f = tensor.extract %y[%c0] : tensor<4xf32>
  return %f : f32"""),
    "cf.br": function(f"""{SHOWN}
  cf.br ^next(%t : tensor<4xf32>)
^next(%y: tensor<4xf32>):
  %f = tensor.extract %y[%c0] : tensor<4xf32>
  return %f : f32"""),
}


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}", LENT])
@pytest.mark.parametrize("name", PASSED_ON)
def test_a_tensor_that_outlives_its_memory_is_refused(name: str, mode: str) -> None:
    with pytest.raises(
        BufferizationError,
        match=rf"a tensor that `{name}` passes on \(tensor<.*>\): expected one that leads to no memory",
    ):
        through(PASSED_ON[name], mode)


HANDLE = f"{A}\n  %h = builtin.unrealized_conversion_cast %a : {M} to !llvm.ptr"
HANDLES = {
    "func.return": function(f"{HANDLE}\nreturn %h : !llvm.ptr", "!llvm.ptr"),
    "scf.yield": function(f"""%n = llvm.mlir.zero : !llvm.ptr
  %y = scf.if %p -> !llvm.ptr {{ {HANDLE}
    scf.yield %h : !llvm.ptr }} else {{ scf.yield %n : !llvm.ptr }}
  %f = llvm.load %y : !llvm.ptr -> f32
  return %f : f32"""),
}


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}", LENT])
@pytest.mark.parametrize("name", HANDLES)
def test_a_handle_that_outlives_its_memory_is_refused(name: str, mode: str) -> None:
    with pytest.raises(
        BufferizationError,
        match=rf"a pointer or handle that `{name}` passes on \(!llvm.ptr\): expected one that leads to no",
    ):
        through(HANDLES[name], mode)


def test_a_handle_of_an_argument_may_leave() -> None:
    handle = f"{A}\n  %h = builtin.unrealized_conversion_cast %x : {M} to !llvm.ptr\n  return %h : !llvm.ptr"
    lines = through(function(handle, "!llvm.ptr"), FREE).splitlines()
    assert sum("memref.dealloc" in line for line in lines) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"{SHOWN}\n%f = tensor.extract %t[%c0] : tensor<4xf32>",
        f"{SHOWN}\n%m = bufferization.to_buffer %t : tensor<4xf32> to {M}\n%f = memref.load %m[%c0] : {M}",
        f"""{SHOWN}
  %e = tensor.empty() : tensor<4xf32>
  %y = scf.if %p -> tensor<4xf32> {{ scf.yield %t : tensor<4xf32> }} else {{ scf.yield %e : tensor<4xf32> }}
  %f = tensor.extract %y[%c0] : tensor<4xf32>""",
    ],
    ids=["extract", "to_buffer", "yielded where the memory lives on"],
)
def test_memory_lives_as_long_as_a_tensor_that_stays(body: str) -> None:
    lines = through(function(f"{body}\nreturn %f : f32"), FREE).splitlines()
    used = max(i for i, line in enumerate(lines) if "tensor.extract" in line or "memref.load" in line)
    assert [i for i, line in enumerate(lines) if "dealloc" in line] == [used + 1]


def test_a_pointer_that_leaves_its_region_is_refused() -> None:
    text = function(
        f"""%y = scf.if %p -> index {{ {A}
    %t = memref.extract_aligned_pointer_as_index %a : {M} -> index
    scf.yield %t : index }} else {{ scf.yield %c0 : index }}
  %k = arith.addi %y, %y : index
  return %k : index""",
        "index",
    )
    with pytest.raises(BufferizationError, match="memory that `scf.yield` passes on"):
        through(text, FREE)


@pytest.mark.parametrize(("element", "size"), [("vector<4xf32>", 48), ("vector<[4]xf32>", 0), (M, 0)])
def test_elements_that_are_no_numbers(element: str, size: int) -> None:
    kind = f"memref<3x{element}>"
    text = f"""func.func @main(%v: {element}) {{
  {HEAD}
  %a = memref.alloc() : {kind}
  memref.store %v, %a[%c0] : {kind}
  return
}}"""
    module, decisions = deallocated(text, OWNERSHIP)
    assert str(module).count("memref.dealloc") == 1
    assert [decision.bytes for decision in decisions] == [size]


def test_no_rank() -> None:
    text = f"""func.func private @same(%u: memref<*xf32>) -> memref<*xf32> {{
  return %u : memref<*xf32>
}}
func.func @main(%x: {M}) -> f32 {{
  {HEAD}
  {A}
  %u = memref.cast %a : {M} to memref<*xf32>
  %v = call @same(%u) : (memref<*xf32>) -> memref<*xf32>
  %w = memref.cast %v : memref<*xf32> to {M}
  %f = memref.load %w[%c0] : {M}
  return %f : f32
}}"""
    assert "memref.copy %arg0, %alloc" in freed_alike(text, LENT)
    with pytest.raises(
        BufferizationError, match="`func.return` passes on: expected memory that this function owns, or"
    ):
        through(text, FREE)


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}", LENT])
def test_what_has_no_rank_is_copied_where_it_had_one(mode: str) -> None:
    text = f"""func.func @main(%x: {M}) -> memref<*xf32> {{
  %u = memref.cast %x : {M} to memref<*xf32>
  return %u : memref<*xf32>
}}"""
    lines = [line.strip() for line in through(text, mode).splitlines()]
    copied = lines.index(f"memref.copy %arg0, %alloc : {M} to {M}")
    assert lines[copied + 1 : copied + 3] == [
        f"%cast_0 = memref.cast %alloc : {M} to memref<*xf32>",
        "return %cast_0 : memref<*xf32>",
    ]


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}", LENT])
def test_what_never_had_a_rank_is_not_copied(mode: str) -> None:
    text = "func.func @main(%x: memref<*xf32>) -> memref<*xf32> {\n  return %x : memref<*xf32>\n}"
    with pytest.raises(BufferizationError, match="give it a rank by memref.cast"):
        through(text, mode)
