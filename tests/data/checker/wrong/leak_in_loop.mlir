// Each iteration drops the buffer of the one before.
func.func @main() -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32> // expected-error {{leak}}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %a) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32> // expected-error {{leak}}
    linalg.fill ins(%f : f32) outs(%b : memref<4xf32>)
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}
