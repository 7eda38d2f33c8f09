// RUN: %hotdesk-opt %s --hotdesk-recompute-to-fit="bytes=1100" | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-recompute-to-fit="bytes=4096" | FileCheck %s --check-prefix=FITS
// RUN: %hotdesk-opt %s --hotdesk-recompute-to-fit="bytes=1100" --print-decisions 2>&1 | FileCheck %s --check-prefix=WHY

// Neither %a nor %b is kept while the large %u is there. The product is done again once, for the exponential and for %r.
// WHY: result of linalg.map, by 1 operation: recomputed: not-kept-at-peak, 256 bytes
// WHY: result of hotdesk.contract, by 1 operation: recomputed: not-kept-at-peak, 256 bytes
// CHECK-LABEL: func.func @back(
// CHECK-SAME:    [[X:%.*]]: tensor<8x4xf32>, [[W:%.*]]: tensor<4x8xf32>
// CHECK:         "hotdesk.contract"([[X]], [[W]]
// CHECK:         linalg.map { math.exp }
// CHECK:         linalg.map { math.exp } {{.*}} tensor<8x32xf32>
// CHECK:         linalg.broadcast
// CHECK:         [[A:%.*]] = "hotdesk.contract"([[X]], [[W]]
// CHECK:         [[B:%.*]] = linalg.map { math.exp } ins([[A]] : tensor<8x8xf32>)
// CHECK:         linalg.map { arith.addf } ins([[B]],
// CHECK:         linalg.map { arith.mulf } ins([[A]],
// FITS-LABEL:  func.func @back(
// FITS-COUNT-1: hotdesk.contract
// FITS-NOT:     hotdesk.contract
func.func @back(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %y: tensor<8x32xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %v = tensor.empty() : tensor<8xf32>
  %i = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
  %a = "hotdesk.contract"(%x, %w, %e) {accumulate = false, equation = "mk,kn->mn"}
      : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.map { math.exp } ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %s = linalg.reduce { arith.addf } ins(%b : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %u = linalg.map { math.exp } ins(%y : tensor<8x32xf32>) outs(%i : tensor<8x32xf32>)
  %t = linalg.reduce { arith.maximumf } ins(%u : tensor<8x32xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %g = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %h = linalg.map { arith.addf } ins(%b, %g : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.mulf } ins(%a, %h : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  return %s, %r : tensor<8xf32>, tensor<8x8xf32>
}
