// Nobody wrote what is read at another point of the loops, so nothing of it is lost: a read of what nobody wrote, and no overlap.
#first = affine_map<(i) -> (0)>
#each = affine_map<(i) -> (i)>
func.func @main(%y: memref<4xf32> {bufferize.result = 0 : i64}) {
  %a = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#first, #each], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) { // expected-error {{read of memory nobody wrote}}
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  }
  memref.copy %a, %y : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
