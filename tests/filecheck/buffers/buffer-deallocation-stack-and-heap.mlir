// RUN: %hotdesk-opt %s --hotdesk-buffer-deallocation | FileCheck %s

// Memory of the stack and of the heap come to one block argument. The allocation outlives it; the stack is left alone.
// CHECK-LABEL: func.func @mixedAllocation(
// CHECK:         [[STACK:%.*]] = memref.alloca()
// CHECK:         [[HEAP:%.*]] = memref.alloc()
// CHECK:       ^bb3([[ANY:%.*]]: memref<2xf32>):
// CHECK-NEXT:    memref.copy [[ANY]]
// CHECK-NEXT:    memref.dealloc [[HEAP]]
// CHECK-NEXT:    return
// CHECK-NOT:     memref.dealloc
func.func @mixedAllocation(%p: i1, %x: memref<2xf32>, %out: memref<2xf32>) {
  %0 = memref.alloca() : memref<2xf32>
  %1 = memref.alloc() : memref<2xf32>
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  memref.copy %x, %0 : memref<2xf32> to memref<2xf32>
  cf.br ^bb3(%0 : memref<2xf32>)
^bb2:
  memref.copy %x, %1 : memref<2xf32> to memref<2xf32>
  cf.br ^bb3(%1 : memref<2xf32>)
^bb3(%2: memref<2xf32>):
  memref.copy %2, %out : memref<2xf32> to memref<2xf32>
  return
}
