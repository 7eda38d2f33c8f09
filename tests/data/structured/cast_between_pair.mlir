// A cast lies between taking a part and putting it back.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = arith.constant 7.0 : f32
  %d = tensor.cast %a : tensor<8xf32> to tensor<?xf32>
  %p = tensor.extract_slice %d[%c2] [2] [1] : tensor<?xf32> to tensor<2xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p : tensor<2xf32>) outs(%p : tensor<2xf32>) {
    ^bb0(%one: f32, %old: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<2xf32>
  %g = tensor.cast %d : tensor<?xf32> to tensor<8xf32>
  %r = tensor.insert_slice %w into %g[%c2] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
