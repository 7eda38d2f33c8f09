"""Large values in parts: what is found, what is told, and the same numbers before and after."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.analysis.order.axes import Axis, above_view, below_view, cut_dims, read_loops
from hotdesk.analysis.order.splitting import find_split
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.analysis.order.windows import WindowAccess
from hotdesk.errors import OptionError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.split_rows import SplitRows
from tests.harness import run_module
from tests.unit.parsing import function, ops, parse, run

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


MLP = """
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @main(%w: tensor<16x4xf32>, %b: tensor<16xf32>, %v: tensor<4x16xf32>, %x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %c = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<6x16xf32>
  %1 = "hotdesk.contract"(%x, %w, %0) {accumulate = false, equation = "mk,nk->mn"}
      : (tensor<6x4xf32>, tensor<16x4xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %3 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %b : tensor<6x16xf32>, tensor<16xf32>) outs(%0 : tensor<6x16xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %8 = arith.addf %in, %in_2 : f32
      %9 = arith.maximumf %8, %c : f32
      linalg.yield %9 : f32
  } -> tensor<6x16xf32>
  %4 = tensor.empty() : tensor<6x4xf32>
  %5 = "hotdesk.contract"(%3, %v, %4) {accumulate = false, equation = "mk,nk->mn"}
      : (tensor<6x16xf32>, tensor<4x16xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %5 : tensor<6x4xf32>
}
"""
# Scores of two heads in two batches, softmax, and the product with the values, through reshapes.
ATTENTION = """
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#one = affine_map<(a, b, c, d) -> (a, b, c, 0)>
func.func @main(%q: tensor<4x7x2xf32>, %k: tensor<4x2x7xf32>, %v: tensor<4x7x2xf32>) -> tensor<4x7x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x7x7xf32>
  %s = "hotdesk.contract"(%q, %k, %e) {accumulate = false, equation = "bmk,bkn->bmn"}
      : (tensor<4x7x2xf32>, tensor<4x2x7xf32>, tensor<4x7x7xf32>) -> tensor<4x7x7xf32>
  %t = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 2, 7, 7] : tensor<4x7x7xf32> into tensor<2x2x7x7xf32>
  %f = tensor.empty() : tensor<2x2x7x7xf32>
  %x = linalg.map { math.exp } ins(%t : tensor<2x2x7x7xf32>) outs(%f : tensor<2x2x7x7xf32>)
  %n = tensor.empty() : tensor<2x2x7x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%n : tensor<2x2x7x1xf32>) -> tensor<2x2x7x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x2x7x7xf32>) outs(%z : tensor<2x2x7x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = arith.addf %in, %out : f32
      linalg.yield %8 : f32
  } -> tensor<2x2x7x1xf32>
  %p = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %m : tensor<2x2x7x7xf32>, tensor<2x2x7x1xf32>) outs(%f : tensor<2x2x7x7xf32>) {
    ^bb0(%in: f32, %d: f32, %out: f32):
      %8 = arith.divf %in, %d : f32
      linalg.yield %8 : f32
  } -> tensor<2x2x7x7xf32>
  %c = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<2x2x7x7xf32> into tensor<4x7x7xf32>
  %g = tensor.empty() : tensor<4x7x2xf32>
  %r = "hotdesk.contract"(%c, %v, %g) {accumulate = false, equation = "bmk,bkn->bmn"}
      : (tensor<4x7x7xf32>, tensor<4x7x2xf32>, tensor<4x7x2xf32>) -> tensor<4x7x2xf32>
  return %r : tensor<4x7x2xf32>
}
"""
CONVOLUTIONS = """
#c = affine_map<(n, c, h, w) -> (c)>
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>, %x: tensor<5x3x6x6xf32>) -> tensor<5x8x3x3xf32> {
  %e = tensor.empty() : tensor<5x8x6x6xf32>
  %f = linalg.generic {indexing_maps = [#c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<5x8x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
  } -> tensor<5x8x6x6xf32>
  %y = "hotdesk.conv"(%x, %w, %f) {accumulate = true, dilations = array<i64: 1, 1>, groups = 1 : i64,
      input_dilations = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<5x3x6x6xf32>, tensor<8x3x3x3xf32>, tensor<5x8x6x6xf32>) -> tensor<5x8x6x6xf32>
  %g = tensor.empty() : tensor<5x8x3x3xf32>
  %r = "hotdesk.pool"(%y, %g) {accumulate = false, dilations = array<i64: 1, 1>, kind = "max", pad_high = array<i64: 0, 0>,
      pad_low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>}
      : (tensor<5x8x6x6xf32>, tensor<5x8x3x3xf32>) -> tensor<5x8x3x3xf32>
  return %r : tensor<5x8x3x3xf32>
}
"""
INPUTS = {
    MLP: (floats(16, 4), floats(16), floats(4, 16), floats(6, 4)),
    ATTENTION: (floats(4, 7, 2), floats(4, 2, 7), floats(4, 7, 2)),
    CONVOLUTIONS: (floats(8, 3, 3, 3), floats(8), floats(5, 3, 6, 6)),
}


def decide(text: str, one: Pass) -> tuple[Decision, ...]:
    module = parse(text)
    with entered(module.operation):
        return one.run(module)


@pytest.mark.parametrize("parts", [2, 3, 4, 100])
@pytest.mark.parametrize("text", [MLP, ATTENTION, CONVOLUTIONS], ids=["mlp", "attention", "convolutions"])
def test_the_same_numbers_in_parts(text: str, parts: int) -> None:
    split = run(parse(text), SplitRows(parts=parts, least_bytes=100), EliminateEmptyTensors())
    assert split.count("insert_slice") > text.count("insert_slice")
    for before, after in zip(run_module(text, *INPUTS[text]), run_module(split, *INPUTS[text]), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-6)


def test_what_is_told_of_a_split() -> None:
    (made,) = decide(MLP, SplitRows(parts=3, least_bytes=300))
    assert made.subject == "result of hotdesk.contract, 384 bytes, in 3 parts"
    assert (str(made.outcome), str(made.reason), made.bytes) == ("split", "part-by-part", 256)
    assert [source.op for source in made.because] == ["hotdesk.contract", "linalg.generic", "hotdesk.contract"]


def test_only_one_operation_along_one_dimension() -> None:
    line = StraightLine(function(parse(MLP)))
    number = next(i for i, op in enumerate(line.ops) if op.name == "hotdesk.contract")
    assert len(decide(MLP, SplitRows(only=number, least_bytes=1))) == 1
    assert decide(MLP, SplitRows(only=number, dim=1, least_bytes=1)) == ()  # what the second reads is as large
    assert decide(MLP, SplitRows(only=number, dim=7, least_bytes=1)) == ()
    assert decide(MLP, SplitRows(only=0, least_bytes=1)) == ()
    assert decide(MLP, SplitRows(least_bytes=385)) == ()


def test_fewer_than_two_parts() -> None:
    with pytest.raises(OptionError, match="option 'parts' of pass 'hotdesk-split-rows': expected 2 or more, got 1"):
        decide(MLP, SplitRows(parts=1))


def test_heads_are_cut_where_reshapes_allow_it() -> None:
    """Four heads seen as two times two: along the outer dimension there are two parts of two heads, not four."""
    line = StraightLine(function(parse(ATTENTION)))
    scores = next(op for op in line.ops if op.name == "hotdesk.contract").results[0]
    split = find_split(line, scores, 0, large=1)
    assert split is not None
    assert split.units == 2
    assert {op.operation.name for op in split.ops} >= {"tensor.expand_shape", "linalg.map", "tensor.collapse_shape"}
    rows = find_split(line, scores, 1, large=1)
    assert rows is not None
    assert rows.units == 7
    assert find_split(line, scores, 2, large=1) is None  # what comes of it is as large
    assert cut_dims(scores) == [0, 1, 2]


def test_a_value_that_is_returned_or_read_whole_is_not_split() -> None:
    square = """
    func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
      %e = tensor.empty() : tensor<4x4xf32>
      %a = linalg.map { math.exp } ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>)
      %p = "hotdesk.contract"(%a, %a, %e) {accumulate = false, equation = "mk,kn->mn"}
          : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %b = linalg.map { math.tanh } ins(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>)
      return %p, %b : tensor<4x4xf32>, tensor<4x4xf32>
    }"""
    assert decide(square, SplitRows(least_bytes=1)) == ()


def test_a_value_read_in_parts_and_as_a_whole_by_one_operation() -> None:
    """Each element of `%a` less the first one: `%a` is there as a whole, and parts of it are read beside."""
    text = """
    #first = affine_map<(a, b) -> (0, 0)>
    #id = affine_map<(a, b) -> (a, b)>
    func.func @main(%x: tensor<6x8xf32>, %f: tensor<6xf32>) -> tensor<6xf32> {
      %e = tensor.empty() : tensor<6x8xf32>
      %a = linalg.map { math.exp } ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>)
      %b = linalg.generic {indexing_maps = [#first, #id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a, %a : tensor<6x8xf32>, tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) {
        ^bb0(%p: f32, %q: f32, %o: f32):
          %s = arith.subf %q, %p : f32
          linalg.yield %s : f32
      } -> tensor<6x8xf32>
      %r = linalg.reduce { arith.addf } ins(%b : tensor<6x8xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
      return %r : tensor<6xf32>
    }"""
    split = run(parse(text), SplitRows(parts=2, least_bytes=100))
    assert split.count("tensor<6x8xf32>) -> tensor<3x8xf32>") == 0
    assert split.count("linalg.generic") == 2
    x, f = floats(6, 8), floats(6)
    np.testing.assert_allclose(run_module(split, x, f)[0], run_module(text, x, f)[0], rtol=1e-5)


def test_nothing_in_parts_crosses_what_works_on_memory() -> None:
    """Parts run where the last of the operations stood."""
    text = MLP.replace("%x: tensor<6x4xf32>)", "%x: tensor<6x4xf32>, %m: memref<f32>)")
    assert decide(text, SplitRows(parts=2, least_bytes=1)) != ()
    written = text.replace("  %5 =", "  memref.store %c, %m[] : memref<f32>\n  %5 =")
    assert decide(written, SplitRows(parts=2, least_bytes=1)) == ()


def test_what_has_no_elements_is_not_cut() -> None:
    """There are no slices of it: MLIR refuses an offset of 0 in a dimension of size 0."""
    text = """
func.func @main(%x: tensor<4x0xf32>, %w: tensor<0x3xf32>) -> tensor<4xf32> {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x0xf32>, tensor<0x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %o = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%c : f32) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<4x3xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}"""
    for given, cut in ((text, 0), (text.replace("x0xf32", "x1xf32").replace("<0x", "<1x"), 1)):
        split = run(parse(given), SplitRows(least_bytes=48))
        assert len(ops(parse(split), "linalg.matmul")) == 1 + cut


def test_what_needs_a_result_in_between_stays() -> None:
    """`%s` reads a result that would be there only after the last part, and the last operation reads `%s`."""
    text = """
    func.func @main(%x: tensor<4x9xf32>) -> tensor<4xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x9xf32>
      %n = tensor.empty() : tensor<4xf32>
      %f = linalg.fill ins(%z : f32) outs(%n : tensor<4xf32>) -> tensor<4xf32>
      %a = linalg.map { math.exp } ins(%x : tensor<4x9xf32>) outs(%e : tensor<4x9xf32>)
      %r = linalg.reduce { arith.addf } ins(%a : tensor<4x9xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
      %s = tensor.cast %r : tensor<4xf32> to tensor<?xf32>
      %t = tensor.cast %s : tensor<?xf32> to tensor<4xf32>
      %q = linalg.reduce { arith.addf } ins(%a : tensor<4x9xf32>) outs(%t : tensor<4xf32>) dimensions = [1]
      return %q : tensor<4xf32>
    }"""
    assert decide(text, SplitRows(least_bytes=100)) == ()


def test_views_hand_cuts_on() -> None:
    module = parse(
        """
    func.func @main(%x: tensor<6x4x5xf32>, %y: tensor<1x6xf32>) -> (tensor<24x5xf32>, tensor<2x3x4x5xf32>, tensor<6x2xf32>) {
      %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<6x4x5xf32> into tensor<24x5xf32>
      %b = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [2, 3, 4, 5] : tensor<6x4x5xf32> into tensor<2x3x4x5xf32>
      %c = tensor.extract_slice %x[0, 1, 0] [6, 1, 2] [1, 1, 1] : tensor<6x4x5xf32> to tensor<6x2xf32>
      return %a, %b, %c : tensor<24x5xf32>, tensor<2x3x4x5xf32>, tensor<6x2xf32>
    }"""
    )
    (collapse,), (expand,), (part,) = (
        ops(module, f"tensor.{n}") for n in ("collapse_shape", "expand_shape", "extract_slice")
    )
    assert below_view(collapse, Axis(0, 2)) == Axis(0, 8)
    assert below_view(collapse, Axis(1, 1)) is None
    assert below_view(collapse, Axis(2, 1)) == Axis(1, 1)
    assert above_view(collapse, Axis(0, 8)) == Axis(0, 2)
    assert above_view(collapse, Axis(0, 3)) is None
    assert below_view(expand, Axis(0, 3)) == Axis(0, 1)
    assert below_view(expand, Axis(0, 2)) is None
    assert above_view(expand, Axis(0, 1)) == Axis(0, 3)
    assert below_view(part, Axis(0, 2)) == Axis(0, 2)
    assert below_view(part, Axis(2, 1)) is None
    assert above_view(part, Axis(0, 2)) == Axis(0, 2)
    assert above_view(part, Axis(1, 1)) is None


def test_loops_that_ask_for_their_number_and_taps_of_windows_are_not_cut() -> None:
    module = parse(
        """
    #sum = affine_map<(a, b, c) -> (a, b + c)>
    #kernel = affine_map<(a, b, c) -> (c)>
    #id = affine_map<(a, b, c) -> (a, b)>
    func.func @main(%x: tensor<4x7xi64>, %w: tensor<3xi64>, %e: tensor<4x5xi64>) -> tensor<4x5xi64> {
      %r = linalg.generic {indexing_maps = [#sum, #kernel, #id], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<4x7xi64>, tensor<3xi64>) outs(%e : tensor<4x5xi64>) {
        ^bb0(%in: i64, %k: i64, %out: i64):
          %i = linalg.index 0 : index
          %j = arith.index_cast %i : index to i64
          %s = arith.addi %in, %j : i64
          %t = arith.addi %out, %s : i64
          linalg.yield %t : i64
      } -> tensor<4x5xi64>
      return %r : tensor<4x5xi64>
    }"""
    )
    loops = read_loops(ops(module, "linalg.generic")[0])
    assert loops is not None
    assert loops.free == frozenset({1})
    assert loops.windows == {(0, 1): WindowAccess(1, 3, 7)}
