// RUN: %hotdesk-opt %s --pass-pipeline='builtin.module(hotdesk-normalize-named-ops,canonicalize,func.func(cse),hotdesk-one-shot-bufferize)' | FileCheck %s

// MLIR's passes run between ours: what the first leaves dead, the second removes.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    "hotdesk.contract"
// CHECK-SAME:    accumulate = false
// CHECK-NEXT:    return
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
