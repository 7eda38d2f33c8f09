// One element behind the last.
func.func @main(%x: memref<4xf32>) -> f32 {
  %c4 = arith.constant 4 : index
  %v = memref.load %x[%c4] : memref<4xf32> // expected-error {{out of bounds}}
  return %v : f32
}
