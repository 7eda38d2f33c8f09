// Halves are turned into each other: both are read behind the first write.
func.func @main(%a: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>, affine_map<(d0,d1) -> (d0,d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<2x8xf32>
  %p = tensor.extract_slice %w[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %q = tensor.extract_slice %w[0, 4] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %d = tensor.empty() : tensor<2x8xf32>
  %t = tensor.insert_slice %q into %d[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
  %u = tensor.insert_slice %p into %t[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>, affine_map<(d0,d1) -> (d0,d1)>, affine_map<(d0,d1) -> (d0,d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %u : tensor<2x8xf32>, tensor<2x8xf32>) outs(%w : tensor<2x8xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}
