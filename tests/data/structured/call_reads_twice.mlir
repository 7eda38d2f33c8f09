// A function writes its first argument and gets the same tensor twice.
func.func private @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%one: f32, %other: f32, %old: f32):
      %sum = arith.addf %one, %other : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%w, %y : tensor<4xf32>, tensor<4xf32>) outs(%w : tensor<4xf32>) {
    ^bb0(%oneb: f32, %otherb: f32, %oldb: f32):
      %sumb = arith.addf %oneb, %otherb : f32
      linalg.yield %sumb : f32
    } -> tensor<4xf32>
  return %v : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  %r = func.call @sum(%f, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r, %f : tensor<4xf32>, tensor<4xf32>
}
