// hotdesk-opt --hotdesk-promote-buffers-to-stack
func.func @main(%x: memref<2xf32>, %out: memref<2xf32>) {
  %a = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%a : memref<2xf32>)
  linalg.map { math.tanh } ins(%a : memref<2xf32>) outs(%out : memref<2xf32>)
  memref.dealloc %a : memref<2xf32>
  return
}
