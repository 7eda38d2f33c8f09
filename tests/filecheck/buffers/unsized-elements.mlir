// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-merge-allocations --print-decisions 2>&1 | FileCheck %s --check-prefix=MERGE
// RUN: %hotdesk-opt %s --split-input-file --hotdesk-reuse-arguments --print-decisions 2>&1 | FileCheck %s --check-prefix=REUSE

// How many bytes a memref takes as an element, nobody says.
// SHARE:       decision: allocation: allocated: unsized-element
// SHARE-LABEL: func.func @unsized_element(
// MERGE:       decision: allocation: allocated: unsized-element
// MERGE-LABEL: func.func @unsized_element(
func.func @unsized_element(%x: memref<4xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<1xmemref<4xf32>>
  memref.store %x, %a[%i] : memref<1xmemref<4xf32>>
  %b = memref.load %a[%i] : memref<1xmemref<4xf32>>
  linalg.exp ins(%b : memref<4xf32>) outs(%x : memref<4xf32>)
  memref.dealloc %a : memref<1xmemref<4xf32>>
  return
}

// -----

// REUSE:       decision: result of func.call: allocated: unsized-element
// REUSE-LABEL: func.func @unsized_argument(
func.func private @f(%a: memref<1xmemref<4xf32>>, %r: memref<4xf32>) {
  %i = arith.constant 0 : index
  %b = memref.load %a[%i] : memref<1xmemref<4xf32>>
  linalg.exp ins(%b : memref<4xf32>) outs(%r : memref<4xf32>)
  return
}
func.func @unsized_argument(%out: memref<4xf32>) {
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<1xmemref<4xf32>>
  memref.store %out, %a[%i] : memref<1xmemref<4xf32>>
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<1xmemref<4xf32>>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}
