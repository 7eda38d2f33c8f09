// Each iteration has memory of its own, and counts on what the one before has left.
func.func @main(%y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c2 step %c1 {
    %a = memref.alloc() : memref<f32>
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      memref.store %f, %a[] : memref<f32>
    }
    %v = memref.load %a[] : memref<f32> // expected-error {{read of memory nobody wrote}}
    %w = arith.addf %v, %f : f32
    memref.store %w, %y[] : memref<f32>
    memref.dealloc %a : memref<f32>
  }
  return
}
