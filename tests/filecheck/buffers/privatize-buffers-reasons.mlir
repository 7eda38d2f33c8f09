// RUN: %hotdesk-opt %s --split-input-file --hotdesk-privatize-buffers --print-decisions 2>&1 | FileCheck %s

// A difference depends on the order, and what is computed of two values in several steps may.
// CHECK:       decision: parallel loop: in sequence: loop-reduces, 0 bytes (scf.parallel at {{.*}}, scf.reduce at
// CHECK-LABEL: func.func @reduces_in_order(
func.func @reduces_in_order(%x: memref<1000000xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %z = arith.constant 0.0 : f32
  %r:2 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z, %z) -> (f32, f32) {
    %v = memref.load %x[%i] : memref<1000000xf32>
    scf.reduce(%v, %v : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r#0, %r#1 : f32, f32
}

// -----

// What partial results are combined to has no neutral value.
// CHECK:       decision: parallel loop: in sequence: loop-reduces, 0 bytes (scf.parallel at {{.*}}, scf.reduce at
// CHECK-LABEL: func.func @twice(
func.func @twice(%x: memref<1000000xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %z = arith.constant 0 : i32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z) -> i32 {
    %v = memref.load %x[%i] : memref<1000000xi32>
    scf.reduce(%v : i32) {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %b, %b : i32
      scf.reduce.return %s : i32
    }
  }
  return %r : i32
}

// -----

// It is not known what the function allocates.
// CHECK:       decision: parallel loop: in sequence: loop-calls, 0 bytes (scf.forall at {{.*}}, func.call at
// CHECK-LABEL: func.func @calls(
func.func private @other(memref<64xf32>, index)
func.func @calls(%y: memref<64xf32>) {
  scf.forall (%i) in (1000000) {
    func.call @other(%y, %i) : (memref<64xf32>, index) -> ()
  }
  return
}

// -----

// Memory of the stack ends with the iteration, and has no place in a frame.
// CHECK:       decision: parallel loop: in sequence: not-ordinary-memory, 0 bytes (scf.forall at {{.*}}, memref.alloca at
// CHECK-LABEL: func.func @stack(
func.func @stack(%y: memref<64xf32>) {
  scf.forall (%i) in (64) {
    %a = memref.alloca() : memref<8192xf32>
    linalg.exp ins(%a : memref<8192xf32>) outs(%a : memref<8192xf32>)
  }
  return
}

// -----

// Nothing says that no one else has the memory when the iteration is over.
// CHECK:       decision: parallel loop: in sequence: freed-elsewhere, 0 bytes (scf.forall at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @never_freed(
// CHECK:         scf.forall
func.func @never_freed() {
  scf.forall (%i) in (64) {
    %a = memref.alloc() : memref<8192xf32>
    linalg.exp ins(%a : memref<8192xf32>) outs(%a : memref<8192xf32>)
  }
  return
}

// -----

// What an iteration frees is not its own.
// CHECK:       decision: parallel loop: in sequence: freed-elsewhere, 0 bytes (scf.forall at {{.*}}, memref.dealloc at
// CHECK-LABEL: func.func @frees_what_is_older(
func.func @frees_what_is_older(%c: index) {
  %a = memref.alloc() : memref<8192xf32>
  scf.forall (%i) in (64) {
    linalg.exp ins(%a : memref<8192xf32>) outs(%a : memref<8192xf32>)
    %last = arith.cmpi eq, %i, %c : index
    scf.if %last {
      memref.dealloc %a : memref<8192xf32>
    }
  }
  return
}

// -----

// A view of bytes has rows one after the other, from its first byte on.
// CHECK:       decision: parallel loop: in sequence: other-type, 0 bytes (scf.forall at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @layout(
func.func @layout() {
  scf.forall (%i) in (64) {
    %a = memref.alloc() : memref<8192xf32, strided<[1], offset: 16>>
    linalg.exp ins(%a : memref<8192xf32, strided<[1], offset: 16>>) outs(%a : memref<8192xf32, strided<[1], offset: 16>>)
    memref.dealloc %a : memref<8192xf32, strided<[1], offset: 16>>
  }
  return
}

// -----

// How large the memory of an iteration is, is not known before the program runs.
// CHECK:       decision: parallel loop: in sequence: size-not-static, 0 bytes (scf.forall at {{.*}}, memref.alloc at
// CHECK-LABEL: func.func @unknown(
func.func @unknown(%n: index) {
  scf.forall (%i) in (%n) {
    %a = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
  }
  return
}
