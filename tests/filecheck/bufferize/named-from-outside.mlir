// RUN: %hotdesk-opt %s --allow-unregistered-dialect --hotdesk-one-shot-bufferize | FileCheck %s

// A private function that an op of the module names may be called from anywhere: it does not write over its argument.
// CHECK-LABEL: func.func private @named(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32> {hotdesk.access = "read"}, [[R:%.*]]: memref<4xf32>
// CHECK:         linalg.exp ins([[X]] : memref<4xf32>) outs([[R]] : memref<4xf32>)
// CHECK-LABEL: func.func private @called(
// CHECK-SAME:    [[X:%.*]]: memref<4xf32> {hotdesk.access = "read-write", hotdesk.holds = array<i64: 0>})
// CHECK:         linalg.exp ins([[X]] : memref<4xf32>) outs([[X]] : memref<4xf32>)
func.func private @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"test.table"() {entry = @named} : () -> ()
func.func @main(%a: tensor<4xf32> {hotdesk.donated}) -> tensor<4xf32> {
  %r = call @named(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %s = call @called(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
