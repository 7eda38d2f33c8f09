// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// Both branches have the size of the argument: on each, it is copied once, to where the result belongs.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<?xf32>, {{.*}}, [[R:%[^ ]*]]: memref<?xf32> {bufferize.result
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if
// CHECK:           linalg.generic {{.*}} ins([[X]] : memref<?xf32>) outs([[R]] : memref<?xf32>)
// CHECK:         } else {
// CHECK:           linalg.generic {{.*}} ins([[X]] : memref<?xf32>) outs([[R]] : memref<?xf32>)
// CHECK:           memref.store {{.*}}, [[R]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @f(%x: tensor<?xf32>, %c: i1, %i: index, %v: f32) -> tensor<?xf32> {
  %0 = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
