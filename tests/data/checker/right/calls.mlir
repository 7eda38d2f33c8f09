// A callee returns a buffer that its caller frees.
func.func private @make(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %a = call @make(%x) : (memref<4xf32>) -> memref<4xf32>
  %b = call @make(%a) : (memref<4xf32>) -> memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return %b : memref<4xf32>
}
