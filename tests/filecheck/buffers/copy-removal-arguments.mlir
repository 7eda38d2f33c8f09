// RUN: %hotdesk-opt %s --hotdesk-copy-removal --print-decisions 2>&1 | FileCheck %s
// RUN: %hotdesk-opt %s --hotdesk-copy-removal=arguments-overlap=false --print-decisions 2>&1 | FileCheck %s --check-prefix=APART

// %o may be a part of %x if arguments may overlap at all: then the second copy copies other elements, and stays.
// CHECK-NOT:   already-there
// CHECK-LABEL: func.func @again(
// CHECK-COUNT-2: memref.copy
// APART:       decision: copy: removed: already-there, 32 bytes
// APART-LABEL: func.func @again(
// APART-COUNT-1: memref.copy
// APART-NOT:     memref.copy
func.func @again(%x: memref<8xf32>, %y: memref<8xf32>, %o: memref<8xf32>) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%y : memref<8xf32>) outs(%o : memref<8xf32>)
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}
