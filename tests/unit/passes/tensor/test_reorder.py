"""Operations in an order with a lower peak: what is estimated, what is decided, and the same numbers before and after."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.analysis.order.schedules import Stretch, read_stretch, used_in_other_blocks
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import OptionError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.tensor.reorder import ReorderForPeak
from tests.harness import check_module
from tests.unit.parsing import elementwise, function, parse, run

WIDE, NARROW = "tensor<64xf32>", "tensor<f32>"


def summed(source: str, into: str) -> str:
    return f"linalg.reduce {{ arith.addf }} ins({source} : {WIDE}) outs({into} : {NARROW}) dimensions = [0]"


BRANCHES = f"""
func.func @main(%x: {WIDE}) -> {NARROW} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {WIDE}
  %n = tensor.empty() : {NARROW}
  %f = linalg.fill ins(%z : f32) outs(%n : {NARROW}) -> {NARROW}
  %a = {elementwise("arith.addf", ["%x", "%x"], "%e", "64")}
  %b = {elementwise("arith.mulf", ["%x", "%x"], "%e", "64")}
  %c = {elementwise("arith.negf", ["%x"], "%e", "64")}
  %p = {summed("%a", "%f")}
  %q = {summed("%b", "%p")}
  %r = {summed("%c", "%q")}
  return %r : {NARROW}
}}
"""
SYMBOLIC = """
func.func @main(%x: tensor<?xf32> {hotdesk.shape = ["n"]}, %y: tensor<?xf32> {hotdesk.shape = ["m"]})
    -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %m = tensor.dim %y, %i : tensor<?xf32>
  %d = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %a = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>)
  %b = linalg.map { math.tanh } ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>)
  %c = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %g = linalg.reduce { arith.addf } ins(%b : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %c, %g : tensor<f32>, tensor<f32>
}
"""
ONLY_FOR_SOME = """
func.func @main(%x: tensor<?xf32> {hotdesk.shape = ["n"]}, %y: tensor<?xf64> {hotdesk.shape = ["m"]})
    -> (tensor<?xi16>, tensor<?xi8>) {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %m = tensor.dim %y, %i : tensor<?xf64>
  %d = tensor.empty(%n) : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf64>
  %f = tensor.empty(%n) : tensor<?xi16>
  %g = tensor.empty(%n) : tensor<?xi8>
  %a = linalg.map { math.exp } ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>)
  %b = linalg.map { math.exp } ins(%y : tensor<?xf64>) outs(%e : tensor<?xf64>)
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%f : tensor<?xi16>) {
    ^bb0(%v: f32, %o: i16):
      %t = arith.fptosi %v : f32 to i16
      linalg.yield %t : i16
    } -> tensor<?xi16>
  %q = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<?xf64>) outs(%g : tensor<?xi8>) {
    ^bb0(%v: f64, %o: i8):
      %t = arith.fptosi %v : f64 to i8
      linalg.yield %t : i8
    } -> tensor<?xi8>
  return %p, %q : tensor<?xi16>, tensor<?xi8>
}
"""


def stretch_of(text: str, *, returned: bool = False) -> Stretch:
    record = read_function(function(parse(text)))
    return read_stretch(record, record.blocks[0], {}, used_in_other_blocks(record), 100, returned=returned)


def decide(text: str, one: ReorderForPeak) -> tuple[Decision, ...]:
    module = parse(text)
    with entered(module.operation):
        return one.run(module)


def test_tasks_and_displacements() -> None:
    found = stretch_of(BRANCHES)
    names = [found.operations[position].name for position in found.tasks]
    assert names == ["linalg.fill", *["linalg.generic"] * 3, *["linalg.reduce"] * 3]
    assert found.problem.sizes == (0, 256, 256, 256, 0, 0, 0)  # the sum begins and ends in the caller's memory
    assert [task.displacements for task in found.problem.tasks[-3:]] == [((4, 0),), ((5, 4),), ((6, 5),)]
    assert stretch_of(BRANCHES, returned=True).problem.sizes == (4, 256, 256, 256, 4, 4, 4)


def test_symbols_count_as_assumed() -> None:
    found = stretch_of(SYMBOLIC)
    assert found.problem.sizes == (4, 400, 400, 0, 0)
    assert [str(size) for size in found.sizes] == ["4", "4*n", "4*m", "0", "0"]


@pytest.mark.parametrize(("results", "before", "after"), [("out-params", 768, 256), ("returned", 772, 260)])
def test_decision(results: str, before: int, after: int) -> None:
    (made,) = decide(BRANCHES, ReorderForPeak(results=results))
    assert made.subject == f"order of @main: {after} bytes at the peak, {before} before"
    assert (str(made.outcome), str(made.reason), made.bytes) == ("reordered", "lowest-peak", before - after)
    assert str(made.because[0]).startswith("func.func")


def test_again_changes_nothing() -> None:
    once = run(parse(BRANCHES), ReorderForPeak())
    (made,) = decide(once, ReorderForPeak())
    assert (str(made.outcome), str(made.reason)) == ("order kept", "no-order-below")
    assert run(parse(once), ReorderForPeak()) == once


def test_one_order_for_some_sizes_only() -> None:
    """Narrowing %b first would need 9 n bytes for m = n, where 14 n are needed as given; but 7 n for m = 0, where it is 6 n."""
    (made,) = decide(ONLY_FOR_SOME, ReorderForPeak(results="returned"))
    assert (str(made.outcome), str(made.reason)) == ("order kept", "peak-depends-on-sizes")
    assert made.subject == f"order of @main: {14 * 256} bytes at the peak if unknown sizes are 256"


def test_one_order_for_all_sizes() -> None:
    (made,) = decide(SYMBOLIC, ReorderForPeak())
    assert (str(made.outcome), made.bytes) == ("reordered", 4 * 256)


def test_an_element_type_without_a_size() -> None:
    (made,) = decide("func.func @main(%x: tensor<4x!llvm.ptr>) { return }", ReorderForPeak())
    assert (str(made.outcome), str(made.reason)) == ("order kept", "unsized-element")


def test_nothing_to_decide() -> None:
    assert decide("func.func @main() { return }", ReorderForPeak()) == ()


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (ReorderForPeak(results="nowhere"), "option 'results' of pass 'hotdesk-reorder-for-peak'.*'nowhere'"),
        (ReorderForPeak(max_states=-1), "option 'max-states'.*from 0 on.*-1"),
        (ReorderForPeak(assumed_size=0), "option 'assumed-size'.*from 1 on.*0"),
    ],
)
def test_options(one: ReorderForPeak, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        decide(BRANCHES, one)


def test_the_same_numbers() -> None:
    numbers = np.random.default_rng(1)
    check_module(run(parse(BRANCHES), ReorderForPeak()), numbers.standard_normal(64, dtype=np.float32))


@pytest.mark.parametrize(("n", "m"), [(5, 3), (0, 4), (0, 0)])
def test_the_same_numbers_for_all_sizes(n: int, m: int) -> None:
    numbers = np.random.default_rng(2)
    x, y = numbers.standard_normal(n, dtype=np.float32), numbers.standard_normal(m, dtype=np.float32)
    check_module(run(parse(SYMBOLIC), ReorderForPeak()), x, y, pipelines=["everything"])
