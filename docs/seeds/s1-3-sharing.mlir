func.func private @fill(memref<100x100xf32>)
func.func private @use(memref<100x100xf32>)

func.func @main() {
  %x1 = memref.alloc() : memref<100x100xf32>
  %x2 = memref.alloc() : memref<100x100xf32>
  call @fill(%x1) : (memref<100x100xf32>) -> ()
  call @fill(%x2) : (memref<100x100xf32>) -> ()
  %x3 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x2, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x3 : memref<100x100xf32>)
  %x4 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x2, %x3 : memref<100x100xf32>, memref<100x100xf32>) outs(%x4 : memref<100x100xf32>)
  memref.dealloc %x2 : memref<100x100xf32>
  memref.dealloc %x3 : memref<100x100xf32>
  %x5 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x4, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x5 : memref<100x100xf32>)
  call @use(%x5) : (memref<100x100xf32>) -> ()
  memref.dealloc %x1 : memref<100x100xf32>
  memref.dealloc %x4 : memref<100x100xf32>
  memref.dealloc %x5 : memref<100x100xf32>
  return
}
