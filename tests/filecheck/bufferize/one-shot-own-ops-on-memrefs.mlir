// RUN: %hotdesk-opt %s --allow-unregistered-dialect --hotdesk-use-inplace-calls --hotdesk-one-shot-bufferize | FileCheck %s

// Contractions and convolutions that are on memrefs already stay as they are.
// CHECK-LABEL: func.func @contracted(
// CHECK-SAME:    [[X:%.*]]: memref<4x4xf32>, [[Y:%.*]]: memref<4x4xf32>, [[R:%.*]]: memref<4x4xf32>)
// CHECK-NEXT:    "hotdesk.contract"([[X]], [[Y]], [[R]]) {accumulate = false, equation = "mk,kn->mn"}
// CHECK-NEXT:    return
func.func @contracted(%x: memref<4x4xf32>, %y: memref<4x4xf32>, %r: memref<4x4xf32>) {
  "hotdesk.contract"(%x, %y, %r) {equation = "mk,kn->mn", accumulate = false}
    : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}
