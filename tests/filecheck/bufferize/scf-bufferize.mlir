// RUN: %hotdesk-opt %s --split-input-file --hotdesk-scf-bufferize | FileCheck %s
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-scf-bufferize --hotdesk-tensor-bufferize --hotdesk-linalg-bufferize --hotdesk-func-bufferize --hotdesk-finalizing-bufferize | FileCheck %s --check-prefix=ALL

// What a loop gets, yields and returns are memrefs; what is in it keeps its tensors.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    [[X:%.*]]: tensor<8xf32>, %{{.*}}: index)
// CHECK:         [[M:%.*]] = bufferization.to_buffer [[X]]
// CHECK:         [[A:%.*]] = scf.for {{.*}} iter_args([[P:%.*]] = [[M]]) -> (memref<8xf32>) {
// CHECK-NEXT:      [[T:%.*]] = bufferization.to_tensor [[P]]
// CHECK-NEXT:      [[S:%.*]] = linalg.map { math.absf } ins([[T]] : tensor<8xf32>) outs([[T]] : tensor<8xf32>)
// CHECK-NEXT:      [[B:%.*]] = bufferization.to_buffer [[S]]
// CHECK-NEXT:      scf.yield [[B]] : memref<8xf32>
// CHECK:         [[R:%.*]] = bufferization.to_tensor [[A]]
// CHECK-NEXT:    return [[R]]
// Whoever writes makes a buffer: the argument is not written.
// ALL-LABEL:   func.func @loop(
// ALL-SAME:      [[X:%.*]]: memref<8xf32>, %{{.*}}: index) -> memref<8xf32>
// ALL:           scf.for {{.*}} iter_args([[P:%.*]] = [[X]])
// ALL-NEXT:        [[N:%.*]] = memref.alloc()
// ALL-NEXT:        linalg.map { math.absf } ins([[P]] : memref<8xf32>) outs([[N]] : memref<8xf32>)
// ALL-NEXT:        scf.yield [[N]]
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (tensor<8xf32>) {
    %s = linalg.map { math.absf } ins(%p : tensor<8xf32>) outs(%p : tensor<8xf32>)
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A branch that yields a part gets a contiguous copy of it in the end, as both sides have one type.
// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if %{{.*}} -> (index, memref<4xf32>) {
// CHECK-NEXT:      [[S:%.*]] = tensor.extract_slice
// CHECK-NEXT:      [[B:%.*]] = bufferization.to_buffer [[S]]
// CHECK-NEXT:      scf.yield %{{.*}}, [[B]] : index, memref<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[C:%.*]] = bufferization.to_buffer
// CHECK-NEXT:      scf.yield %{{.*}}, [[C]] : index, memref<4xf32>
// ALL-LABEL:   func.func @branch(
// ALL:             [[V:%.*]] = memref.subview
// ALL-NEXT:        [[N:%.*]] = memref.alloc() : memref<4xf32>
// ALL-NEXT:        linalg.generic {{.*}} ins([[V]] : {{.*}}) outs([[N]] :
// ALL:             scf.yield %{{.*}}, [[N]]
// ALL:           } else {
// ALL-NEXT:        scf.yield
func.func @branch(%b: i1, %i: index, %x: tensor<8xf32>, %y: tensor<4xf32>) -> (index, tensor<4xf32>) {
  %k, %r = scf.if %b -> (index, tensor<4xf32>) {
    %s = tensor.extract_slice %x[1] [4] [2] : tensor<8xf32> to tensor<4xf32>
    scf.yield %i, %s : index, tensor<4xf32>
  } else {
    scf.yield %i, %y : index, tensor<4xf32>
  }
  return %k, %r : index, tensor<4xf32>
}

// -----

// Two regions that pass on to each other.
// CHECK-LABEL: func.func @condition(
// CHECK:         scf.while ([[P:%.*]] = %{{.*}}) : (memref<?xf32>) -> memref<?xf32> {
// CHECK:           scf.condition(%{{.*}}) [[P]] : memref<?xf32>
// CHECK:         } do {
// CHECK-NEXT:    ^bb0([[Q:%.*]]: memref<?xf32>):
// CHECK:           scf.yield [[Q]] : memref<?xf32>
func.func @condition(%b: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.while (%p = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    scf.condition(%b) %p : tensor<?xf32>
  } do {
  ^bb0(%q: tensor<?xf32>):
    scf.yield %q : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Control flow without tensors stays as it is.
// CHECK-LABEL: func.func @scalars(
// CHECK-NOT:     bufferization
// CHECK:         scf.for
func.func @scalars(%n: index, %m: memref<8xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %m[%i] : memref<8xf32>
  }
  return
}
