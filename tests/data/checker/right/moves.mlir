// Elements of a row-major buffer that go to other places of it, and some that go to another buffer, whose columns lie apart.
func.func @main(%m: memref<8x6xf32>) {
  %c = memref.alloc() : memref<6x8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<6x8xf32>)
  %from = memref.subview %c[0, 1] [5, 7] [1, 1] : memref<6x8xf32> to memref<5x7xf32, strided<[8, 1], offset: 1>>
  %to = memref.subview %c[1, 0] [5, 7] [1, 1] : memref<6x8xf32> to memref<5x7xf32, strided<[8, 1], offset: 8>>
  "hotdesk.move"(%from, %to)
      : (memref<5x7xf32, strided<[8, 1], offset: 1>>, memref<5x7xf32, strided<[8, 1], offset: 8>>) -> ()
  %d = memref.alloc() : memref<7x5xf32>
  %turned = memref.transpose %d (i, j) -> (j, i) : memref<7x5xf32> to memref<5x7xf32, strided<[1, 5]>>
  "hotdesk.move"(%from, %turned)
      : (memref<5x7xf32, strided<[8, 1], offset: 1>>, memref<5x7xf32, strided<[1, 5]>>) -> ()
  memref.dealloc %d : memref<7x5xf32>
  memref.dealloc %c : memref<6x8xf32>
  return
}
