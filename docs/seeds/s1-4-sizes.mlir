func.func @main(%x: memref<100x100xf32>, %v: memref<10x100xf32>, %o1: memref<100x100xf32>, %o2: memref<100x10xf32>) {
  %x1 = memref.alloc() : memref<100x100xf32>
  linalg.tanh ins(%x : memref<100x100xf32>) outs(%x1 : memref<100x100xf32>)
  linalg.transpose ins(%x1 : memref<100x100xf32>) outs(%o1 : memref<100x100xf32>) permutation = [1, 0]
  memref.dealloc %x1 : memref<100x100xf32>
  %x2 = memref.alloc() : memref<10x100xf32>
  linalg.tanh ins(%v : memref<10x100xf32>) outs(%x2 : memref<10x100xf32>)
  linalg.transpose ins(%x2 : memref<10x100xf32>) outs(%o2 : memref<100x10xf32>) permutation = [1, 0]
  memref.dealloc %x2 : memref<10x100xf32>
  return
}
