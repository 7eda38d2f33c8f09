// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize --canonicalize | FileCheck %s

// One iteration after the other, reduced in the memory of the result.
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:      [[X:%.*]]: memref<8x4xf32>, [[Z:%.*]]: memref<4xf32>, [[R:%.*]]: memref<4xf32> {bufferize.result
// CHECK:         linalg.generic {{.*}} ins([[Z]] : memref<4xf32>) outs([[R]] : memref<4xf32>)
// CHECK:         scf.for [[I:%.*]] = {{%.*}} to {{%.*}} step {{%.*}} {
// CHECK-NEXT:      [[V:%.*]] = memref.subview [[X]]{{\[}}[[I]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      linalg.map { arith.addf } ins([[R]], [[V]] : {{.*}}) outs([[R]] : memref<4xf32>)
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @tensors(%x: tensor<8x4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%z) -> tensor<4xf32> {
    %v = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    scf.reduce(%v : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %s = linalg.map { arith.addf } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>)
      scf.reduce.return %s : tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

// -----

// Scalars are reduced as before; what the reduction reads of tensors it loads.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:      [[X:%.*]]: memref<8xf32>, [[Z:%.*]]: memref<4xf32>)
// CHECK:         scf.parallel ([[I:%.*]]) = {{.*}} init ({{%.*}}) -> f32 {
// CHECK-NEXT:      [[T:%.*]] = memref.load [[X]]{{\[}}[[I]]]
// CHECK-NEXT:      scf.reduce([[T]] : f32) {
// CHECK:             memref.load [[Z]]
// CHECK:             scf.reduce.return
func.func @scalars(%x: tensor<8xf32>, %z: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %t = tensor.extract %x[%i] : tensor<8xf32>
    scf.reduce(%t : f32) {
    ^bb0(%a: f32, %b: f32):
      %u = tensor.extract %z[%c1] : tensor<4xf32>
      %w = arith.mulf %b, %u : f32
      %s = arith.addf %a, %w : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

// A loop that reduces scalars alone stays parallel; what it reads is memory.
// CHECK-LABEL: func.func @scalars(
// CHECK-NOT:     scf.for
// CHECK-NOT:     tensor
// CHECK:         scf.parallel
// CHECK:           memref.load
// CHECK:           scf.reduce
// CHECK-NOT:     scf.for
// CHECK-NOT:     tensor
// CHECK:         return
func.func @scalars(%x: tensor<4x3xf32>, %z: tensor<3xf32>, %n: index) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%one) -> f32 {
    %t = tensor.extract %x[%i, %c1] : tensor<4x3xf32>
    scf.reduce(%t : f32) {
    ^bb0(%p: f32, %q: f32):
      %u = tensor.extract %z[%c1] : tensor<3xf32>
      %w = arith.addf %p, %u : f32
      %y = arith.addf %w, %q : f32
      scf.reduce.return %y : f32
    }
  }
  %s = tensor.insert %r into %z[%c0] : tensor<3xf32>
  return %s : tensor<3xf32>
}
