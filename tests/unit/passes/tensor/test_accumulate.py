"""Products added up where the rest of a sum lies: the same numbers before and after, which sums are, and which are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.tensor.accumulate import AccumulateInPlace
from tests.harness import run_module
from tests.unit.parsing import parse, run

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


SUM = """
#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#one = affine_map<(i, j) -> ()>
func.func @main(%x: tensor<8x8xf32> SAID, %a: tensor<5x8xf32>, %b: tensor<5x8xf32>, %u: tensor<3x1x8xf32>,
                %i: tensor<3x1xi64>, %s: tensor<f32> MEMORY) -> (RESULTS) {
  %z = arith.constant 0.0 : f32
  %c = arith.constant 0.9 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  BETWEEN
  %q = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x8xf32>, tensor<3x1xi64>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%new: f32, %old: f32):
    %t = ADDED %old, %new : f32
    tm_tensor.yield %t : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#same, PLACED, #same, #one, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p, %q, %s : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%v: f32, %k: f32, %l: f32, %w: f32, %o: f32):
    PAYLOAD
  } -> tensor<8x8xf32>
  return RETURNED
}"""
TENSOR = "tensor<8x8xf32>"
MADE = f"linalg.map {{ math.exp }} ins(%x : {TENSOR}) outs(%e : {TENSOR})"
SCALED = """%1 = arith.mulf %v, %c : f32
    %2 = arith.addf %k, %l : f32
    %3 = arith.mulf %w, %c : f32
    %4 = arith.addf %1, %3 : f32
    %5 = arith.addf %2, %4 : f32
    linalg.yield %5 : f32"""
INPUTS = floats(8, 8), floats(5, 8), floats(5, 8), floats(3, 1, 8), np.array([[1], [6], [1]]), floats()


def total(*, payload: str = SCALED, said: str = "{hotdesk.donated}", between: str = "", **given: str) -> str:
    """`0.9 * x + p + q + 0.9 * s`, of a product and of rows, one of which is added to twice."""
    results, returned = given.get("results", TENSOR), given.get("returned", f"%r : {TENSOR}")
    text = SUM.replace("RESULTS", results).replace("RETURNED", returned).replace("PAYLOAD", payload)
    text = text.replace("PLACED", given.get("placed", "#same")).replace("ADDED", given.get("added", "arith.addf"))
    memory = ", %m: memref<f32>" if "%m" in between else ""
    return text.replace("SAID", said).replace("BETWEEN", between).replace("MEMORY", memory)


def decide(text: str) -> tuple[Decision, ...]:
    module = parse(text)
    with entered(module.operation):
        return AccumulateInPlace(least_bytes=1).run(module)


def accumulators(text: str) -> list[str]:
    """The operations that add up in place."""
    return [source.op for each in decide(text) for source in each.because[:-1]]


PRODUCT, ROWS = "hotdesk.contract", "tm_tensor.scatter"


def assert_same_numbers(text: str) -> None:
    after = run(parse(text), AccumulateInPlace(least_bytes=1))
    for a, b in zip(run_module(text, *INPUTS), run_module(after, *INPUTS), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("x", ["%x", "%y"], ids=["kept", "dies"])
@pytest.mark.parametrize("terms", ["kl", "vl", "wl", "lkw", "vkl"])
def test_the_same_numbers(x: str, terms: str) -> None:
    """With all terms, and with some of them: those left out are summed with the first in another way."""
    added = [f"%{number} = arith.addf %{terms[0] if not number else number - 1}, %{term} : f32" for number, term in
             enumerate(terms[1:])]  # fmt: skip
    payload = "\n    ".join([*added, f"linalg.yield %{len(added) - 1} : f32"])
    for text in (total(said=""), total(said="", payload=payload)):
        text = text.replace("%f =", f"%y = {MADE}\n  %f =", 1).replace("ins(%x, %p", f"ins({x}, %p")
        assert accumulators(text)
        assert_same_numbers(text)


def test_what_is_told() -> None:
    (made,) = decide(total())
    assert (made.subject, made.bytes) == ("result of hotdesk.contract and tm_tensor.scatter", 512)
    assert (str(made.outcome), str(made.reason)) == ("in place", "added-where-it-lies")
    assert [source.op for source in made.because] == [PRODUCT, ROWS, "linalg.generic"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (total(), [PRODUCT, ROWS]),
        (total(said=""), [PRODUCT, ROWS]),  # the product's memory takes the rows at least
        (total(placed="#turned"), [ROWS]),  # the product is read elsewhere than the sum is written
        (total(payload=SCALED.replace("%v, %c", "%k, %c")), [ROWS]),  # and here twice
        (total(payload=SCALED.replace("addf %2, %4", "subf %2, %4")), []),
        (total(added="arith.maximumf"), []),  # the rows are another term, which is made behind the product
        (total(results=f"{TENSOR}, {TENSOR}", returned=f"%r, %q : {TENSOR}, {TENSOR}"), []),
        (total(results=f"{TENSOR}, {TENSOR}", returned=f"%r, %p : {TENSOR}, {TENSOR}"), [ROWS]),
    ],
)
def test_which_add_up(text: str, expected: list[str]) -> None:
    assert accumulators(text) == expected


def test_only_where_it_saves_memory() -> None:
    """One sum of rows, and no operand that dies where it is written: the rest would need what the rows have now."""
    alone = SCALED.replace("addf %k, %l", "mulf %k, %c").replace("addf %1, %3", "addf %1, %l")
    assert accumulators(total(payload=alone, placed="#turned")) == [ROWS]
    assert accumulators(total(payload=alone, placed="#turned", said="")) == []


WRITING = "memref.store %z, %m[] : memref<f32>"


def test_nothing_crosses_what_works_on_memory() -> None:
    """What follows it is added up nevertheless."""
    assert accumulators(total(between="%t0 = arith.addf %z, %z : f32")) == [PRODUCT, ROWS]
    assert accumulators(total(between=WRITING)) == []


def test_what_stands_before_other_terms_is_one() -> None:
    """Of a term that is made behind the product, the sum with the product begins with both."""
    text = total(said="", between=f"%y = {MADE}").replace("ins(%x, %p", "ins(%y, %p")
    assert accumulators(text) == [ROWS]
    assert_same_numbers(text)


@pytest.mark.parametrize(("element", "expected"), [("f32", 1), ("f64", 1), ("i32", 1), ("f16", 0), ("bf16", 0)])
def test_short_floats_are_left_alone(element: str, expected: int) -> None:
    add = "arith.addi" if element == "i32" else "arith.addf"
    text = f"""
#same = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<8x8x{element}>, %a: tensor<5x8x{element}>) -> tensor<8x8x{element}> {{
  %e = tensor.empty() : tensor<8x8x{element}>
  %t = linalg.map {{ {add} }} ins(%x, %x : tensor<8x8x{element}>, tensor<8x8x{element}>) outs(%e : tensor<8x8x{element}>)
  %p = "hotdesk.contract"(%a, %a, %e) {{accumulate = false, equation = "km,kn->mn"}}
      : (tensor<5x8x{element}>, tensor<5x8x{element}>, tensor<8x8x{element}>) -> tensor<8x8x{element}>
  %r = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}}
      ins(%t, %p : tensor<8x8x{element}>, tensor<8x8x{element}>) outs(%e : tensor<8x8x{element}>) {{
  ^bb0(%v: {element}, %k: {element}, %o: {element}):
    %s = {add} %v, %k : {element}
    linalg.yield %s : {element}
  }} -> tensor<8x8x{element}>
  return %r : tensor<8x8x{element}>
}}"""
    assert len(decide(text)) == expected
