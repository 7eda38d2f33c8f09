// RUN: %hotdesk-opt %s --split-input-file --hotdesk-share-buffers --print-decisions 2>&1 | FileCheck %s

// The op that reduces ends the block of the loop: nothing is freed behind it, and its region shares nothing with what is around.
// CHECK:       allocation: allocated: unknown-region, 4 bytes
// CHECK-LABEL: @around
// CHECK:         memref.alloc
// CHECK:         memref.dealloc
// CHECK:         scf.reduce
// CHECK:           memref.alloc
// CHECK:           memref.dealloc
// CHECK:           scf.reduce.return
func.func @around(%n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%f) -> f32 {
    %t = memref.alloc() : memref<f32>
    memref.store %f, %t[] : memref<f32>
    %v = memref.load %t[] : memref<f32>
    memref.dealloc %t : memref<f32>
    scf.reduce(%v : f32) {
    ^bb0(%p: f32, %q: f32):
      %w = memref.alloc() : memref<f32>
      memref.store %p, %w[] : memref<f32>
      %l = memref.load %w[] : memref<f32>
      memref.dealloc %w : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

// What is freed in there has no place in the block around it.
// CHECK:       allocation: allocated: freed-elsewhere, 4 bytes
// CHECK-LABEL: @freed_inside
// CHECK:         memref.alloc
// CHECK:         memref.dealloc
// CHECK:         memref.alloc
// CHECK:         scf.reduce
// CHECK:           memref.dealloc
func.func @freed_inside(%n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%f) -> f32 {
    %u = memref.alloc() : memref<f32>
    memref.store %f, %u[] : memref<f32>
    %v = memref.load %u[] : memref<f32>
    memref.dealloc %u : memref<f32>
    %t = memref.alloc() : memref<f32>
    memref.store %v, %t[] : memref<f32>
    scf.reduce(%v : f32) {
    ^bb0(%p: f32, %q: f32):
      %l = memref.load %t[] : memref<f32>
      memref.dealloc %t : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

// Within the region they share.
// CHECK-LABEL: @within
// CHECK:         scf.reduce
// CHECK:           memref.alloc
// CHECK-NOT:       memref.alloc
// CHECK:           memref.dealloc
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      scf.reduce.return
func.func @within(%n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%f) -> f32 {
    scf.reduce(%f : f32) {
    ^bb0(%p: f32, %q: f32):
      %t = memref.alloc() : memref<f32>
      memref.store %p, %t[] : memref<f32>
      %v = memref.load %t[] : memref<f32>
      memref.dealloc %t : memref<f32>
      %w = memref.alloc() : memref<f32>
      memref.store %v, %w[] : memref<f32>
      %l = memref.load %w[] : memref<f32>
      memref.dealloc %w : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
