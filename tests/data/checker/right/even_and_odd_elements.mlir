// Two strided slices of one buffer have no element in common.
func.func @main(%x: memref<8xf32>) {
  %a = memref.subview %x[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
  %b = memref.subview %x[1] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2], offset: 1>>
  linalg.exp ins(%a : memref<4xf32, strided<[2]>>) outs(%b : memref<4xf32, strided<[2], offset: 1>>)
  memref.copy %b, %a : memref<4xf32, strided<[2], offset: 1>> to memref<4xf32, strided<[2]>>
  return
}
