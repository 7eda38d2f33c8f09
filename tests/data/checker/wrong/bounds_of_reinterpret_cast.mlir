// Reinterpreted as more than there is, and used.
func.func @main(%x: memref<8xf32>) {
  %f = arith.constant 0.0 : f32
  %r = memref.reinterpret_cast %x to offset: [4], sizes: [5], strides: [1] : memref<8xf32> to memref<5xf32, strided<[1], offset: 4>>
  linalg.fill ins(%f : f32) outs(%r : memref<5xf32, strided<[1], offset: 4>>) // expected-error {{out of bounds}}
  return
}
