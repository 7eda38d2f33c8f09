// RUN: not %hotdesk-opt %s --hotdesk-buffer-deallocation 2>&1 | FileCheck %s

// The op that reduces ends the block: what its region uses cannot be freed behind it.
// CHECK: reductions.mlir:13:5: error: memory that is used in a region of `scf.reduce`: expected an op behind which it can be freed
// CHECK-SAME: load what the region needs in front of the op
func.func @used_inside(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %t = memref.alloc() : memref<f32>
    memref.store %z, %t[] : memref<f32>
    scf.reduce(%z : f32) {
    ^bb0(%p: f32, %q: f32):
      %l = memref.load %t[] : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
