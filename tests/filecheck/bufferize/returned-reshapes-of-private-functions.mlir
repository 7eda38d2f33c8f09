// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize=results=returned | FileCheck %s

// A private function returns what it computed, in another shape; its caller frees it.
// CHECK-LABEL: func.func private @flat(
// CHECK:         [[V:%.*]] = memref.collapse_shape
// CHECK-NEXT:    return [[V]] : memref<8xf32>
func.func private @flat(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %b = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensor.collapse_shape %b [[0,1]] : tensor<2x4xf32> into tensor<8xf32>
  return %d : tensor<8xf32>
}
// CHECK-LABEL: func.func @main1(
// CHECK-NEXT:    [[A:%.*]] = call @flat(
// CHECK-NEXT:    [[M:%.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    linalg.exp ins([[A]] : memref<8xf32>) outs([[M]] : memref<8xf32>)
// CHECK-NEXT:    return [[M]]
func.func @main1(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %a = call @flat(%x) : (tensor<2x4xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// Both branches compute it in one buffer.
// CHECK-LABEL: func.func @main2(
// CHECK:         [[R:%.*]] = scf.if
// CHECK-NOT:     linalg.generic
// CHECK:         return [[R]] : memref<8xf32>
func.func @main2(%x: tensor<2x4xf32>, %c: i1) -> tensor<8xf32> {
  %r = scf.if %c -> tensor<8xf32> {
    %e = tensor.empty() : tensor<2x4xf32>
    %b = linalg.exp ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = tensor.collapse_shape %b [[0,1]] : tensor<2x4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  } else {
    %e = tensor.empty() : tensor<2x4xf32>
    %b = linalg.abs ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = tensor.collapse_shape %b [[0,1]] : tensor<2x4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @main3(
// CHECK:         [[V:%.*]] = memref.collapse_shape
// CHECK-NEXT:    return [[V]] : memref<?xf32>
func.func @main3(%x: tensor<?x4xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %b = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = tensor.collapse_shape %b [[0,1]] : tensor<?x4xf32> into tensor<?xf32>
  return %d : tensor<?xf32>
}

// -----

// The argument is copied in front of the loop, whose iterations compute where it was copied to.
// CHECK-LABEL: func.func @main4(
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @main4(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %ex = tensor.expand_shape %t [[0,1]] output_shape [2,4] : tensor<8xf32> into tensor<2x4xf32>
    %e = tensor.empty() : tensor<2x4xf32>
    %b = linalg.exp ins(%ex : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = tensor.collapse_shape %b [[0,1]] : tensor<2x4xf32> into tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// The same memory is returned once: whoever calls frees each result.
// CHECK-LABEL: func.func @main5(
// CHECK:         [[V:%.*]] = memref.expand_shape [[M:%[^ ]*]]
// CHECK:         linalg.generic {{.*}} ins([[V]] : memref<2x4xf32>) outs([[C:%[^ ]*]] :
// CHECK:         return [[M]], [[C]]
func.func @main5(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %b = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %ex = tensor.expand_shape %b [[0,1]] output_shape [2,4] : tensor<8xf32> into tensor<2x4xf32>
  return %b, %ex : tensor<8xf32>, tensor<2x4xf32>
}
