// A slice of dynamic offset leaves its memref.
// sizes: 6
func.func @main(%n: index, %x: memref<8xf32>) {
  %f = arith.constant 0.0 : f32
  %s = memref.subview %x[%n] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: ?>> // expected-error {{out of bounds}}
  linalg.fill ins(%f : f32) outs(%s : memref<3xf32, strided<[1], offset: ?>>)
  return
}
