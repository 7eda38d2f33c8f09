// A memref taken apart and put together again.
// sizes: 6
func.func @main(%x: memref<?xf32>, %y: memref<2xf32>) {
  %c2 = arith.constant 2 : index
  %s = memref.subview %x[%c2] [2] [2] : memref<?xf32> to memref<2xf32, strided<[2], offset: ?>>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %s : memref<2xf32, strided<[2], offset: ?>> -> memref<f32>, index, index, index
  %r = memref.reinterpret_cast %base to offset: [%offset], sizes: [%size], strides: [%stride] : memref<f32> to memref<?xf32, strided<[?], offset: ?>>
  %t = memref.cast %r : memref<?xf32, strided<[?], offset: ?>> to memref<2xf32, strided<[2], offset: ?>>
  memref.copy %t, %y : memref<2xf32, strided<[2], offset: ?>> to memref<2xf32>
  return
}
