// RUN: %hotdesk-opt %s --split-input-file --hotdesk-finalizing-bufferize --print-decisions 2>&1 | FileCheck %s

// The operand that dies here is read in another order than the result is written.
// CHECK: decision: materialization: copied: different-layout
// CHECK-LABEL: func.func @f(
func.func @f(%m: memref<?xf32, strided<[1], offset: ?>>) -> memref<?xf32, strided<[1], offset: 3>> {
  %t = bufferization.to_tensor %m restrict : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %b = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32, strided<[1], offset: 3>>
  return %b : memref<?xf32, strided<[1], offset: 3>>
}

func.func @two_dims(%m: memref<3x4xf32>) -> memref<3x4xf32, strided<[?, 2], offset: 3>> {
  %t = bufferization.to_tensor %m restrict : memref<3x4xf32> to tensor<3x4xf32>
  %b = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32, strided<[?, 2], offset: 3>>
  return %b : memref<3x4xf32, strided<[?, 2], offset: 3>>
}
