// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize=results=returned --print-decisions 2>&1 | FileCheck %s

// A result is returned in the memory that it was made in, behind a cast or in another shape: nothing is copied.
// CHECK:         decision: result 0: in place: returned-as-made
// CHECK-LABEL: func.func @cast(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp {{.*}} outs([[M]] : 
// CHECK-NEXT:    [[V:%.*]] = memref.cast [[M]]
// CHECK-NEXT:    return [[V]] : 
func.func @cast(%x: tensor<4xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = tensor.cast %b : tensor<4xf32> to tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @cast2(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp {{.*}} outs([[M]] : 
// CHECK-NEXT:    [[V:%.*]] = memref.cast [[M]]
// CHECK-NEXT:    return [[V]] : 
func.func @cast2(%x: tensor<?xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %b = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %d = tensor.cast %b : tensor<?xf32> to tensor<4xf32>
  return %d : tensor<4xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp {{.*}} outs([[M]] : 
// CHECK-NEXT:    [[V:%.*]] = memref.expand_shape [[M]]
// CHECK-NEXT:    return [[V]] : 
func.func @expand(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = tensor.expand_shape %b [[0,1]] output_shape [2,2] : tensor<4xf32> into tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @collapse(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp {{.*}} outs([[M]] : 
// CHECK-NEXT:    [[V:%.*]] = memref.collapse_shape [[M]]
// CHECK-NEXT:    return [[V]] : 
func.func @collapse(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %b = linalg.exp ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = tensor.collapse_shape %b [[0,1]] : tensor<2x2xf32> into tensor<4xf32>
  return %d : tensor<4xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK:         [[M:%.*]] = memref.alloc(
// CHECK-NEXT:    linalg.exp {{.*}} outs([[M]] : 
// CHECK-NEXT:    [[V:%.*]] = memref.reshape [[M]]
// CHECK-NEXT:    return [[V]] : 
func.func @reshape(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %s = arith.constant dense<4> : tensor<1xi64>
  %b = linalg.exp ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = tensor.reshape %b(%s) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Nobody may write the argument: it is copied where the loop begins, and nowhere else.
// CHECK-LABEL: func.func @for_cast(
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @for_cast(%x: tensor<4xf32>, %n: index, %f: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %d) -> tensor<?xf32> {
    %s = tensor.insert %f into %t[%i] : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
