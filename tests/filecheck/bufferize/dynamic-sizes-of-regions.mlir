// RUN: %hotdesk-opt %s --hotdesk-one-shot-bufferize | FileCheck %s

// What is one of several has the size of the argument, which is known at the top: it is computed where the result belongs.
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    [[X:%[^ ]*]]: memref<?xf32>, [[R:%[^ ]*]]: memref<?xf32> {bufferize.result
// CHECK:         scf.execute_region
// CHECK:           linalg.generic {{.*}} ins([[X]] : memref<?xf32>) outs([[R]] : memref<?xf32>)
// CHECK:           memref.store {{.*}}, [[R]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant 1.0 : f32
  %c7 = arith.constant 7 : index
  %0 = scf.execute_region -> tensor<?xf32> {
    %1 = tensor.insert %c into %x[%c7] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
