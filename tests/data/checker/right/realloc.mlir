// A buffer that grows.
func.func @main(%x: memref<2xf32>) -> memref<4xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<2xf32>
  memref.copy %x, %a : memref<2xf32> to memref<2xf32>
  %b = memref.realloc %a : memref<2xf32> to memref<4xf32>
  %s = memref.subview %b[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  linalg.fill ins(%zero : f32) outs(%s : memref<2xf32, strided<[1], offset: 2>>)
  return %b : memref<4xf32>
}
