// RUN: %hotdesk-opt %s --split-input-file --hotdesk-buffer-deallocation | FileCheck %s

// A dimension that a memref has not is undefined, and nobody gave its size: freed as usual.
// CHECK-LABEL: func.func @beyond_rank(
// CHECK:         [[A:%.*]] = memref.alloc(
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    [[D:%.*]] = memref.dim [[A]]
// CHECK-NEXT:    return [[D]]
func.func @beyond_rank(%n: index) -> index {
  %c4 = arith.constant 4 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %d = memref.dim %a, %c4 : memref<?xf32>
  return %d : index
}

// -----

// Only where a flag is set, so that the other way can be run; a negative number does not count from the end.
// CHECK-LABEL: func.func @below_nothing(
// CHECK:         [[A:%.*]] = memref.alloc(
// CHECK:         memref.dim [[A]], %c-1
// CHECK:         [[B:%.*]] = memref.alloc(
// CHECK:         linalg.exp ins([[A]]
// CHECK-NEXT:    memref.dealloc [[A]]
// CHECK-NEXT:    memref.copy [[B]]
// CHECK-NEXT:    memref.dealloc [[B]]
func.func @below_nothing(%n: index, %p: i1, %x: memref<?xf32>, %o: memref<?xf32>) {
  %c-1 = arith.constant -1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %m = scf.if %p -> index {
    %d = memref.dim %a, %c-1 : memref<?xf32>
    scf.yield %d : index
  } else {
    scf.yield %n : index
  }
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf32>
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  memref.copy %b, %o : memref<?xf32> to memref<?xf32>
  return
}
