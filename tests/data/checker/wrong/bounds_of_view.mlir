// The element lies in the buffer, but not in the slice that is read.
func.func @main(%x: memref<8xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  %s = memref.subview %x[2] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: 2>>
  %v = memref.load %s[%c3] : memref<3xf32, strided<[1], offset: 2>> // expected-error {{out of bounds}}
  return %v : f32
}
