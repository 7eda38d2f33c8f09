"""Values computed late: the same numbers before and after, what moves where, and what nothing crosses."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.tensor.compute_late import ComputeLate
from tests.harness import check_module, run_module
from tests.unit.parsing import function, parse, run

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


WAITING = """
func.func private @seen(tensor<8xf32>) -> tensor<8xf32>
func.func @main(%x: tensor<8xf32>, %y: tensor<8x8xf32> SAID, %m: memref<f32>, %ok: i1) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %wide = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  BETWEEN
  %s = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  READER
  return %r, %s : tensor<8x8xf32>, tensor<8xf32>
}"""
READER = "%r = linalg.map { arith.addf } ins(%wide, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)"
IN_A_LOOP = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %y) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%wide, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    scf.yield %next : tensor<8x8xf32>
  }"""
WRITTEN = """%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%wide : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.subf %o, %a : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>"""


def waiting(*, said: str = "", between: str = "", reader: str = READER) -> str:
    return WAITING.replace("SAID", said).replace("BETWEEN", between).replace("READER", reader)


def decide(text: str) -> tuple[Decision, ...]:
    module = parse(text)
    with entered(module.operation):
        return ComputeLate().run(module)


def names(text: str) -> list[str]:
    return [op.name for op in top_level_ops(function(parse(text)))]


def moves(text: str) -> bool:
    """Whether the broadcast waits behind the sum."""
    after = names(run(parse(text), ComputeLate()))
    return after.index("linalg.broadcast") > after.index("linalg.reduce")


@pytest.mark.parametrize("reader", [READER, IN_A_LOOP, WRITTEN], ids=["map", "loop", "written"])
@pytest.mark.parametrize("said", ["", "{hotdesk.donated}"], ids=["kept", "donated"])
def test_the_same_numbers(said: str, reader: str) -> None:
    """Also where what is read in between is overwritten by the reader, and where the reader is a loop."""
    text = waiting(said=said, reader=reader)
    assert moves(text)
    x, y = floats(8), floats(8, 8)
    text = text.replace(", %m: memref<f32>, %ok: i1", "")
    after = run(parse(text), ComputeLate())
    for a, b in zip(run_module(text, x, y), run_module(after, x, y), strict=True):
        np.testing.assert_array_equal(a, b)
    check_module(after, x, y)


UPDATED = """
func.func @main(%x: tensor<16x8xf32>, %w: tensor<8x8xf32> {hotdesk.donated}, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %large = tensor.empty() : tensor<16x8xf32>
  %a = "hotdesk.contract"(%x, %w, %large) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<16x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %b = linalg.map { math.exp } ins(%y : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %u = linalg.map { arith.addf } ins(%w, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { math.tanh } ins(%a : tensor<16x8xf32>) outs(%large : tensor<16x8xf32>)
  return %u, %r : tensor<8x8xf32>, tensor<16x8xf32>
}"""


@pytest.mark.parametrize("overwritten", [True, False])
def test_what_is_updated_is_read_before(overwritten: bool) -> None:
    """The sum is put over `%w`; where the product waited, and read the old value, it could not be.

    The product is larger than `%w`, so that rule 4 would let it wait.
    """
    text = UPDATED if overwritten else UPDATED.replace("{hotdesk.donated}", "")
    after = names(run(parse(text), ComputeLate()))
    assert (after.index("hotdesk.contract") < after.index("linalg.map")) == overwritten


def test_what_is_told() -> None:
    (made,) = decide(waiting())
    assert (made.subject, made.bytes) == ("result of linalg.broadcast", 256)
    assert (str(made.outcome), str(made.reason)) == ("reordered", "only-read-later")
    assert [source.op for source in made.because] == ["linalg.broadcast", "linalg.map"]


@pytest.mark.parametrize(
    "between", ["%q = call @seen(%x) : (tensor<8xf32>) -> tensor<8xf32>", 'cf.assert %ok, "not ok"']
)
def test_checks_and_calls_on_values_are_crossed(between: str) -> None:
    assert moves(waiting(between=between))


def test_nothing_crosses_what_works_on_memory() -> None:
    """What is written there may be what a tensor lies in."""
    assert not moves(waiting(between="memref.store %z, %m[] : memref<f32>"))
    module = waiting(between='%q = "shape.const_size"() {value = 3 : index} : () -> !shape.size')
    assert not moves(module)


def test_loops_that_call_stay() -> None:
    """The order of calls is kept."""
    reader = READER.replace("%y", "%r").replace("%r =", "%b =")  # reads %wide, too, which is there until then
    text = waiting(between=IN_A_LOOP, reader=reader).replace("return %r", "return %b")
    calling = text.replace("scf.yield", "%q = func.call @seen(%x) : (tensor<8xf32>) -> tensor<8xf32>\n    scf.yield")
    after = names(run(parse(text), ComputeLate()))
    assert after.index("linalg.reduce") < after.index("scf.for")
    after = names(run(parse(calling), ComputeLate()))
    assert after.index("scf.for") < after.index("linalg.reduce")


def test_what_is_returned_is_not_put_off() -> None:
    text = waiting(reader="").replace("return %r", "return %wide")
    assert not moves(text)
    assert decide(text) == ()


def test_views_wait_with_what_they_show() -> None:
    reader = """%w = tensor.extract_slice %wide[2, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %r = tensor.insert_slice %w into %y[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>"""
    text = waiting(reader=reader)
    assert moves(text)
    x, y = floats(8), floats(8, 8)
    text = text.replace(", %m: memref<f32>, %ok: i1", "")
    found, _ = run_module(run(parse(text), ComputeLate()), x, y)
    np.testing.assert_array_equal(found, np.concatenate([np.tile(x, (4, 1)), y[4:]]))
