// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-loop-hoisting --print-decisions 2>&1 | FileCheck %s

// The allocation takes or makes a token, which gives it a place among what runs beside the program.
// CHECK: decision: allocation: allocated: asynchronous
// CHECK-LABEL: func.func @async(
func.func @async(%x: memref<8xf32>, %l: index, %u: index, %s: index) {
  scf.for %i = %l to %u step %s {
    %a, %t1 = gpu.alloc async () : memref<8xf32>
    gpu.wait [%t1]
    gpu.memcpy %a, %x : memref<8xf32>, memref<8xf32>
    gpu.dealloc %a : memref<8xf32>
  }
  return
}
