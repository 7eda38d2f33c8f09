// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize --canonicalize | FileCheck %s

// The size stays the same round the loop: the result's memory is worked on, and the loop passes on nothing.
// CHECK-LABEL: func.func @written_over(
// CHECK-SAME:      [[X:%.*]]: memref<?xf32>, {{.*}} [[R:%.*]]: memref<?xf32> {bufferize.result
// CHECK:         linalg.generic {{.*}} ins([[X]] : memref<?xf32>) outs([[R]] : memref<?xf32>)
// CHECK:         scf.for {{%.*}} = {{%.*}} to {{%.*}} step {{%.*}} {
// CHECK-NEXT:      linalg.map { math.exp } ins([[R]] : memref<?xf32>) outs([[R]] : memref<?xf32>)
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @written_over(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %v = linalg.map { math.exp } ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>)
    scf.yield %v : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Round a `while`, through both regions.
// CHECK-LABEL: func.func @while(
// CHECK:         scf.while : () -> () {
// CHECK-NOT:       memref.alloc
// CHECK:           scf.condition(%{{.*}})
// CHECK-NEXT:    } do {
// CHECK-NEXT:      linalg.map { math.sqrt }
// CHECK-NEXT:      scf.yield
func.func @while(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%a = %x) : (tensor<?xf32>) -> tensor<?xf32> {
    %v = linalg.map { math.exp } ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>)
    %s = tensor.extract %v[%c0] : tensor<?xf32>
    %k = arith.cmpf olt, %s, %s : f32
    scf.condition(%k) %v : tensor<?xf32>
  } do {
  ^bb0(%b: tensor<?xf32>):
    %v = linalg.map { math.sqrt } ins(%b : tensor<?xf32>) outs(%b : tensor<?xf32>)
    scf.yield %v : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// One element more in each iteration: each has memory of its own.
// CHECK-LABEL: func.func @grows(
// CHECK:         scf.for {{.*}} -> (memref<?xf32>)
// CHECK:           [[NEW:%.*]] = memref.alloc({{%.*}})
// CHECK:           scf.yield [[NEW]] : memref<?xf32>
func.func @grows(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %m = arith.addi %d, %c1 : index
    %e = tensor.empty(%m) : tensor<?xf32>
    %v = tensor.insert_slice %a into %e[1] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %v : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
