// A copy may pass on what nobody has written; what is read then was written.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %s = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.copy %x, %s : memref<4xf32> to memref<4xf32, strided<[1]>>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  %t = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  linalg.exp ins(%t : memref<4xf32, strided<[1]>>) outs(%y : memref<4xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}
