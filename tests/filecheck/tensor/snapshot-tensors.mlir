// RUN: %hotdesk-opt %s --split-input-file --hotdesk-snapshot-tensors --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-snapshot-tensors=arguments-apart=true | FileCheck %s --check-prefix=APART

// Rule 1: what is read behind the store is what was there in front of it.
// CHECK:       decision: result of bufferization.to_tensor: copied: read-later, 16 bytes
// CHECK-LABEL: func.func @read_behind(
// CHECK-SAME:    [[M:%[^:]*]]: memref<4xf32>
// CHECK:         [[C:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.copy [[M]], [[C]]
// CHECK-NEXT:    [[T:%.*]] = bufferization.to_tensor [[C]] restrict writable
// CHECK-NEXT:    memref.store %{{.*}}, [[M]]
// CHECK-NEXT:    linalg.exp ins([[T]]
func.func @read_behind(%m: memref<4xf32>, %v: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  memref.store %v, %m[%c1] : memref<4xf32>
  %r = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Rule 1: everything that is computed from it stands in front of the store.
// CHECK-LABEL: func.func @read_before(
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @read_before(%m: memref<4xf32>, %v: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %r = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  memref.store %v, %m[%c1] : memref<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Rule 2: between the two the memory is written, so they are not one value, though MLIR's `cse` makes them one.
// CHECK-LABEL: func.func @two_of_one(
// CHECK:         bufferization.to_tensor %arg0 :
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    [[C:%.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.copy %arg0, [[C]]
// CHECK-NEXT:    bufferization.to_tensor [[C]] restrict writable
func.func @two_of_one(%m: memref<4xf32>, %v: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %t = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  memref.store %v, %m[%c1] : memref<4xf32>
  %u = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  return %t, %u : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is stored in may be the same memory, unless arguments are said to lie apart.
// CHECK-LABEL: func.func @another_argument(
// CHECK:         memref.copy
// APART-LABEL: func.func @another_argument(
// APART-NOT:     memref.copy
// APART:         return
func.func @another_argument(%m: memref<4xf32>, %other: memref<4xf32>, %v: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  memref.store %v, %other[%c1] : memref<4xf32>
  %r = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Memory that is allocated here is no argument's.
// CHECK-LABEL: func.func @own_memory(
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @own_memory(%v: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<4xf32>
  %other = memref.alloc() : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  %e = tensor.empty() : tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  memref.store %v, %other[%c1] : memref<4xf32>
  %r = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
