// RUN: %hotdesk-opt %s --split-input-file --hotdesk-sink-concat --print-decisions 2>&1 | FileCheck %s

// The operations stand in different blocks, which may run unequally often.
// CHECK: decision: result of tensor.concat: not fused: different-block
// CHECK-LABEL: func.func @f(
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: i1, %o: memref<8xf32>) -> tensor<8xf32> {
  %c = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %k = scf.if %p -> tensor<8xf32> {
    %r = linalg.exp ins(%c : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %r : tensor<8xf32>
  } else {
    scf.yield %e : tensor<8xf32>
  }
  return %k : tensor<8xf32>
}
