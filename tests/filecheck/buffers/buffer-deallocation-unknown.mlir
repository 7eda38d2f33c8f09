// RUN: %hotdesk-opt %s --allow-unregistered-dialect --hotdesk-buffer-deallocation | FileCheck %s

// Memory in an op of which nothing is known is freed there, if it stays there.
// CHECK-LABEL: func.func @freed_there(
// CHECK:         "custom.region"() ({
// CHECK:           memref.dealloc
// CHECK-NEXT:      "custom.yield"
// CHECK:         memref.dealloc
// CHECK-NEXT:    return
func.func @freed_there(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  "custom.region"() ({
    %b = memref.alloc() : memref<4xf32>
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    "custom.yield"() : () -> ()
  }) : () -> ()
  return
}
