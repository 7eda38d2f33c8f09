// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-buffer-deallocation | FileCheck %s
// RUN: %hotdesk-opt %s --allow-unregistered-dialect --split-input-file --hotdesk-buffer-deallocation --hotdesk-buffer-deallocation | FileCheck %s

// No condition that is always true, no metadata read for it, no argument freed; the same when it runs again.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME:    [[X:%[a-z0-9]+]]: memref<2xf32>
// CHECK-NOT:     scf.if %true
// CHECK-NOT:     memref.extract_strided_metadata
// CHECK-NOT:     memref.dealloc [[X]]
// CHECK:         memref.dealloc
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @plain(%x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  return
}

// -----

// What the program frees itself is freed once, where it is used last; an argument is the caller's.
// CHECK-LABEL: func.func @freed_by_hand(
// CHECK:         scf.if
// CHECK:         }
// CHECK-NEXT:    memref.dealloc
// CHECK-NOT:     memref.dealloc
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @freed_by_hand(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  scf.if %p {
    memref.copy %a, %out : memref<2xf32> to memref<2xf32>
  }
  "other"() : () -> ()
  memref.dealloc %x : memref<2xf32>
  scf.if %p {
    memref.dealloc %a : memref<2xf32>
  }
  return
}
