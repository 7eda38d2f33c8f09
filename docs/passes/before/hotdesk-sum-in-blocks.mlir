// hotdesk-opt --hotdesk-sum-in-blocks
func.func @main(%x: tensor<6144x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %s = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<6144x4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
