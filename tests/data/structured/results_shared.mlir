// One tensor is two results, another is an argument.
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<4xf32>
  return %f, %a, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
