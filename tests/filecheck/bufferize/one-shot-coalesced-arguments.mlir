// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// What an iteration makes is two arguments of the next one, in one buffer: nothing is copied, at the beginning neither.

// CHECK-LABEL: func.func @handed_to_two
// CHECK-SAME:      %[[A:[^:]*]]: memref<4xf32>, %[[B:[^:]*]]: memref<4xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[A]], %{{.*}} = %[[B]])
// CHECK-NEXT:      %[[NEW:.*]] = memref.alloc
// CHECK-NEXT:      linalg.sub
// CHECK-NEXT:      scf.yield %[[NEW]], %[[NEW]]
func.func @handed_to_two(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v, %v : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// One of the results is written while the other one is wanted: they have a buffer each, and one is copied.

// CHECK-LABEL: func.func @one_is_written
// CHECK:         scf.for
// CHECK:           linalg.sub
// CHECK-COUNT-1:   linalg.generic
// CHECK:           scf.yield
// CHECK:         memref.store
func.func @one_is_written(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v, %v : tensor<4xf32>, tensor<4xf32>
  }
  %t = tensor.insert %k into %r#0[%c1] : tensor<4xf32>
  return %t, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The loop runs, so no result is what went in: what is overwritten unread is not copied in front.

// CHECK-LABEL: func.func @runs_at_least_once
// CHECK:         %[[NEW:.*]] = memref.alloc
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[NEW]])
// CHECK-NEXT:      linalg.fill
func.func @runs_at_least_once(%a: tensor<4xf32>, %k: f32, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %v = linalg.fill ins(%k : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  %s = tensor.extract %r[%i] : tensor<4xf32>
  return %s : f32
}

// -----

// This one may not run.

// CHECK-LABEL: func.func @may_not_run
// CHECK:         %[[NEW:.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} outs(%[[NEW]] :
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[NEW]])
func.func @may_not_run(%a: tensor<4xf32>, %k: f32, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %i step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %v = linalg.fill ins(%k : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  %s = tensor.extract %r[%i] : tensor<4xf32>
  return %s : f32
}
