// RUN: %hotdesk-opt %s --hotdesk-use-inplace-calls="test-analysis-only=true" | FileCheck %s

// Live ranges by op number, alias sets, and the operands that results could take over; nothing else changes.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     hotdesk.live_ranges = {"%e" = array<i64: 0, 4>, "%r" = array<i64: 4, 5>, "%v" = array<i64: 2, 3>, "%w" = array<i64: 3, 4>, "%x" = array<i64: 0, 1>, "%y" = array<i64: 1, 2>}
// CHECK-DAG:     hotdesk.alias_sets = {"%e" = ["%e"], "%r" = ["%r"], "%v" = ["%y"], "%w" = ["%y"], "%x" = ["%x"], "%y" = ["%y"]}
// CHECK-DAG:     hotdesk.exact_candidates = {"%r" = [], "%y" = []}
// CHECK-DAG:     hotdesk.large_enough_candidates = {"%r" = ["%w"], "%y" = []}
// CHECK:         linalg.generic {{.*}} outs(%0 : tensor<2x4xi32>)
func.func @main(%x: tensor<8xf32> loc("x")) -> tensor<2x4xi32> {
  %e = tensor.empty() : tensor<2x4xi32> loc("e")
  %y = linalg.map { math.exp } ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) loc("y")
  %v = tensor.cast %y : tensor<8xf32> to tensor<8xf32> loc("v")
  %w = tensor.expand_shape %v [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32> loc("w")
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%w : tensor<2x4xf32>) outs(%e : tensor<2x4xi32>) {
  ^bb0(%a: f32, %o: i32):
    %t = arith.fptosi %a : f32 to i32
    linalg.yield %t : i32
  } -> tensor<2x4xi32> loc("r")
  return %r : tensor<2x4xi32>
}
