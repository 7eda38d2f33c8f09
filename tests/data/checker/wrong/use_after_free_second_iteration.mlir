// What the first iteration frees, the second one reads.
func.func @main(%y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%f : f32) outs(%a : memref<4xf32>)
  scf.for %i = %c0 to %c2 step %c1 {
    memref.copy %a, %y : memref<4xf32> to memref<4xf32> // expected-error {{use after free}}
    memref.dealloc %a : memref<4xf32> // expected-error {{double free}}
  }
  return
}
