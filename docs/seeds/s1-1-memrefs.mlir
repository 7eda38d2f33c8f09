func.func private @fill(memref<100x100xf32>)
func.func private @use(memref<100x100xf32>)

func.func @main() {
  %x1 = memref.alloc() : memref<100x100xf32>
  %x2 = memref.alloc() : memref<100x100xf32>
  call @fill(%x1) : (memref<100x100xf32>) -> ()
  call @fill(%x2) : (memref<100x100xf32>) -> ()
  %x3 = memref.alloc() : memref<100x100xf32>
  linalg.tanh ins(%x2 : memref<100x100xf32>) outs(%x3 : memref<100x100xf32>)
  %x4 = memref.alloc() : memref<100x100xf32>
  linalg.add ins(%x3, %x1 : memref<100x100xf32>, memref<100x100xf32>) outs(%x4 : memref<100x100xf32>)
  %x5 = memref.alloc() : memref<100x100xf32>
  linalg.tanh ins(%x4 : memref<100x100xf32>) outs(%x5 : memref<100x100xf32>)
  call @use(%x5) : (memref<100x100xf32>) -> ()
  return
}
