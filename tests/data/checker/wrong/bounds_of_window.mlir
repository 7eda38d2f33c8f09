// The window of a convolution reaches beyond its input.
#x = affine_map<(d0, d1) -> (d0 + d1)>
#w = affine_map<(d0, d1) -> (d1)>
#y = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: memref<?xf32>, %w: memref<3xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} // expected-error {{out of bounds}}
    ins(%x, %w : memref<?xf32>, memref<3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
