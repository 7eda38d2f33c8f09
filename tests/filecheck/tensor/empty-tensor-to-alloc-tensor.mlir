// RUN: %hotdesk-opt %s --hotdesk-empty-tensor-to-alloc-tensor | FileCheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    [[N:%.*]]: index)
// CHECK-NEXT:    bufferization.alloc_tensor([[N]]) : tensor<?x0xf32>
// CHECK-NEXT:    bufferization.alloc_tensor() : tensor<f32>
// CHECK-NOT:     tensor.empty
func.func @sizes(%n: index) -> (tensor<?x0xf32>, tensor<f32>) {
  %a = tensor.empty(%n) : tensor<?x0xf32>
  %b = tensor.empty() : tensor<f32>
  return %a, %b : tensor<?x0xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         scf.for
// CHECK-NEXT:      bufferization.alloc_tensor() : tensor<4xf32>
func.func @in_a_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %x) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.map { math.exp } ins(%o : tensor<4xf32>) outs(%e : tensor<4xf32>)
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @nothing() {
func.func @nothing() {
  return
}
