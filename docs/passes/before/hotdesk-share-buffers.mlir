// hotdesk-opt --hotdesk-share-buffers
func.func @main(%x: memref<100xf32>, %out: memref<100xf32>) {
  %a = memref.alloc() : memref<100xf32>
  linalg.map { math.exp } ins(%x : memref<100xf32>) outs(%a : memref<100xf32>)
  linalg.map { math.tanh } ins(%a : memref<100xf32>) outs(%out : memref<100xf32>)
  memref.dealloc %a : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  linalg.map { math.sin } ins(%x : memref<100xf32>) outs(%b : memref<100xf32>)
  linalg.map { arith.addf } ins(%b, %out : memref<100xf32>, memref<100xf32>) outs(%out : memref<100xf32>)
  memref.dealloc %b : memref<100xf32>
  return
}
