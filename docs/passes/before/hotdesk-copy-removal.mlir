// hotdesk-opt --hotdesk-copy-removal
func.func @main(%x: memref<4xf32>, %r: memref<4xf32>) {
  %t = memref.alloc() : memref<4xf32>
  linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%t : memref<4xf32>)
  memref.copy %t, %r : memref<4xf32> to memref<4xf32>
  memref.dealloc %t : memref<4xf32>
  return
}
