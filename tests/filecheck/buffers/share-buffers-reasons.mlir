// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// The operations stand in different blocks, which may run unequally often.
// CHECK: decision: allocation: allocated: different-block
// CHECK-LABEL: func.func @repeated(
func.func @repeated(%c: i1, %z: f32) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    %a = memref.alloc() : memref<2xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<2xf32>)
    scf.yield
  }
  cf.br ^bb1
^bb1:
  %b = memref.alloc() : memref<2xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<2xf32>)
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
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
