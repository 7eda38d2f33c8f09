// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// The elements lie by columns.
// CHECK:       decision: allocation: allocated: different-layout
// CHECK-LABEL: func.func @columns(
func.func @columns(%x: memref<4x4xf32>, %z: f32) {
  %a = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  linalg.fill ins(%z : f32) outs(%a : memref<4x4xf32, strided<[1, 4]>>)
  memref.copy %a, %x : memref<4x4xf32, strided<[1, 4]>> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

// The memory of the first one is in another space.
// CHECK:       decision: allocation: allocated: nothing-to-share
// CHECK:       decision: allocation: allocated: other-memory-space
// CHECK-LABEL: func.func @space(
func.func @space(%z: f32) {
  %a = memref.alloc() : memref<4xf32, 1>
  linalg.fill ins(%z : f32) outs(%a : memref<4xf32, 1>)
  memref.dealloc %a : memref<4xf32, 1>
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<4xf32>)
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

// The next iteration gets the memory.
// CHECK:       decision: allocation: allocated: kept-between-iterations
// CHECK-LABEL: func.func @carried(
func.func @carried(%x: memref<4xf32>, %l: index, %u: index, %t: index, %out: memref<4xf32>) {
  %z = scf.for %i = %l to %u step %t iter_args(%p = %x) -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%p : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  }
  memref.copy %z, %out : memref<4xf32> to memref<4xf32>
  return
}

// -----

// The size is computed inside of the branch, where memory for both cannot be made.
// CHECK:       decision: allocation: allocated: nothing-to-share
// CHECK:       decision: allocation: allocated: size-defined-below
// CHECK-LABEL: func.func @defined_below(
func.func @defined_below(%c: i1, %x: memref<?xf32>, %y: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %n = memref.dim %x, %0 : memref<?xf32>
  scf.if %c {
    %n1 = memref.dim %x, %0 : memref<?xf32>
    %a = memref.alloc(%n1) : memref<?xf32>
    linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
    linalg.exp ins(%a : memref<?xf32>) outs(%x : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  }
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.exp ins(%b : memref<?xf32>) outs(%x : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}
