// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=10 least-bytes=64" | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=10 least-bytes=64 most-cost=10" | FileCheck %s --check-prefix=LITTLE
// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=10 least-bytes=64 elementwise" | FileCheck %s --check-prefix=LITTLE
// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=10 least-bytes=257" | FileCheck %s --check-prefix=LITTLE
// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=10 least-bytes=64" --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY

// The sum of %w is operation 10. %b is not kept while it runs: the product that it is made of is done again, too.
// WHY: result of linalg.map, by 2 operations: recomputed: not-kept-at-peak, 256 bytes
// CHECK-LABEL: func.func @again(
// CHECK-SAME:    [[X:%.*]]: tensor<8x4xf32>, [[W:%.*]]: tensor<4x8xf32>
// CHECK:         "hotdesk.contract"([[X]], [[W]]
// CHECK:         linalg.map { math.exp }
// CHECK:         linalg.reduce
// CHECK:         linalg.reduce
// CHECK:         linalg.broadcast
// CHECK:         [[A:%.*]] = "hotdesk.contract"([[X]], [[W]]
// CHECK:         [[B:%.*]] = linalg.map { math.exp } ins([[A]] : tensor<8x8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[B]],
// LITTLE-LABEL: func.func @again(
// LITTLE-COUNT-1: hotdesk.contract
// LITTLE-NOT:     hotdesk.contract
func.func @again(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %n = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %h = linalg.fill ins(%z : f32) outs(%n : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %c = linalg.map { math.tanh } ins(%s : tensor<8xf32>) outs(%v : tensor<8xf32>)
  %t = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%h : tensor<8xf32>) dimensions = [0]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %r = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %c, %r : tensor<8xf32>, tensor<8x8xf32>
}
