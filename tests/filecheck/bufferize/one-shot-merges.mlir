// RUN: %hotdesk-opt %s --split-input-file --hotdesk-one-shot-bufferize | FileCheck %s

// What a branch computes for the result is computed there; what it passes on is copied, in that branch alone.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, %{{.*}}: i1, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if
// CHECK-NEXT:      linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK:         } else {
// CHECK-NEXT:      linalg.square ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:      scf.yield [[R]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @branch(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    %n = linalg.square ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A selected tensor is copied only if it is selected.
// CHECK-LABEL: func.func @selected(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, [[C:%[^ ]*]]: i1, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK:         linalg.square ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    scf.if [[C]] {
// CHECK-NEXT:      linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK:           linalg.yield
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @selected(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.square ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = arith.select %c, %x, %n : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// So is what a branch between blocks passes on, if the branch is taken.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, [[C:%[^ ]*]]: i1, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK:         linalg.square ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:    scf.if [[C]] {
// CHECK-NEXT:    } else {
// CHECK-NEXT:      linalg.generic {{.*}} ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK:           linalg.yield
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    cf.cond_br [[C]], ^bb1([[R]] : memref<8xf32>), ^bb1([[R]] : memref<8xf32>)
func.func @blocks(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.square ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  cf.cond_br %c, ^join(%n : tensor<8xf32>), ^join(%x : tensor<8xf32>)
^join(%r: tensor<8xf32>):
  return %r : tensor<8xf32>
}

// -----

// What is still wanted behind the branch must not be copied over: it is copied itself.
// CHECK-LABEL: func.func @wanted(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<8xf32>, %{{.*}}: i1, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result{{.*}}, [[N:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK:         linalg.square ins([[X]] : memref<8xf32>) outs([[N]] : memref<8xf32>)
// CHECK-NEXT:    [[Q:%.*]] = scf.if
// CHECK-NEXT:      scf.yield [[X]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield [[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.generic {{.*}} ins([[Q]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
func.func @wanted(%x: tensor<8xf32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %n = linalg.square ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %x : tensor<8xf32>
  } else {
    scf.yield %n : tensor<8xf32>
  }
  return %r, %n : tensor<8xf32>, tensor<8xf32>
}

// -----

// A loop whose iterations pass on their argument on one path computes in its buffer on the other.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %{{.*}}: memref<8xf32>, %{{.*}}: i1, %{{.*}}: index, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result
// CHECK:         scf.for {{.*}} iter_args([[P:%.*]] = [[R]])
// CHECK-NOT:       linalg.generic
// CHECK:           linalg.square ins([[P]] : memref<8xf32>) outs([[P]] : memref<8xf32>)
func.func @loop(%x: tensor<8xf32>, %c: i1, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %k = %zero to %n step %one iter_args(%p = %i) -> tensor<8xf32> {
    %q = scf.if %c -> (tensor<8xf32>) {
      scf.yield %p : tensor<8xf32>
    } else {
      %m = linalg.square ins(%p : tensor<8xf32>) outs(%p : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    }
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Memory that a tensor shows is no result's; what is computed over it behind the branch is copied once, when it is done.
// CHECK-LABEL: func.func @lent(
// CHECK-SAME:    [[M:%[^ ]*]]: memref<8xf32>, [[X:%[^ ]*]]: memref<8xf32>, {{.*}}, [[R:%[^ ]*]]: memref<8xf32> {bufferize.result = 0{{.*}}, [[Q:%[^ ]*]]: memref<8xf32> {bufferize.result = 1
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if
// CHECK-NEXT:      linalg.generic {{.*}} ins([[M]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK:         } else {
// CHECK-NEXT:      linalg.square ins([[X]] : memref<8xf32>) outs([[R]] : memref<8xf32>)
// CHECK-NEXT:      scf.yield [[R]]
// CHECK-NEXT:    }
// CHECK:         memref.store %{{.*}}, [[M]]
// CHECK-NEXT:    linalg.generic {{.*}} ins([[M]] : memref<8xf32>) outs([[Q]] : memref<8xf32>)
func.func @lent(%m: memref<8xf32>, %x: tensor<8xf32>, %c: i1, %i: index, %s: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %t = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %t : tensor<8xf32>
  } else {
    %n = linalg.square ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  %w = tensor.insert %s into %t[%i] : tensor<8xf32>
  return %r, %w : tensor<8xf32>, tensor<8xf32>
}
