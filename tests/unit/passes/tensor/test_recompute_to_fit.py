"""Values made again until they fit: the same numbers before and after, what is shared, and what nothing crosses."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.tensor.recompute_to_fit import RecomputeToFit
from tests.harness import check_module, run_module
from tests.unit.parsing import function, parse, run

RNG = np.random.default_rng(0)


FITS = 1100
"""Bytes that fit the exponential of `%y` and a sum, nothing else beside."""


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


INPUTS = floats(8, 4), floats(4, 8), floats(8, 32)
MEMORY = ", %m: memref<f32>, %ok: i1"
BACK = """
func.func private @seen(tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @main(%x: tensor<8x4xf32> SAID, %w: tensor<4x8xf32>, %y: tensor<8x32xf32>, %m: memref<f32>, %ok: i1)
    -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %i = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  BETWEEN
  %u = linalg.map { math.exp } ins(%y : tensor<8x32xf32>) outs(%i : tensor<8x32xf32>)
  %t = linalg.reduce { arith.maximumf } ins(%u : tensor<8x32xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %h = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  READER
  return %s, %r : tensor<8xf32>, tensor<8x8xf32>
}"""
READER = "%r = linalg.map { arith.mulf } ins(%a, %h : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)"
IN_A_LOOP = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%sum = %h) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%a, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    scf.yield %next : tensor<8x8xf32>
  }"""
THROUGH_VIEWS = """%p = tensor.extract_slice %a[4, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %q = tensor.extract_slice %p[1, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %r0 = tensor.insert_slice %p into %h[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %r = tensor.insert_slice %q into %r0[5, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>"""


def back(*, said: str = "", between: str = "", reader: str = READER) -> str:
    """`%a` and `%b` are read on both sides of what is four times as large."""
    return BACK.replace("SAID", said).replace("BETWEEN", between).replace("READER", reader)


def names(text: str) -> list[str]:
    return [op.name for op in top_level_ops(function(parse(text)))]


def decide(text: str, fits: int = FITS) -> tuple[Decision, ...]:
    module = parse(text)
    with entered(module.operation):
        return RecomputeToFit(fits).run(module)


def assert_same_numbers(text: str) -> str:
    text = text.replace(MEMORY, "")
    expected = run_module(text, *INPUTS)
    for fits in (1, FITS):
        after = run(parse(text), RecomputeToFit(fits))
        for a, b in zip(expected, run_module(after, *INPUTS), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)  # exponentials are vectorized or not, as LLVM likes
        check_module(after, *INPUTS)
    return after


@pytest.mark.parametrize("reader", [READER, IN_A_LOOP, THROUGH_VIEWS], ids=["map", "loop", "views"])
@pytest.mark.parametrize("said", ["", "{hotdesk.donated}"], ids=["kept", "donated"])
def test_the_same_numbers(said: str, reader: str) -> None:
    """The product is done again once, for both of its readers; an argument that may be overwritten is not kept for that."""
    after = assert_same_numbers(back(said=said, reader=reader))
    assert names(after).count("hotdesk.contract") == (1 if said else 2)
    assert names(after).count("linalg.map") == names(back(reader=reader)).count("linalg.map") + 1


def test_what_is_read_behind_alone_moves() -> None:
    """The operation that nobody reads any more is gone."""
    text = back().replace("ins(%b : tensor<8x8xf32>) outs(%f", "ins(%k : tensor<8x8xf32>) outs(%f")
    text = text.replace(
        "%b = ", "%k = linalg.map { math.sin } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)\n  %b = "
    )
    after = names(assert_same_numbers(text))
    assert after.count("linalg.map") == names(text).count("linalg.map")
    assert after.count("hotdesk.contract") == 2


@pytest.mark.parametrize(
    ("between", "again"),
    [
        ("%q = call @seen(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>", True),
        ('cf.assert %ok, "not ok"', True),
        ("memref.store %z, %m[] : memref<f32>", False),
        ('%q = "shape.const_size"() {value = 3 : index} : () -> !shape.size', False),
    ],
    ids=["call", "assert", "memory", "unknown"],
)
def test_what_is_crossed(between: str, again: bool) -> None:
    assert bool(decide(back(between=between))) == again


def test_what_calls_is_not_done_again() -> None:
    between = "%k = call @seen(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>"
    reader = READER.replace("ins(%a,", "ins(%k,")
    after = run(parse(back(between=between, reader=reader)), RecomputeToFit(1))
    assert after.count("call @seen") == 1


def test_what_is_told() -> None:
    first, second = decide(back())
    assert (first.subject, first.bytes) == ("result of linalg.map, by 1 operation", 256)
    assert (second.subject, second.bytes) == ("result of hotdesk.contract, by 1 operation", 256)
    assert (str(first.outcome), str(first.reason)) == ("recomputed", "not-kept-at-peak")
    assert [source.op for source in first.because] == ["linalg.map", "linalg.map"]


def test_no_more_than_is_too_much() -> None:
    assert len(decide(back(), 1400)) == 1
    assert decide(back(), 4096) == ()


def test_functions_that_it_leaves_alone() -> None:
    """One without operations, one of an element type without a size, one of several blocks."""
    text = """
    func.func @none() { return }
    func.func @unsized(%x: tensor<4x!llvm.ptr>) -> tensor<4x!llvm.ptr> { return %x : tensor<4x!llvm.ptr> }
    func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> { cf.br ^next ^next: return %x : tensor<4xf32> }"""
    assert decide(text) == ()
