// Two halves change places in one tensor.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%onea: f32, %olda: f32):
      %suma = arith.addf %onea, %onea : f32
      linalg.yield %suma : f32
    } -> tensor<8xf32>
  %p = tensor.extract_slice %w[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %q = tensor.extract_slice %w[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %t = tensor.insert_slice %q into %w[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %r = tensor.insert_slice %p into %t[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
