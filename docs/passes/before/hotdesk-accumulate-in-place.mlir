// hotdesk-opt --hotdesk-accumulate-in-place="least-bytes=1"
#same = affine_map<(i, j) -> (i, j)>
func.func @momentum(%m: tensor<8x4xf32> {hotdesk.donated}, %a: tensor<5x8xf32>, %b: tensor<5x4xf32>) -> tensor<8x4xf32> {
  %d = arith.constant 0.9 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %p = "hotdesk.contract"(%a, %b, %e) {accumulate = false, equation = "km,kn->mn"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %p : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %kept = arith.mulf %x, %d : f32
    %sum = arith.addf %kept, %y : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
