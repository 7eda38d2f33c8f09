// RUN: not %hotdesk-opt %s --hotdesk-buffer-deallocation 2>&1 | FileCheck %s

// What MLIR's ownership-based deallocation leaves has to be lowered first: it frees already.
// CHECK: refused.mlir:9:3: error: {{.*}}frees already
// CHECK: convert-bufferization-to-memref
func.func @freed_by_conditions(%x: memref<2xf32>, %p: i1) {
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  bufferization.dealloc (%a : memref<2xf32>) if (%p)
  return
}
