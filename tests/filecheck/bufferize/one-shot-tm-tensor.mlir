// torch-mlir's tm_tensor ops are read from text, and what is printed of them too.

// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize >%t.out
// RUN: FileCheck %s --input-file=%t.out
// RUN: %hotdesk-opt %t.out | FileCheck %s

// What they overwrite is copied first if it is the caller's, and only read where an op has no use for it afterwards.
// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<4xf32>, [[Y:%[^ ]*]]: memref<4xi64> {hotdesk.donated}, [[R:%[^ ]*]]: memref<4xf32> {bufferize.result = 0
// CHECK-NEXT:    linalg.generic {{.*}} ins([[X]] : memref<4xf32>) outs([[R]] : memref<4xf32>)
// CHECK:         tm_tensor.sort dimension(0) outs([[R]], {{%.*}} : memref<4xf32>, memref<4xi64>)
// CHECK:           tm_tensor.yield {{%.*}} : i1
func.func @sort(%x: tensor<4xf32>, %y: tensor<4xi64> {hotdesk.donated}) -> (tensor<4xf32>, tensor<4xi64>) {
  %r:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %k = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %k : i1
  } -> tensor<4xf32>, tensor<4xi64>
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    [[O:%[^ ]*]]: memref<8xi32>, [[I:%[^ ]*]]: memref<3x1xi32>, [[U:%[^ ]*]]: memref<3xi32>, [[R:%[^ ]*]]: memref<8xi32> {bufferize.result = 0
// CHECK-NEXT:    linalg.generic {{.*}} ins([[O]] : memref<8xi32>) outs([[R]] : memref<8xi32>)
// CHECK:         tm_tensor.scatter {{.*}} ins([[U]], [[I]] : memref<3xi32>, memref<3x1xi32>) outs([[R]] : memref<8xi32>)
func.func @scatter(%o: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> tensor<8xi32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    tm_tensor.yield %a : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @scan(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<4x3xi32>, [[R:%[^ ]*]]: memref<4x3xi32> {bufferize.result = 0{{.*}}, [[A:%[^ ]*]]: memref<3xi32> {bufferize.result = 1
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.fill {{.*}} outs([[A]] : memref<3xi32>)
// CHECK-NEXT:    tm_tensor.scan dimension(0) inclusive(true) ins([[X]] : memref<4x3xi32>) outs([[R]], [[A]] : memref<4x3xi32>, memref<3xi32>)
func.func @scan(%x: tensor<4x3xi32>) -> (tensor<4x3xi32>, tensor<3xi32>) {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x3xi32>
  %a = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%a : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4x3xi32>) outs(%e, %f : tensor<4x3xi32>, tensor<3xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    tm_tensor.yield %s : i32
  } -> tensor<4x3xi32>, tensor<3xi32>
  return %r#0, %r#1 : tensor<4x3xi32>, tensor<3xi32>
}

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    [[Q:%[^ ]*]]: memref<1x4x8xf32>, [[K:%[^ ]*]]: memref<1x4x8xf32>, [[V:%[^ ]*]]: memref<1x4x8xf32>, [[R:%[^ ]*]]: memref<1x4x8xf32> {bufferize.result = 0
// CHECK-NEXT:    tm_tensor.attention ins([[Q]], [[K]], [[V]] : {{.*}}) outs([[R]] : memref<1x4x8xf32>)
func.func @attention(%q: tensor<1x4x8xf32>, %k: tensor<1x4x8xf32>, %v: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %e = tensor.empty() : tensor<1x4x8xf32>
  %0 = tm_tensor.attention ins(%q, %k, %v : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%e : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// CHECK-LABEL: func.func @topk(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<2x8xf32>, [[I:%[^ ]*]]: memref<2x8xi32>, [[R:%[^ ]*]]: memref<2x3xf32> {bufferize.result = 0{{.*}}, [[S:%[^ ]*]]: memref<2x3xi32> {bufferize.result = 1
// CHECK-NOT:     memref.alloc
// CHECK:         tm_tensor.topk dimension(1) ins([[X]], [[I]] : memref<2x8xf32>, memref<2x8xi32>) outs([[R]], [[S]] : memref<2x3xf32>, memref<2x3xi32>)
func.func @topk(%x: tensor<2x8xf32>, %i: tensor<2x8xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = tensor.empty() : tensor<2x3xi32>
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = linalg.fill ins(%none : i32) outs(%f : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r:2 = tm_tensor.topk dimension(1) ins(%x, %i : tensor<2x8xf32>, tensor<2x8xi32>) outs(%g, %h : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %k = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %k : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
