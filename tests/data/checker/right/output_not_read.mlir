// The body of a structured op does not use what it overwrites.
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %c = math.exp %u : f32
    linalg.yield %c : f32
  }
  return %a : memref<4xf32>
}
