// hotdesk-opt --hotdesk-buffer-results-to-out-params="hoist-static-allocs"
func.func private @f(%c: f32) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}

func.func @main(%c: f32, %i: index) -> f32 {
  %r = call @f(%c) : (f32) -> memref<4xf32>
  %v = memref.load %r[%i] : memref<4xf32>
  return %v : f32
}
