// Stack memory of one iteration is read in the next.
func.func @main(%f: f32, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = memref.alloca() : memref<f32>
  memref.store %f, %first[] : memref<f32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %first) -> (memref<f32>) {
    %v = memref.load %a[] : memref<f32> // expected-error {{use after free}}
    %b = memref.alloca() : memref<f32>
    memref.store %v, %b[] : memref<f32>
    memref.store %v, %y[] : memref<f32>
    scf.yield %b : memref<f32>
  }
  return
}
