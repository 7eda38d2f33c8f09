// RUN: %hotdesk-opt %s --split-input-file --load-models=%S/own_allocations.py --allow-unregistered-dialect --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: %hotdesk-opt %s --split-input-file --load-models=%S/own_allocations.py --allow-unregistered-dialect --hotdesk-reuse-arguments --print-decisions 2>&1 | FileCheck %s --check-prefix=REUSE

// What another op allocates is freed as that op's memory is.
// SHARE: decision: allocation: allocated: nothing-to-share
// SHARE: decision: allocation: allocated: freed-by-another-op
// SHARE-LABEL: func.func @freed_by_another_op(
func.func @freed_by_another_op(%x: f32) {
  %a = "custom.reserve"() : () -> memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<4xf32>)
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

// Only an op that is known well makes memory of other elements.
// SHARE: decision: allocation: allocated: nothing-to-share
// SHARE: decision: allocation: allocated: other-type
// SHARE-LABEL: func.func @other_type(
func.func @other_type(%x: f32, %i: i32) {
  %a = "custom.reserve"() : () -> memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  %b = "custom.reserve"() : () -> memref<4xi32>
  linalg.fill ins(%i : i32) outs(%b : memref<4xi32>)
  memref.dealloc %b : memref<4xi32>
  return
}

// -----

// Its memory is aligned to 16 bytes, and an op counts on 64.
// SHARE: decision: allocation: allocated: nothing-to-share
// SHARE: decision: allocation: allocated: alignment-assumed
// SHARE-LABEL: func.func @alignment_assumed(
func.func @alignment_assumed(%x: f32) {
  %i = arith.constant 0 : index
  %a = "custom.reserve"() : () -> memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  %b = "custom.reserve"() : () -> memref<4xf32>
  memref.store %x, %b[%i] {alignment = 64 : i64} : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

// Both would have to be in front of the branches, where the op is not known to do.
// SHARE: decision: allocation: allocated: nothing-to-share
// SHARE: decision: allocation: allocated: not-known-to-move
// SHARE-LABEL: func.func @not_known_to_move(
func.func @not_known_to_move(%x: f32, %c: i1) {
  scf.if %c {
    %a = "custom.reserve"() : () -> memref<4xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
    memref.dealloc %a : memref<4xf32>
  }
  scf.if %c {
    %a = "custom.reserve"() : () -> memref<4xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// -----

// The argument of a call is freed as another op's memory is.
// REUSE: decision: result of func.call: allocated: freed-by-another-op
// REUSE-LABEL: func.func @argument_freed_by_another_op(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  %i = arith.constant 0 : index
  %l = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%l : f32) outs(%r : memref<4xf32>)
  return
}
func.func @argument_freed_by_another_op(%x: f32, %out: memref<4xf32>) {
  %a = "custom.reserve"() : () -> memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  %r = memref.alloc() : memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// The memory of the argument has other elements.
// REUSE: decision: result of func.call: allocated: other-type
// REUSE-LABEL: func.func @argument_of_other_type(
func.func private @f(%a: memref<4xi32>, %r: memref<4xf32>) {
  %i = arith.constant 0 : index
  %l = memref.load %a[%i] : memref<4xi32>
  %z = arith.sitofp %l : i32 to f32
  linalg.fill ins(%z : f32) outs(%r : memref<4xf32>)
  return
}
func.func @argument_of_other_type(%x: i32, %out: memref<4xf32>) {
  %a = "custom.reserve"() : () -> memref<4xi32>
  linalg.fill ins(%x : i32) outs(%a : memref<4xi32>)
  %r = "custom.reserve"() : () -> memref<4xf32>
  call @f(%a, %r) : (memref<4xi32>, memref<4xf32>) -> ()
  linalg.sqrt ins(%r : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// -----

// An op counts on a stricter alignment of the result than the argument's memory has.
// REUSE: decision: result of func.call: allocated: alignment-assumed
// REUSE-LABEL: func.func @result_aligned(
func.func private @f(%a: memref<4xf32>, %r: memref<4xf32>) {
  %i = arith.constant 0 : index
  %l = memref.load %a[%i] : memref<4xf32>
  linalg.fill ins(%l : f32) outs(%r : memref<4xf32>)
  return
}
func.func @result_aligned(%x: f32, %out: memref<1xf32>) {
  %i = arith.constant 0 : index
  %a = "custom.reserve"() : () -> memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  %r = "custom.reserve"() : () -> memref<4xf32>
  call @f(%a, %r) : (memref<4xf32>, memref<4xf32>) -> ()
  %l = memref.load %r[%i] {alignment = 64 : i64} : memref<4xf32>
  memref.store %l, %out[%i] : memref<1xf32>
  return
}

// -----

// What an unknown region hands out is kept.
// SHARE:       decision: allocation: allocated: kept-by-unknown
// SHARE:       decision: allocation: allocated: nothing-to-share
// SHARE-LABEL: func.func @handed_out(
func.func @handed_out(%z: f32) {
  %r = "custom.region"() ({
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
    "custom.yield"(%a) : (memref<8xf32>) -> ()
  }) : () -> memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  memref.copy %r, %b : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}
