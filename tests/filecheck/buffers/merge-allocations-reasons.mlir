// RUN: %hotdesk-opt %s --split-input-file --allow-unregistered-dialect --hotdesk-merge-allocations --print-decisions 2>&1 | FileCheck %s

// The buffer has more bytes than the limit allows.
// CHECK: decision: allocation: allocated: too-large
// CHECK-LABEL: func.func @f(
func.func @f(%z: f32, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<1152921504606846976x4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<1152921504606846976x4xf32>)
  memref.dealloc %a : memref<1152921504606846976x4xf32>
  return
}

// -----

// It is not known whether an operation keeps the buffer for later.
// CHECK: decision: allocation: allocated: kept-by-unknown
// CHECK-LABEL: func.func @kept(
func.func private @keep(index)
func.func @kept(%lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    %a = memref.alloc() : memref<2xf32>
    %p = memref.extract_aligned_pointer_as_index %a : memref<2xf32> -> index
    func.call @keep(%p) : (index) -> ()
  }
  return
}

// -----

// It is not known when and how often the region of this operation runs.
// CHECK: decision: allocation: allocated: unknown-region
// CHECK-LABEL: func.func @out_of(
func.func @out_of(%c: i1, %x: memref<8xf32>, %o: memref<8xf32>) {
  %r = "test.region"() ({
    %m = memref.alloc() : memref<8xf32>
    memref.copy %x, %m : memref<8xf32> to memref<8xf32>
    "test.end"(%m) : (memref<8xf32>) -> ()
  }) : () -> memref<8xf32>
  memref.copy %r, %o : memref<8xf32> to memref<8xf32>
  return
}
