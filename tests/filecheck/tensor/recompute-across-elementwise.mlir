// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=7 least-bytes=100 elementwise" | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-recompute-across="across=7 least-bytes=100 elementwise" --remarks-filter="recompute" 2>&1 | FileCheck %s --check-prefix=WHY

// While the wide value, operation 7, is made, the first one is not kept.
// WHY: remark: [Passed] RECOMPUTED | Category:recompute | Function=again | Reason=not-kept-at-peak, Bytes=256
// CHECK-LABEL: func.func @again(
// CHECK-SAME:    [[X:%.*]]: tensor<64xf32>, [[Y:%.*]]: tensor<8xf32>)
// CHECK:         [[A:%.*]] = linalg.map { math.exp } ins([[X]] : tensor<64xf32>)
// CHECK:         linalg.reduce { arith.addf } ins([[A]] : tensor<64xf32>)
// CHECK:         linalg.broadcast
// CHECK:         [[C:%.*]] = linalg.reduce
// CHECK:         [[B:%.*]] = linalg.map { math.exp } ins([[X]] : tensor<64xf32>)
// CHECK-NEXT:    linalg.map { arith.addf } ins([[B]], [[C]] : tensor<64xf32>, tensor<64xf32>)
func.func @again(%x: tensor<64xf32>, %y: tensor<8xf32>) -> (tensor<f32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %n = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%n : tensor<f32>) -> tensor<f32>
  %a = linalg.map { math.exp } ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>)
  %s = linalg.reduce { arith.addf } ins(%a : tensor<64xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %w = tensor.empty() : tensor<64x8xf32>
  %b = linalg.broadcast ins(%y : tensor<8xf32>) outs(%w : tensor<64x8xf32>) dimensions = [0]
  %m = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce { arith.addf } ins(%b : tensor<64x8xf32>) outs(%m : tensor<64xf32>) dimensions = [1]
  %r = linalg.map { arith.addf } ins(%a, %c : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>)
  return %s, %r : tensor<f32>, tensor<64xf32>
}
