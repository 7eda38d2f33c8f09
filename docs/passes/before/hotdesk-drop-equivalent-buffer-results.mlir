// hotdesk-opt --hotdesk-drop-equivalent-buffer-results
func.func private @f(%x: memref<4xf32>, %c: f32) -> memref<4xf32> {
  linalg.fill ins(%c : f32) outs(%x : memref<4xf32>)
  return %x : memref<4xf32>
}

func.func @main(%a: memref<4xf32>, %c: f32, %i: index) -> f32 {
  %r = call @f(%a, %c) : (memref<4xf32>, f32) -> memref<4xf32>
  %v = memref.load %r[%i] : memref<4xf32>
  return %v : f32
}
