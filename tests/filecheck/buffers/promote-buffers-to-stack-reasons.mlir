// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --hotdesk-promote-buffers-to-stack --print-decisions 2>&1 | FileCheck %s

// It is not known when and how often the region of this operation runs.
// CHECK: decision: allocation: allocated: unknown-region
// CHECK-LABEL: func.func @out_of(
func.func @out_of(%c: i1, %x: memref<8xf32>, %o: memref<8xf32>) {
  %r = "test.region"() ({
    %m = memref.alloc() : memref<8xf32>
    memref.copy %x, %m : memref<8xf32> to memref<8xf32>
    "test.end"(%m) : (memref<8xf32>) -> ()
  }) : () -> memref<8xf32>
  memref.copy %r, %o : memref<8xf32> to memref<8xf32>
  return
}
