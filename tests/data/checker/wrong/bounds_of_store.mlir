// A negative index, in the second dimension: the element would lie in the row before.
func.func @main(%x: memref<4x4xf32>, %f: f32) {
  %c1 = arith.constant 1 : index
  %m1 = arith.constant -1 : index
  memref.store %f, %x[%c1, %m1] : memref<4x4xf32> // expected-error {{out of bounds}}
  return
}
