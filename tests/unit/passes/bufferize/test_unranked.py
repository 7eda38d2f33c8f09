"""Tensors without a rank, through one-shot bufferization and deallocation: it runs as the tensors say, and all is freed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hotdesk.errors import BufferizationError
from hotdesk.explain import Reason
from hotdesk.passes.textual import parse_pipeline
from tests.running.executable import Executable
from tests.unit.parsing import parse

_FUNCTIONS = """
func.func @same(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}
func.func @choose(%c: i1, %x: tensor<*xf32>, %y: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %s = arith.select %c, %x, %y : tensor<*xf32>
  %z = func.call @same(%s) : (tensor<*xf32>) -> tensor<*xf32>
  return %s, %z : tensor<*xf32>, tensor<*xf32>
}
func.func @again(%n: index, %x: tensor<*xf32>) -> tensor<*xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  %end = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %end -> tensor<*xf32> {
    scf.yield %x : tensor<*xf32>
  } else {
    %q = func.call @again(%m, %x) : (index, tensor<*xf32>) -> tensor<*xf32>
    scf.yield %q : tensor<*xf32>
  }
  return %r : tensor<*xf32>
}
func.func @blocks(%c: i1, %x: tensor<*xf32>, %y: tensor<*xf32>) -> tensor<*xf32> {
  cf.cond_br %c, ^bb1(%x : tensor<*xf32>), ^bb1(%y : tensor<*xf32>)
^bb1(%z: tensor<*xf32>):
  return %z : tensor<*xf32>
}
"""
_RANKS = {"tensor<f32>": (), "tensor<5xf32>": (5,), "tensor<2x3xf32>": (2, 3), "tensor<2x0xf32>": (2, 0)}
_WAYS = {
    "as it is": "%s = tensor.cast %u : tensor<*xf32> to tensor<*xf32>",
    "called": "%s = func.call @same(%u) : (tensor<*xf32>) -> tensor<*xf32>",
    "recursive": "%s = func.call @again(%two, %u) : (index, tensor<*xf32>) -> tensor<*xf32>",
    "of blocks": "%s = func.call @blocks(%c, %u, %v) : (i1, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>",
    "first of two": "%s, %t = func.call @choose(%c, %u, %v) : (i1, tensor<*xf32>, tensor<*xf32>)"
    " -> (tensor<*xf32>, tensor<*xf32>)",
    "second of two": "%t, %s = func.call @choose(%c, %u, %v) : (i1, tensor<*xf32>, tensor<*xf32>)"
    " -> (tensor<*xf32>, tensor<*xf32>)",
    "selected": "%s = arith.select %c, %u, %v : tensor<*xf32>",
    "of an if": """%s = scf.if %c -> tensor<*xf32> {
      %q = func.call @same(%u) : (tensor<*xf32>) -> tensor<*xf32>
      scf.yield %q : tensor<*xf32>
    } else { scf.yield %v : tensor<*xf32> }""",
    "of a loop": """%s = scf.for %i = %zero to %two step %one iter_args(%a = %u) -> tensor<*xf32> {
      %q = func.call @same(%a) : (tensor<*xf32>) -> tensor<*xf32>
      scf.yield %q : tensor<*xf32>
    }""",
}


def _program(kind: str, way: str) -> str:
    """A tensor goes through a one without a rank; what comes back is overwritten, and both are wanted."""
    dims = kind.removeprefix("tensor<").removesuffix("f32>").count("x")
    names = ", ".join(f"d{i}" for i in range(dims))
    loops = ", ".join(['"parallel"'] * dims)
    return f"""{_FUNCTIONS}
func.func @main(%x: {kind}, %y: {kind}, %c: i1) -> ({kind}, {kind}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %u = tensor.cast %x : {kind} to tensor<*xf32>
  %v = tensor.cast %y : {kind} to tensor<*xf32>
  {_WAYS[way]}
  %k = tensor.cast %s : tensor<*xf32> to {kind}
  %twice = linalg.generic {{indexing_maps = [affine_map<({names}) -> ({names})>], iterator_types = [{loops}]}}
      outs(%k : {kind}) {{
  ^bb0(%o: f32):
    %sum = arith.addf %o, %o : f32
    linalg.yield %sum : f32
  }} -> {kind}
  %after = tensor.cast %s : tensor<*xf32> to {kind}
  return %twice, %after : {kind}, {kind}
}}"""


def _programs() -> Iterator[Any]:
    """All ways on one rank, with all options; on other ranks too as results lie by default, the rest takes long."""
    for kind, way, options in itertools.product(
        _RANKS, _WAYS, ("", "{results=returned}", "{copy-before-write=true}", _TWICE)
    ):
        is_quick = kind == "tensor<2x3xf32>" or not options
        yield pytest.param(kind, way, options, marks=() if is_quick else pytest.mark.slow)


_KEPT = "{bufferize-function-boundaries=false}"
_TWICE = "{bufferize-function-boundaries=false unknown-type-conversion=identity-layout-map},hotdesk-one-shot-bufferize"


@pytest.mark.parametrize(("kind", "way", "options"), _programs())
def test_it_runs_as_the_tensors_say(kind: str, way: str, options: str) -> None:
    module = parse(_program(kind, way))
    passes = f"hotdesk-one-shot-bufferize{options},hotdesk-buffer-deallocation"
    parse_pipeline(f"builtin.module({passes})").run(module)
    program, random = Executable(module), np.random.default_rng(0)
    shape = _RANKS[kind]
    x, y = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
    for flag in (True, False):
        run = program([x, y, np.bool_(flag)], [shape, shape])
        wanted = y if not flag and way not in ("as it is", "called", "recursive", "of a loop") else x
        np.testing.assert_array_equal(run.results[0], wanted + wanted)
        np.testing.assert_array_equal(run.results[1], wanted)
        assert run.leaks == 0


_ALIASED = """
func.func @id(%x: tensor<*xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%f: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %r = func.call @id(%u) : (tensor<*xf32>) -> tensor<4xf32>
  %two = arith.addf %f, %f : f32
  %w = tensor.insert %two into %x[%c0] : tensor<4xf32>
  return %w, %r : tensor<4xf32>, tensor<4xf32>
}"""


def test_what_a_call_makes_of_a_tensor_without_a_rank_is_copied_where_functions_keep_their_tensors() -> None:
    """It may lie in the memory that the call was passed, which is overwritten in place then."""
    module = parse(_ALIASED)
    decisions = parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{_KEPT})").run(module)
    assert [str(each.outcome) for each in decisions if each.subject == "result of func.call"] == ["allocated"]
    text = str(module).partition("@main")[2]
    assert text.index("call @id") < text.index("linalg.generic") < text.index("memref.store")


def test_a_part_that_comes_without_a_rank_keeps_its_strides_where_functions_keep_their_tensors() -> None:
    """The caller, rewritten by others, may pass memory with gaps: neither views nor copies take it for one row."""
    module = parse("""
func.func private @ext(tensor<*xf32>) -> tensor<*xf32>
func.func @main(%x: tensor<*xf32>, %i: index) -> (f32, tensor<*xf32>) {
  %y = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
  %e = tensor.extract %y[%i] : tensor<4xf32>
  %z = func.call @ext(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %e, %z : f32, tensor<*xf32>
}""")
    (copied,) = parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{_KEPT})").run(module)
    text = str(module)
    assert "memref<*xf32> to memref<4xf32, strided<[?], offset: ?>>" in text
    assert "memref.copy %" in text
    assert text.count("memref<*xf32> to memref<*xf32>") == 1
    assert (copied.reason, copied.size) == (Reason.NOT_FOLLOWED, "4*(elements of memref<*xf32>)")
    assert copied.at({}).bytes == 0


@pytest.mark.parametrize(
    "body",
    [
        "%k = tensor.rank %x : tensor<*xf32>\n return %k, %x : index, tensor<*xf32>",
        "%k = tensor.dim %x, %i : tensor<*xf32>\n return %k, %x : index, tensor<*xf32>",
        "%s = arith.select %c, %x, %x : tensor<*xf32>\n return %i, %s : index, tensor<*xf32>",
        """%r = tensor.cast %x : tensor<*xf32> to tensor<?xf32>
  %k = tensor.dim %r, %i : tensor<?xf32>
  return %k, %x : index, tensor<*xf32>""",
        """%s = scf.if %c -> tensor<*xf32> { scf.yield %x : tensor<*xf32> } else { scf.yield %x : tensor<*xf32> }
  return %i, %s : index, tensor<*xf32>""",
    ],
)
def test_functions_that_keep_their_tensors_take_what_mlir_takes(body: str) -> None:
    """As many allocations, and the same signature, as MLIR's own pass; nothing is copied."""
    text = f"func.func @main(%x: tensor<*xf32>, %i: index, %c: i1) -> (index, tensor<*xf32>) {{\n{body}\n}}"
    ours, theirs = parse(text), parse(text)
    decisions = parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{_KEPT})").run(ours)
    parse_pipeline("builtin.module(one-shot-bufferize)").run(theirs)
    assert not decisions
    for module in (str(ours), str(theirs)):
        assert "memref.alloc" not in module
        assert "(%arg0: tensor<*xf32>, %arg1: index, %arg2: i1) -> (index, tensor<*xf32>)" in module


def _decided(body: str) -> list[tuple[str, Reason]]:
    module = parse(f"""
func.func private @ext(tensor<*xf32>) -> tensor<*xf32>
func.func @main(%x: tensor<*xf32>, %v: f32, %c: i1) -> (tensor<*xf32>, tensor<*xf32>) {{
  %zero = arith.constant 0 : index
  %y = func.call @ext(%x) : (tensor<*xf32>) -> tensor<*xf32>
  {body}
}}""")
    decisions = parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)
    assert all(str(each.outcome) == "copied" for each in decisions)
    return [(each.subject, each.reason) for each in decisions]


def test_each_copy_by_rank_is_a_decision_with_its_reason() -> None:
    passed = ("operand 0 of func.call", Reason.NOT_FOLLOWED)
    assert _decided("return %x, %y : tensor<*xf32>, tensor<*xf32>") == [passed, ("result 0", Reason.RETURNED_INPUT)]
    assert _decided("return %y, %y : tensor<*xf32>, tensor<*xf32>") == [passed, ("result 1", Reason.RETURNED_TWICE)]
    selected = "%s = arith.select %c, %x, %y : tensor<*xf32>\n return %s, %y : tensor<*xf32>, tensor<*xf32>"
    assert _decided(selected) == [passed, ("result 0", Reason.NOT_FOLLOWED)]


def test_a_cast_that_is_returned_is_not_copied_for_its_layout() -> None:
    body = """%r = tensor.cast %x : tensor<*xf32> to tensor<?xf32>
  %z = tensor.insert %v into %r[%zero] : tensor<?xf32>
  %u = tensor.cast %z : tensor<?xf32> to tensor<*xf32>
  return %u, %y : tensor<*xf32>, tensor<*xf32>"""
    assert ("operand 0 of bufferization.to_buffer", Reason.NOT_FOLLOWED) in _decided(body)


_REFUSED = {
    "tensor.reshape": "%r = tensor.reshape %u(%s) : (tensor<*xf32>, tensor<1xindex>) -> tensor<4xf32>",
    "func.call_indirect": "func.call_indirect %f(%u) : (tensor<*xf32>) -> ()",
    "bufferization.to_tensor": "%r = bufferization.to_tensor %m : memref<*xf32, 1> to tensor<*xf32>",
}


@pytest.mark.parametrize("name", _REFUSED)
def test_other_ops_are_refused_by_name(name: str) -> None:
    module = parse(f"""
func.func @main(%u: tensor<*xf32>, %s: tensor<1xindex>, %f: (tensor<*xf32>) -> (), %m: memref<*xf32, 1>) {{
  {_REFUSED[name]}
  return
}}""")
    with pytest.raises(BufferizationError, match=rf"`{name}` has a tensor without a rank"):
        parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)


@pytest.mark.parametrize("option", ["allow-unknown-ops", "test-analysis-only", "must-infer-memory-space"])
def test_options_that_keep_tensors_or_spaces_refuse_them(option: str) -> None:
    module = parse("func.func @main(%u: tensor<*xf32>) -> tensor<*xf32> { return %u : tensor<*xf32> }")
    with pytest.raises(BufferizationError, match="`func.func` has a tensor without a rank"):
        parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{{{option}=true}})").run(module)


def test_memory_that_a_tensor_is_made_of_is_no_promise_of_memory_alone() -> None:
    """`restrict` of a tensor's own memory behind a cast: the write is not seen by who reads that memory later."""
    module = parse("""
func.func @main(%x: tensor<4xf32>, %f: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %b = bufferization.to_buffer %x read_only : tensor<4xf32> to memref<4xf32>
  %d = memref.cast %b : memref<4xf32> to memref<?xf32>
  %k = memref.cast %d : memref<?xf32> to memref<4xf32>
  %t = bufferization.to_tensor %k restrict : memref<4xf32> to tensor<4xf32>
  %w = tensor.insert %f into %t[%c0] : tensor<4xf32>
  %s = bufferization.to_tensor %k restrict : memref<4xf32> to tensor<4xf32>
  return %w, %s : tensor<4xf32>, tensor<4xf32>
}""")
    parse_pipeline("builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)").run(module)
    x = np.arange(4, dtype=np.float32)
    run = Executable(module)([x, np.float32(9)], [(4,), (4,)])
    np.testing.assert_array_equal(run.results[0], np.array([9, 1, 2, 3], np.float32))
    np.testing.assert_array_equal(run.results[1], x)
