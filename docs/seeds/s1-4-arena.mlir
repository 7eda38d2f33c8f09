func.func @main(%x: memref<128xf32>, %y: memref<256xf32>, %o1: memref<128xf32>, %o2: memref<16x16xf32>) {
  %x1 = memref.alloc() : memref<128xf32>
  %x2 = memref.alloc() : memref<128xf32>
  linalg.tanh ins(%x : memref<128xf32>) outs(%x1 : memref<128xf32>)
  linalg.exp ins(%x : memref<128xf32>) outs(%x2 : memref<128xf32>)
  linalg.add ins(%x1, %x2 : memref<128xf32>, memref<128xf32>) outs(%o1 : memref<128xf32>)
  memref.dealloc %x1 : memref<128xf32>
  memref.dealloc %x2 : memref<128xf32>
  %x3 = memref.alloc() : memref<256xf32>
  linalg.tanh ins(%y : memref<256xf32>) outs(%x3 : memref<256xf32>)
  %v = memref.expand_shape %x3 [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  linalg.transpose ins(%v : memref<16x16xf32>) outs(%o2 : memref<16x16xf32>) permutation = [1, 0]
  memref.dealloc %x3 : memref<256xf32>
  return
}
