// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// A type that says where its elements lie gets memory in which they lie there, and one copy.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    [[M:%.*]]: memref<?xf32, strided<[1], offset: ?>>)
// CHECK:         [[N:%.*]] = memref.dim [[M]]
// CHECK:         [[S:%.*]] = arith.addi {{.*}}, [[N]]
// CHECK:         [[A:%.*]] = memref.alloc([[S]]) : memref<?xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         [[B:%.*]] = memref.reinterpret_cast [[A]] to offset: [3], sizes: {{\[}}[[N]]], strides: [1]
// CHECK:         linalg.generic {{.*}} ins([[M]] : {{.*}}) outs([[B]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return [[B]] : memref<?xf32, strided<[1], offset: 3>>
func.func @f(%m: memref<?xf32, strided<[1], offset: ?>>) -> memref<?xf32, strided<[1], offset: 3>> {
  %t = bufferization.to_tensor %m restrict : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %b = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32, strided<[1], offset: 3>>
  return %b : memref<?xf32, strided<[1], offset: 3>>
}

// Strides that a type leaves open follow from the ones that it says.
// CHECK-LABEL: func.func @two_dims(
// CHECK:         [[A:%.*]] = memref.alloc() : memref<35xf32>
// CHECK:         [[B:%.*]] = memref.reinterpret_cast [[A]] to offset: [3], sizes: [3, 4], strides: [%{{.*}}, 2]
// CHECK:         linalg.generic {{.*}} outs([[B]] :
// CHECK:         return [[B]]
func.func @two_dims(%m: memref<3x4xf32>) -> memref<3x4xf32, strided<[?, 2], offset: 3>> {
  %t = bufferization.to_tensor %m restrict : memref<3x4xf32> to tensor<3x4xf32>
  %b = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32, strided<[?, 2], offset: 3>>
  return %b : memref<3x4xf32, strided<[?, 2], offset: 3>>
}
