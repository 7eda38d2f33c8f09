"""Values made again behind one operation: the same numbers before and after, which ones, and what nothing crosses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.tensor.recompute_across import RecomputeAcross
from tests.harness import check_module, run_module
from tests.unit.parsing import function, parse, run

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


INPUTS = floats(8, 4), floats(4, 8), floats(8, 8)
MEMORY = ", %m: memref<f32>, %ok: i1"
KEPT = """
func.func private @seen(tensor<8xf32>) -> tensor<8xf32>
func.func @main(%x: tensor<8x4xf32> SAID, %w: tensor<4x8xf32>, %y: tensor<8x8xf32>, %m: memref<f32>, %ok: i1)
    -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = MAKER
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  BETWEEN
  %c = linalg.map { math.tanh } ins(%s : tensor<8xf32>) outs(%v : tensor<8xf32>)
  %t = linalg.reduce { arith.maximumf } ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  READER
  return %c, %r : tensor<8xf32>, tensor<8x8xf32>
}"""
MAKER = "linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)"
READER = "%r = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)"
IN_A_LOOP = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %g) -> tensor<8x8xf32> {
    %next = linalg.map { arith.addf } ins(%b, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
    scf.yield %next : tensor<8x8xf32>
  }"""
THROUGH_VIEWS = """%one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %v1 = tensor.extract_slice %b[4, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %v2 = tensor.extract_slice %v1[OFFSET, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %r0 = tensor.insert_slice %v1 into %g[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<8x8xf32>
  %i0 = arith.constant 0 : index
  %n = tensor.extract %r0[%i0, %i0] : tensor<8x8xf32>
  %o = arith.fptosi %n : f32 to i32
  %p = arith.minsi %o, %one : i32
  %q = arith.maxsi %p, %zero : i32
  %i = arith.index_cast %q : i32 to index
  %v3 = tensor.extract_slice %v1[%i, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %r = tensor.insert_slice READ into %r0[5, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>"""
OVERWRITTEN = """linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%a : tensor<8x8xf32>) {
    ^bb0(%o: f32):
      %q = math.exp %o : f32
      linalg.yield %q : f32
    } -> tensor<8x8xf32>"""


def kept(*, said: str = "", maker: str = MAKER, between: str = "", reader: str = READER) -> str:
    text = KEPT.replace("SAID", said).replace("MAKER", maker)
    return text.replace("BETWEEN", between).replace("READER", reader)


def names(text: str) -> list[str]:
    return [op.name for op in top_level_ops(function(parse(text)))]


def behind_the_maximum(text: str, **options: Any) -> RecomputeAcross:
    """Across the second sum, which is a maximum."""
    reductions = [number for number, name in enumerate(names(text)) if name == "linalg.reduce"]
    asked: dict[str, Any] = {"least_bytes": 64, **options}
    return RecomputeAcross(across=reductions[1], **asked)


def decide(text: str, **options: Any) -> tuple[Decision, ...]:
    module, one = parse(text), behind_the_maximum(text, **options)
    with entered(module.operation):
        return one.run(module)


def assert_same_numbers(text: str) -> str:
    text = text.replace(MEMORY, "")
    after = run(parse(text), behind_the_maximum(text))
    for a, b in zip(run_module(text, *INPUTS), run_module(after, *INPUTS), strict=True):
        np.testing.assert_array_equal(a, b)
    check_module(after, *INPUTS)
    return after


@pytest.mark.parametrize("said", ["", "{hotdesk.donated}"], ids=["kept", "donated"])
@pytest.mark.parametrize("reader", [READER, IN_A_LOOP], ids=["map", "loop"])
def test_the_same_numbers(said: str, reader: str) -> None:
    """The product is done again; an argument that may be overwritten and is read no more is not kept for that."""
    after = assert_same_numbers(kept(said=said, reader=reader))
    assert names(after).count("hotdesk.contract") == (1 if said else 2)


def test_what_is_written_over_is_made_again() -> None:
    """The value may lie where its operand did: neither is there any more."""
    after = assert_same_numbers(kept(maker=OVERWRITTEN))
    assert names(after).count("hotdesk.contract") == 2


def test_views_are_made_again() -> None:
    text = kept(reader=THROUGH_VIEWS.replace("OFFSET", "1").replace("READ", "%v2"))
    after = assert_same_numbers(text)
    assert names(after).count("hotdesk.contract") == 2


def test_views_by_what_is_known_later_keep_the_value() -> None:
    """Their offset follows from what the first late reader makes."""
    text = kept(reader=THROUGH_VIEWS.replace("OFFSET", "1").replace("READ", "%v3"))
    assert names(assert_same_numbers(text)) == names(text)


def test_constants_are_not_made_again() -> None:
    text = kept(maker="arith.constant dense<1.5> : tensor<8x8xf32>")
    assert decide(text) == ()
    text = kept(maker="linalg.map { math.exp } ins(%k : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)")
    text = text.replace("%a = ", "%k = arith.constant dense<1.5> : tensor<8x8xf32>\n  %a = ")
    after = assert_same_numbers(text)
    assert (names(after).count("linalg.map"), after.count("dense<1.5")) == (4, 1)


@pytest.mark.parametrize(
    ("between", "again"),
    [
        ("%q = call @seen(%s) : (tensor<8xf32>) -> tensor<8xf32>", True),
        ('cf.assert %ok, "not ok"', True),
        ("memref.store %z, %m[] : memref<f32>", False),
        ('%q = "shape.const_size"() {value = 3 : index} : () -> !shape.size', False),
    ],
    ids=["call", "assert", "memory", "unknown"],
)
def test_what_is_crossed(between: str, again: bool) -> None:
    assert bool(decide(kept(between=between))) == again


def test_what_calls_is_not_done_again() -> None:
    """A call may draw numbers, or have other effects; so may one in a loop."""
    call = "call @seen(%s) : (tensor<8xf32>) -> tensor<8xf32>"
    loop = (
        IN_A_LOOP.replace("%r =", "%k =").replace("%g)", "%y)").replace("scf.yield", f"%q = func.{call}\n    scf.yield")
    )
    for between, value in ((f"%k = {call}", "8"), (loop, "8x8")):
        reader = f"""%u = linalg.map {{ math.sin }} ins(%k : tensor<{value}xf32>) outs(%k : tensor<{value}xf32>)
  {READER}"""
        text = kept(between=between, reader=reader)
        after = run(parse(text), behind_the_maximum(text, least_bytes=1))
        assert after.count("call @seen") == 1
        assert names(after).count("hotdesk.contract") == 2


def test_what_is_told() -> None:
    (made,) = decide(kept())
    assert (made.subject, made.bytes) == ("result of linalg.map, by 2 operations", 256)
    assert (str(made.outcome), str(made.reason)) == ("recomputed", "not-kept-at-peak")
    assert [source.op for source in made.because] == ["linalg.map", "linalg.map"]


def test_no_more_than_is_allowed() -> None:
    assert decide(kept(), most_cost=10) == ()
    assert decide(kept(), least_bytes=257) == ()
    assert RecomputeAcross(across=1000).run(parse(kept())) == ()


def test_element_by_element_alone() -> None:
    """The product that the value is made of is not done again; without it, the value is made again of an argument."""
    assert decide(kept(), elementwise=True) == ()
    text = kept(maker=MAKER.replace("%a", "%y"))
    (made,) = decide(text, elementwise=True)
    assert (made.subject, made.bytes) == ("result of linalg.map, by 1 operation", 256)


def test_chains_of_elementwise_operations() -> None:
    """What is made of an argument, element by element, and is gone by then, is made again too."""
    before = "%k = linalg.map { math.absf } ins(%y : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)\n  %a ="
    text = kept(maker=MAKER.replace("%a", "%k")).replace("%a =", before)
    (made,) = decide(text, elementwise=True)
    assert made.subject == "result of linalg.map, by 2 operations"
    assert_same_numbers(text)


def test_only_one_operation() -> None:
    (number,) = [number for number, name in enumerate(names(kept())) if name == "linalg.map"][:1]
    assert len(decide(kept(), only=number)) == 1
    assert decide(kept(), only=number - 1) == ()
    assert decide(kept(), only=1000) == ()
