// The last step of a slice leaves its memref.
// sizes: 4
func.func @main(%n: index, %x: memref<8xf32>) {
  %s = memref.subview %x[0] [3] [%n] : memref<8xf32> to memref<3xf32, strided<[?]>> // expected-error {{out of bounds}}
  return
}
