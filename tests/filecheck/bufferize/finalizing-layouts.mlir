// RUN: %hotdesk-opt %s --hotdesk-finalizing-bufferize --print-decisions 2>&1 | FileCheck %s

// What is asked for lies elsewhere than what there is, in strides that are not known: a copy, by columns.
// CHECK:       decision: materialization: copied: different-layout, 48 bytes
// CHECK-LABEL: func.func @unknown_stride(
// CHECK-SAME:    [[M:%.*]]: memref<3x4xf32>)
// CHECK:         [[A:%.*]] = memref.alloc() : memref<35xf32>
// CHECK:         [[B:%.*]] = memref.reinterpret_cast [[A]] to offset: [3], sizes: [3, 4]
// CHECK:         linalg.generic {{.*}} ins([[M]] : memref<3x4xf32>) outs([[B]] : memref<3x4xf32, strided<[?, 2], offset: 3>>)
// CHECK:         return [[B]]
func.func @unknown_stride(%m: memref<3x4xf32>) -> memref<3x4xf32, strided<[?, 2], offset: 3>> {
  %t = bufferization.to_tensor %m restrict : memref<3x4xf32> to tensor<3x4xf32>
  %b = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32, strided<[?, 2], offset: 3>>
  return %b : memref<3x4xf32, strided<[?, 2], offset: 3>>
}
