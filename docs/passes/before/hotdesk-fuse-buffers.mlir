// hotdesk-opt --hotdesk-fuse-buffers="arguments-overlap=false"
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %r: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %y : memref<8xf32>, memref<8xf32>) outs(%r : memref<8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  memref.dealloc %a : memref<8xf32>
  return
}
